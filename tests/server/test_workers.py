"""A process of its own gives the same phrases, and another takes its place when it dies."""

import asyncio
import multiprocessing
from collections.abc import Iterator
from pathlib import Path

import pytest

from phraseloom.errors import PhraseloomError
from phraseloom.extractor import Extractor
from phraseloom.options import Options
from phraseloom.server.jobs import Failure, Job
from phraseloom.server.workers import ProcessWorker, start_processes
from phraseloom.text.document import Source
from tests.server.serving import TEXT

JOBS = [Job(Source(TEXT), Options(top=3)), Job(Source("Sparse matrices are fast."), Options())]


@pytest.fixture
def directory(extractor: Extractor, tmp_path: Path) -> Path:
    extractor.save_pretrained(tmp_path / "tiny")
    return tmp_path / "tiny"


@pytest.fixture
def worker(directory: Path) -> Iterator[ProcessWorker]:
    [worker] = start_processes(str(directory), 1)
    yield worker
    worker.close()


@pytest.mark.slow
def test_a_process_finds_what_a_thread_finds_even_if_it_is_replaced(
    extractor: Extractor, worker: ProcessWorker
) -> None:
    expected = [extractor.extract(TEXT, top=3), extractor.extract(JOBS[1].source.text)]

    assert worker.styles == ("a", "b")
    assert asyncio.run(worker.run(JOBS)) == expected
    for process in multiprocessing.active_children():
        process.kill()
        process.join()
    assert asyncio.run(worker.run(JOBS)) == expected


@pytest.mark.slow
def test_a_document_that_kills_its_process_fails_alone(worker: ProcessWorker) -> None:
    async def kill_twice() -> None:
        running = asyncio.create_task(worker.run(JOBS[:1]))
        for _ in range(2):
            while not (children := multiprocessing.active_children()):
                await asyncio.sleep(0.01)
            for process in children:
                process.kill()
                await asyncio.to_thread(process.join)
            await asyncio.sleep(0.01)
        [outcome] = await running
        assert isinstance(outcome, Failure)
        assert "process died" in outcome.message
        assert isinstance((await worker.run(JOBS[1:]))[0], list)

    asyncio.run(kill_twice())


@pytest.mark.slow
def test_a_model_that_cannot_be_loaded_is_said(tmp_path: Path) -> None:
    with pytest.raises(PhraseloomError, match=r"manifest\.json|model"):
        start_processes(str(tmp_path), 2)
    assert multiprocessing.active_children() == []
