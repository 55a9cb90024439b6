"""Where documents are searched: a thread beside the server, or a process that it starts anew."""

import asyncio
import multiprocessing
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import lru_cache
from typing import Protocol

import torch

from phraseloom.errors import PhraseloomError
from phraseloom.extractor import Extractor
from phraseloom.server.jobs import Failure, Job, Outcome, answer_jobs
from phraseloom.text.workers import single_threaded, start_worker


class Worker(Protocol):
    """Searches one batch at a time."""

    @property
    def styles(self) -> tuple[str, ...]:
        """Kinds of annotators that its model can imitate."""
        ...

    async def run(self, jobs: Sequence[Job]) -> list[Outcome]:
        """An outcome for each job, in order."""
        ...

    def close(self) -> None:
        """Free what it holds, once it has no work."""
        ...


class ThreadWorker:
    """Searches in a thread of this process."""

    def __init__(self, extractor: Extractor) -> None:
        self._extractor = extractor
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="search")

    @property
    def styles(self) -> tuple[str, ...]:
        return self._extractor.lexicon.styles

    async def run(self, jobs: Sequence[Job]) -> list[Outcome]:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, answer_jobs, self._extractor, jobs)

    def close(self) -> None:
        self._thread.shutdown()


class ProcessWorker:
    """Searches in a process of its own, with one thread; one that dies is replaced."""

    def __init__(self, model: str | None) -> None:
        self._model = model
        self._process = _new_process()
        with single_threaded():  # a process starts at its first submission
            self._loading = self._process.submit(_load_styles, model)

    @property
    def styles(self) -> tuple[str, ...]:
        """As the protocol says; waits until the model is loaded.

        Raises:
            PhraseloomError: it cannot be.
        """
        return self._loading.result()

    async def run(self, jobs: Sequence[Job]) -> list[Outcome]:
        try:
            return await self._attempt(jobs)
        except BrokenProcessPool:  # one of them may be the reason
            return [await self._run_alone(job) for job in jobs]

    async def _run_alone(self, job: Job) -> Outcome:
        try:
            return (await self._attempt([job]))[0]
        except BrokenProcessPool:
            return Failure("its process died, perhaps for want of memory", is_mistake=False)

    async def _attempt(self, jobs: Sequence[Job]) -> list[Outcome]:
        try:
            with single_threaded():
                future = self._process.submit(_answer, self._model, list(jobs))
            return await asyncio.wrap_future(future)
        except BrokenProcessPool:
            self._process.shutdown(wait=False)
            self._process = _new_process()
            raise

    def close(self) -> None:
        self._process.shutdown()


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


def _new_process() -> ProcessPoolExecutor:
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(1, context, initializer=_start_process)


def _start_process() -> None:
    start_worker()
    torch.set_num_threads(1)


def _answer(model: str | None, jobs: list[Job]) -> list[Outcome]:
    return answer_jobs(_load(model), jobs)


def _load_styles(model: str | None) -> tuple[str, ...]:
    return _load(model).lexicon.styles


@lru_cache(maxsize=1)
def _load(model: str | None) -> Extractor:
    return load_warm(model)


def load_warm(model: str | None) -> Extractor:
    """An extractor that has searched once, so that no request waits for what is loaded lazily."""
    extractor = Extractor.load(model)
    extractor.extract("The first document is slow.")
    return extractor
