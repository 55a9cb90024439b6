"""Where documents are searched: a thread beside the server, or a process that it starts anew."""

import asyncio
import multiprocessing
from collections.abc import Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import lru_cache
from typing import Protocol

import torch

from phraseloom.extractor import Extractor
from phraseloom.server.jobs import Failure, Job, Outcome, answer_jobs
from phraseloom.text.workers import single_threaded, start_worker


class Worker(Protocol):
    """Searches one batch at a time."""

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

    async def run(self, jobs: Sequence[Job]) -> list[Outcome]:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, answer_jobs, self._extractor, jobs)

    def close(self) -> None:
        self._thread.shutdown()


class ProcessWorker:
    """Searches in a process of its own, with one thread; one that dies is replaced."""

    def __init__(self, model: str | None) -> None:
        self._model = model
        self._process = self._start()

    def load(self) -> Future[None]:
        """Load the model now; the future tells when it is there, or why it is not."""
        with single_threaded():  # the process starts at the first submission
            return self._process.submit(_load_model, self._model)

    async def run(self, jobs: Sequence[Job]) -> list[Outcome]:
        try:
            with single_threaded():
                future = self._process.submit(_answer, self._model, list(jobs))
            return await asyncio.wrap_future(future)
        except BrokenProcessPool:
            self._process.shutdown(wait=False)
            self._process = self._start()
        if len(jobs) == 1:
            return [Failure("its process died, perhaps for want of memory", is_mistake=False)]
        return [outcome for job in jobs for outcome in await self.run([job])]

    def close(self) -> None:
        self._process.shutdown()

    @staticmethod
    def _start() -> ProcessPoolExecutor:
        context = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(1, context, initializer=_start_process)


def start_processes(model: str | None, count: int) -> list[ProcessWorker]:
    """Several processes with one model each.

    Raises:
        PhraseloomError: the model cannot be loaded.
    """
    workers = [ProcessWorker(model) for _ in range(count)]
    loading = [worker.load() for worker in workers]
    try:
        for future in loading:
            future.result()
    except BaseException:
        for worker in workers:
            worker.close()
        raise
    return workers


def _start_process() -> None:
    start_worker()
    torch.set_num_threads(1)


def _answer(model: str | None, jobs: list[Job]) -> list[Outcome]:
    return answer_jobs(_load(model), jobs)


def _load_model(model: str | None) -> None:
    _load(model)


@lru_cache(maxsize=1)
def _load(model: str | None) -> Extractor:
    return load_warm(model)


def load_warm(model: str | None) -> Extractor:
    """An extractor that has searched once, so that no request waits for what is loaded lazily."""
    extractor = Extractor.load(model)
    extractor.extract("The first document is slow.")
    return extractor
