"""A bounded, fair queue of documents from all requests, searched batch by batch."""

import asyncio
import logging
import math
import time
from collections.abc import Iterable, Sequence

from phraseloom.server.jobs import Failure, Job, Outcome, describe
from phraseloom.server.metrics import Metrics
from phraseloom.server.settings import Limits
from phraseloom.server.workers import Worker

logger = logging.getLogger(__name__)

_LONGEST_WAIT = 60  # seconds that a client is told to wait, at most
_MEMORY = 0.8  # of the average time per document

Answer = asyncio.Future[Outcome]
Batch = dict[Answer, Job]


class QueueFullError(Exception):
    """More documents than may wait; the client should come back after some seconds."""

    def __init__(self, seconds: int) -> None:
        super().__init__()
        self.seconds = seconds


class FairQueue:
    """Documents in order of arrival, but a big one, which is searched alone, may not come twice.

    A document is big if it is more work than a batch may be. When one is taken, every small one
    that waits has been passed over; no other big one is taken before those. So a small document
    waits for at most one big one besides what is being searched when it comes, and a big one for
    the small ones that waited when the last big one was taken.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._small: Batch = {}
        self._big: Batch = {}
        self._arrivals: dict[Answer, int] = {}
        self._count = 0
        self._passed = 0  # small documents that came before this number were passed over

    def __len__(self) -> int:
        return len(self._small) + len(self._big)

    def add(self, answer: Answer, job: Job) -> None:
        """Put a document at the end; it leaves the queue when its answer is cancelled."""
        queue = self._big if job.work > self._limits.batch_work else self._small
        queue[answer] = job
        self._arrivals[answer] = self._count
        self._count += 1
        answer.add_done_callback(self._forget)

    def take(self) -> Batch:
        """The documents to be searched next; none if none wait."""
        first_small, first_big = self._first(self._small), self._first(self._big)
        if first_big < first_small and first_small >= self._passed:
            self._passed = self._count
            answer = next(iter(self._big))
            batch = {answer: self._big[answer]}
        else:
            batch = self._fill(self._small.items())
        for answer in batch:
            self._forget(answer)
        return batch

    def _first(self, queue: Batch) -> float:
        """When the oldest of some documents came, as a number."""
        return self._arrivals[next(iter(queue))] if queue else math.inf

    def _fill(self, jobs: Iterable[tuple[Answer, Job]]) -> Batch:
        batch: Batch = {}
        work = 0
        for answer, job in jobs:
            work += job.work
            if len(batch) == self._limits.batch or work > self._limits.batch_work:
                break
            batch[answer] = job
        return batch

    def _forget(self, answer: Answer) -> None:
        self._small.pop(answer, None)
        self._big.pop(answer, None)
        self._arrivals.pop(answer, None)


class Batcher:
    """Gathers documents for a few milliseconds and hands them to whichever worker is free.

    A document whose client has gone, or has waited for too long, leaves the queue at once, and its
    search ends before the next phrase.
    """

    def __init__(self, workers: Sequence[Worker], limits: Limits, metrics: Metrics) -> None:
        self._workers = workers
        self._limits = limits
        self._metrics = metrics
        self._waiting = FairQueue(limits)
        self._arrived = asyncio.Event()
        self._seconds = 0.05  # per document, a first guess
        self._tasks: list[asyncio.Task[None]] = []
        self._is_closing = False
        metrics.queue.set_function(lambda: len(self._waiting))

    @property
    def is_ready(self) -> bool:
        """Whether a document would be taken now."""
        return bool(self._tasks) and not self._is_closing and self._room() > 0

    def start(self) -> None:
        """Begin to search; to be called inside the event loop."""
        self._tasks = [asyncio.create_task(self._work(worker)) for worker in self._workers]

    async def close(self) -> None:
        """Finish what was accepted, then let the workers go."""
        self._is_closing = True
        self._arrived.set()
        await asyncio.gather(*self._tasks)
        for worker in self._workers:
            await asyncio.to_thread(worker.close)

    def submit(self, jobs: Sequence[Job]) -> list[Answer]:
        """Queue all documents of a request, or none.

        Raises:
            QueueFullError: there is no room for them.
        """
        if self._is_closing or len(jobs) > self._room():
            raise QueueFullError(self._seconds_to_wait())
        loop = asyncio.get_running_loop()
        answers: list[Answer] = [loop.create_future() for _ in jobs]
        for answer, job in zip(answers, jobs, strict=True):
            self._waiting.add(answer, job)
        self._arrived.set()
        return answers

    def _room(self) -> int:
        return self._limits.queue - len(self._waiting)

    def _seconds_to_wait(self) -> int:
        expected = len(self._waiting) * self._seconds / len(self._workers)
        return min(_LONGEST_WAIT, max(1, math.ceil(expected)))

    async def _work(self, worker: Worker) -> None:
        while batch := await self._gather():
            start = time.perf_counter()
            outcomes = await _run(worker, batch)
            taken = time.perf_counter() - start
            self._metrics.saw_batch(len(batch), taken)
            self._seconds = _MEMORY * self._seconds + (1 - _MEMORY) * taken / len(batch)
            for answer, outcome in zip(batch, outcomes, strict=True):
                if not answer.done():  # its client may have gone
                    answer.set_result(outcome)

    async def _gather(self) -> Batch:
        """The next batch; empty when the server closes and nothing is left."""
        while True:
            while not self._waiting:
                if self._is_closing:
                    return {}
                self._arrived.clear()
                await self._arrived.wait()
            if len(self._waiting) < self._limits.batch:
                await asyncio.sleep(self._limits.gather_seconds)
            if batch := self._waiting.take():
                return batch


async def _run(worker: Worker, batch: Batch) -> list[Outcome]:
    is_running = True

    def cancel(number: int, answer: Answer) -> None:
        if is_running and answer.cancelled():
            worker.cancel(number)

    for number, answer in enumerate(batch):
        answer.add_done_callback(lambda answer, number=number: cancel(number, answer))  # type: ignore[misc]
    try:
        outcomes = await worker.run(list(batch.values()))
    except Exception as error:  # the loop must go on for those who come after
        outcomes = [describe(error)] * len(batch)
    is_running = False
    for outcome in outcomes:
        if isinstance(outcome, Failure) and not outcome.is_mistake:
            logger.error("a document failed: %s", outcome.message)
    return outcomes
