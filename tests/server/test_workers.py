"""A process of its own gives the same phrases, and another takes its place when it dies."""

import asyncio
import multiprocessing
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from phraseloom.config import StyleRanking
from phraseloom.errors import PhraseloomError
from phraseloom.extractor import Extractor
from phraseloom.options import Options
from phraseloom.server.jobs import Failure, Job, Outcome
from phraseloom.server.workers import ProcessWorker, ThreadWorker, start_processes
from phraseloom.text.document import Source
from tests.server.serving import SLOW, TEXT, WeakParser, busy

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


def test_the_styles_are_those_that_lists_are_put_together_for(extractor: Extractor) -> None:
    ranked = Extractor(
        extractor.model, extractor.search, extractor.parser, ranking={"reader": StyleRanking()}
    )

    assert ThreadWorker(ranked).styles == ranked.styles == ("reader",)


def test_a_thread_gives_up_a_job_whose_client_has_gone(
    extractor: Extractor, parser: WeakParser
) -> None:
    worker = ThreadWorker(extractor)

    async def cancel_one() -> list[Outcome]:
        running = asyncio.create_task(worker.run([Job(Source(SLOW), Options()), *JOBS]))
        await busy(parser)
        worker.cancel(0)
        worker.cancel(2)
        parser.go.set()
        return await running

    assert [bool(outcome) for outcome in asyncio.run(cancel_one())] == [False, True, False]
    assert all(asyncio.run(worker.run(JOBS))), "the next batch is searched whole"
    worker.close()


@pytest.mark.slow
def test_a_process_gives_up_a_job_whose_client_has_gone(worker: ProcessWorker) -> None:
    async def cancel_one() -> list[Outcome]:
        running = asyncio.create_task(worker.run(JOBS))
        await asyncio.sleep(0)  # it has begun
        worker.cancel(1)
        return await running

    assert [bool(outcome) for outcome in asyncio.run(cancel_one())] == [True, False]
    assert all(asyncio.run(worker.run(JOBS))), "the next batch is searched whole"


@pytest.mark.slow
def test_processes_run_nothing_that_lies_where_they_start(directory: Path, tmp_path: Path) -> None:
    """As a ``pickle.py`` in a downloaded folder; the main program is somewhere else."""
    folder = tmp_path / "downloaded"
    folder.mkdir()
    for name in ("pickle", "numpy", "spacy", "phraseloom", "random", "socket"):
        planted = f"open({str(tmp_path / 'executed')!r}, 'w').close()"
        (folder / f"{name}.py").write_text(planted, encoding="utf-8")
    program = tmp_path / "bin" / "serve.py"
    program.parent.mkdir()
    program.write_text(
        "from phraseloom.server.workers import start_processes\n"
        "if __name__ == '__main__':\n"
        f"    for worker in start_processes({str(directory)!r}, 2):\n"
        "        print(*worker.styles)\n"
        "        worker.close()\n",
        encoding="utf-8",
    )

    result = subprocess.run(
        [sys.executable, program], cwd=folder, capture_output=True, text=True, check=False
    )

    assert not (tmp_path / "executed").exists()
    assert (result.returncode, result.stdout) == (0, "a b\na b\n"), result.stderr


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
def test_a_model_that_cannot_be_loaded_is_named(tmp_path: Path) -> None:
    with pytest.raises(PhraseloomError, match=r"manifest\.json|model"):
        start_processes(str(tmp_path), 2)
    assert multiprocessing.active_children() == []
