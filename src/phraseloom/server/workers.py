"""Where documents are searched: a thread beside the server, or a process that it starts anew."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import lru_cache
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Protocol

from phraseloom.errors import PhraseloomError
from phraseloom.extractor import Extractor
from phraseloom.parallel import WorkerPool
from phraseloom.server.jobs import Failure, Job, Outcome, answer_jobs

_CANCELLED = b"x"


class Worker(Protocol):
    """Searches one batch at a time."""

    @property
    def styles(self) -> tuple[str, ...]:
        """Kinds of annotators that its model can imitate."""
        ...

    async def run(self, jobs: Sequence[Job]) -> list[Outcome]:
        """An outcome for each job, in order."""
        ...

    def cancel(self, job: int) -> None:
        """Give up a job of the running batch, by its number: its client has gone."""
        ...

    def close(self) -> None:
        """Free what it holds, once it has no work."""
        ...


class ThreadWorker:
    """Searches in a thread of this process."""

    def __init__(self, extractor: Extractor) -> None:
        self._extractor = extractor
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="search")
        self._cancelled: set[int] = set()

    @property
    def styles(self) -> tuple[str, ...]:
        return self._extractor.styles

    async def run(self, jobs: Sequence[Job]) -> list[Outcome]:
        cancelled: set[int] = set()
        self._cancelled = cancelled
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(
            self._thread, answer_jobs, self._extractor, jobs, lambda job: job not in cancelled
        )

    def cancel(self, job: int) -> None:
        self._cancelled.add(job)

    def close(self) -> None:
        self._thread.shutdown()


class ProcessWorker:
    """Searches in a process of its own, with one thread; one that dies is replaced.

    Which jobs are cancelled it reads from a file, a byte for each: that needs no thread on either
    side, and asking takes a microsecond.
    """

    def __init__(self, model: str | None) -> None:
        self._model = model
        self._cancelled = NamedTemporaryFile(buffering=0)  # noqa: SIM115  # closed by close
        self._process = WorkerPool(1)
        self._loading = self._process.submit(_load_styles, model)

    @property
    def styles(self) -> tuple[str, ...]:
        """As the protocol says; waits until the model is loaded.

        Raises:
            PhraseloomError: it cannot be.
        """
        return self._loading.result()

    async def run(self, jobs: Sequence[Job]) -> list[Outcome]:
        self._cancelled.truncate(0)
        try:
            return await self._attempt(jobs)
        except BrokenProcessPool:  # one of them may be the reason
            return [await self._run_alone(number, job) for number, job in enumerate(jobs)]

    def cancel(self, job: int) -> None:
        self._cancelled.seek(job)
        self._cancelled.write(_CANCELLED)

    async def _run_alone(self, number: int, job: Job) -> Outcome:
        try:
            return (await self._attempt([job], first=number))[0]
        except BrokenProcessPool:
            return Failure("its process died, perhaps for want of memory", is_mistake=False)

    async def _attempt(self, jobs: Sequence[Job], *, first: int = 0) -> list[Outcome]:
        try:
            future = self._process.submit(
                _answer, self._model, list(jobs), first, self._cancelled.name
            )
            return await asyncio.wrap_future(future)
        except BrokenProcessPool:
            self._process.close(wait=False)
            self._process = WorkerPool(1)
            raise

    def close(self) -> None:
        self._process.close()
        self._cancelled.close()


def start_processes(model: str | None, count: int) -> list[ProcessWorker]:
    """Several processes with one model each.

    Raises:
        PhraseloomError: the model cannot be loaded.
    """
    workers = [ProcessWorker(model) for _ in range(count)]
    try:
        for worker in workers:
            _ = worker.styles
    except BaseException as error:
        for worker in workers:
            worker.close()
        if isinstance(error, BrokenProcessPool):
            raise PhraseloomError(
                "a process was killed, perhaps for want of memory; start with fewer --workers"
            ) from None
        raise
    return workers


def _answer(model: str | None, jobs: list[Job], first: int, cancelled: str) -> list[Outcome]:
    """Answer jobs that are numbered from ``first`` in the file of those that are cancelled."""
    with Path(cancelled).open("rb", buffering=0) as flags:

        def is_wanted(job: int) -> bool:
            flags.seek(first + job)
            return flags.read(1) != _CANCELLED

        return answer_jobs(_load(model), jobs, is_wanted)


def _load_styles(model: str | None) -> tuple[str, ...]:
    return _load(model).styles


@lru_cache(maxsize=1)
def _load(model: str | None) -> Extractor:
    return load_warm(model)


def load_warm(model: str | None) -> Extractor:
    """An extractor that has searched once, so that no request waits for what is loaded lazily."""
    extractor = Extractor.load(model)
    extractor.extract("The first document is slow.")
    return extractor
