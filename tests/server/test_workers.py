"""A process of its own gives the same phrases, and another takes its place when it dies."""

import asyncio
import multiprocessing
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
from phraseloom.text.parsers import Parser
from tests.server.serving import SLOW, TEXT, WeakParser, busy, make_extractor

JOBS = [Job(Source(TEXT), Options(top=3)), Job(Source("Sparse matrices are fast."), Options())]


@pytest.fixture(scope="module")
def worker(
    spacy_parser: Parser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ProcessWorker]:
    """One for all tests: whoever kills its process gets another one."""
    directory = tmp_path_factory.mktemp("models") / "tiny"
    make_extractor(spacy_parser).save_pretrained(directory)
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
    before = multiprocessing.active_children()
    with pytest.raises(PhraseloomError, match=r"manifest\.json|model"):
        start_processes(str(tmp_path), 2)
    assert set(multiprocessing.active_children()) <= {*before}
