"""A bounded queue of documents from all requests, searched batch by batch."""

import asyncio
import logging
import math
import time
from collections.abc import Sequence

from phraseloom.server.jobs import Failure, Job, Outcome, describe
from phraseloom.server.limits import Limits
from phraseloom.server.metrics import Metrics
from phraseloom.server.workers import Worker

logger = logging.getLogger(__name__)

_LONGEST_WAIT = 60  # seconds that a client is told to wait, at most
_MEMORY = 0.8  # of the average time per document


class QueueFullError(Exception):
    """More documents than may wait; the client should come back after some seconds."""

    def __init__(self, seconds: int) -> None:
        super().__init__()
        self.seconds = seconds


class Batcher:
    """Gathers documents for a few milliseconds and hands them to whichever worker is free.

    A document whose request has gone, by its time limit for instance, leaves the queue at once.
    """

    def __init__(self, workers: Sequence[Worker], limits: Limits, metrics: Metrics) -> None:
        self._workers = workers
        self._limits = limits
        self._metrics = metrics
        self._waiting: dict[asyncio.Future[Outcome], Job] = {}  # in order of arrival
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

    def submit(self, jobs: Sequence[Job]) -> list[asyncio.Future[Outcome]]:
        """Queue all documents of a request, or none.

        Raises:
            QueueFullError: there is no room for them.
        """
        if self._is_closing or len(jobs) > self._room():
            raise QueueFullError(self._seconds_to_wait())
        loop = asyncio.get_running_loop()
        futures = []
        for job in jobs:
            future: asyncio.Future[Outcome] = loop.create_future()
            self._waiting[future] = job
            future.add_done_callback(lambda done: self._waiting.pop(done, None))
            futures.append(future)
        self._arrived.set()
        return futures

    def _room(self) -> int:
        return self._limits.queue - len(self._waiting)

    def _seconds_to_wait(self) -> int:
        expected = len(self._waiting) * self._seconds / len(self._workers)
        return min(_LONGEST_WAIT, max(1, math.ceil(expected)))

    async def _work(self, worker: Worker) -> None:
        while batch := await self._gather():
            start = time.perf_counter()
            outcomes = await _run(worker, list(batch.values()))
            taken = time.perf_counter() - start
            self._metrics.saw_batch(len(batch), taken)
            self._seconds = _MEMORY * self._seconds + (1 - _MEMORY) * taken / len(batch)
            for future, outcome in zip(batch, outcomes, strict=True):
                if not future.done():  # its request may have gone
                    future.set_result(outcome)

    async def _gather(self) -> dict[asyncio.Future[Outcome], Job]:
        """The next batch; empty when the server closes and nothing is left."""
        while True:
            while not self._waiting:
                if self._is_closing:
                    return {}
                self._arrived.clear()
                await self._arrived.wait()
            if len(self._waiting) < self._limits.batch:
                await asyncio.sleep(self._limits.gather_seconds)
            if batch := self._take():
                return batch

    def _take(self) -> dict[asyncio.Future[Outcome], Job]:
        """As many waiting documents as fit into a batch, but at least one if there is one."""
        batch: dict[asyncio.Future[Outcome], Job] = {}
        characters = 0
        for future, job in self._waiting.items():
            characters += job.characters
            is_over = characters > self._limits.batch_characters
            if len(batch) == self._limits.batch or (batch and is_over):
                break
            batch[future] = job
        for future in batch:
            del self._waiting[future]
        return batch


async def _run(worker: Worker, jobs: list[Job]) -> list[Outcome]:
    try:
        outcomes = await worker.run(jobs)
    except Exception as error:  # the loop must go on for those who come after
        outcomes = [describe(error)] * len(jobs)
    for outcome in outcomes:
        if isinstance(outcome, Failure) and not outcome.is_mistake:
            logger.error("a document failed: %s", outcome.message)
    return outcomes
