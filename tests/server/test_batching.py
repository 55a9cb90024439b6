"""Requests share batches and a bounded queue, and none harms another."""

import asyncio
from collections.abc import Awaitable, Coroutine, Sequence
from typing import Any

import pytest
from httpx import AsyncClient, Response

from phraseloom.errors import PhraseloomError
from phraseloom.extractor import Extractor
from phraseloom.options import Options
from phraseloom.server.batching import Batcher
from phraseloom.server.jobs import Job, Outcome
from phraseloom.server.metrics import Metrics
from phraseloom.server.settings import Limits
from phraseloom.server.workers import ThreadWorker
from phraseloom.text.document import Source
from tests.server.serving import (
    BROKEN,
    SLOW,
    TEXT,
    WeakParser,
    busy,
    make_app,
    phrase_texts,
    post,
    queued,
    talk,
)

TEXTS = [TEXT, "Sparse matrices are fast.", "Copy decoders say words.", TEXT[:44]]


async def all_of(requests: Sequence[Awaitable[Response]]) -> list[Response]:
    return await asyncio.gather(*requests)


async def at_once(
    client: AsyncClient, parser: WeakParser, requests: Sequence[Coroutine[Any, Any, Response]]
) -> list[Response]:
    """Answers to requests that all arrive while the worker is held up by another."""
    held = asyncio.create_task(post(client, SLOW))
    await busy(parser)
    waiting = [asyncio.create_task(request) for request in requests]
    await queued(client, len(requests))
    parser.go.set()
    await held
    return await all_of(waiting)


def test_requests_at_once_are_searched_together(extractor: Extractor, parser: WeakParser) -> None:
    responses = talk(
        make_app(extractor),
        lambda client: at_once(client, parser, [post(client, text) for text in TEXTS]),
    )

    assert [sorted(batch) for batch in parser.batches] == [[SLOW], sorted(TEXTS)]
    for text, response in zip(TEXTS, responses, strict=True):
        assert phrase_texts(response) == [phrase.text for phrase in extractor.extract(text)]


def test_each_request_keeps_its_settings(extractor: Extractor, parser: WeakParser) -> None:
    tops = [1, 2, 3, 2]
    responses = talk(
        make_app(extractor),
        lambda client: at_once(client, parser, [post(client, TEXT, top=top) for top in tops]),
    )

    assert parser.batches == [[SLOW], [TEXT] * 4]
    assert [len(phrase_texts(response)) for response in responses] == tops


def test_a_bad_document_fails_alone(extractor: Extractor, parser: WeakParser) -> None:
    texts = [TEXT, BROKEN, "Sparse matrices are fast."]
    responses = talk(
        make_app(extractor),
        lambda client: at_once(client, parser, [post(client, text) for text in texts]),
    )

    assert sorted(parser.batches[1]) == sorted(texts)
    assert [response.status_code for response in responses] == [200, 500, 200]
    assert phrase_texts(responses[0]) == [phrase.text for phrase in extractor.extract(TEXT)]


def test_documents_wait_a_moment_for_others(extractor: Extractor, parser: WeakParser) -> None:
    async def come_late() -> None:
        batcher = Batcher([ThreadWorker(extractor)], Limits(gather_seconds=0.5), Metrics())
        batcher.start()
        first = batcher.submit([Job(Source(TEXT), Options())])
        await asyncio.sleep(0)  # the worker has seen the first
        second = batcher.submit([Job(Source("Late."), Options())])
        await asyncio.gather(*first, *second)
        await batcher.close()

    asyncio.run(come_late())
    assert parser.batches == [[TEXT, "Late."]]


def test_a_batch_is_bounded_in_documents_and_work(extractor: Extractor, parser: WeakParser) -> None:
    async def send() -> None:
        limits = Limits(batch=3, batch_work=100_000)
        batcher = Batcher([ThreadWorker(extractor)], limits, Metrics())
        texts = ["a" * 2_000] * 4 + ["b" * 9_000] * 2
        batcher.submit([Job(Source(text), Options(top=10)) for text in texts])
        batcher.start()
        await batcher.close()

    asyncio.run(send())
    sizes = [[len(text) for text in batch] for batch in parser.batches]
    assert sizes == [[2000, 2000, 2000], [2000], [9000], [9000]]


def test_a_full_queue_refuses_until_there_is_room(extractor: Extractor, parser: WeakParser) -> None:
    async def crowd(client: AsyncClient) -> None:
        held = asyncio.create_task(post(client, SLOW))
        await busy(parser)
        waiting = [asyncio.create_task(post(client, TEXT)) for _ in range(3)]
        await queued(client, 3)
        refused = await post(client, TEXT)
        assert (refused.status_code, refused.json()["status"]) == (429, 429)
        assert 1 <= int(refused.headers["Retry-After"]) <= 60
        assert (await client.get("/readyz")).status_code == 503
        assert (await client.get("/healthz")).status_code == 200
        parser.go.set()
        answers = await all_of([held, *waiting])
        assert [answer.status_code for answer in answers] == [200] * 4
        assert (await client.get("/readyz")).status_code == 200
        assert (await post(client, TEXT)).status_code == 200

    talk(make_app(extractor, Limits(queue=3, documents=3)), crowd)


def test_a_list_is_queued_whole_or_not_at_all(extractor: Extractor, parser: WeakParser) -> None:
    async def crowd(client: AsyncClient) -> None:
        held = asyncio.create_task(post(client, SLOW))
        await busy(parser)
        waiting = asyncio.create_task(post(client, TEXT))
        await queued(client, 1)
        three = {"documents": [{"text": TEXT}] * 3}
        assert (await client.post("/v1/extract/batch", json=three)).status_code == 429
        await queued(client, 1)
        parser.go.set()
        await all_of([held, waiting])

    talk(make_app(extractor, Limits(queue=3, documents=3)), crowd)


def test_a_request_that_takes_too_long_ends_and_leaves_the_queue(
    extractor: Extractor, parser: WeakParser
) -> None:
    async def wait(client: AsyncClient) -> None:
        responses = await all_of([post(client, SLOW), post(client, SLOW), post(client, TEXT)])
        assert [response.status_code for response in responses] == [503] * 3
        assert responses[0].headers["Content-Type"] == "application/problem+json"
        await queued(client, 0)
        parser.go.set()

    talk(make_app(extractor, Limits(seconds=0.3, batch=1)), wait)
    assert parser.batches == [[SLOW]]


def test_closing_finishes_what_was_accepted(extractor: Extractor, parser: WeakParser) -> None:
    async def accept_and_close() -> list[Outcome]:
        batcher = Batcher([ThreadWorker(extractor)], Limits(batch=1), Metrics())
        batcher.start()
        jobs = [Job(Source(text), Options()) for text in [SLOW, *TEXTS]]
        futures = batcher.submit(jobs)
        await busy(parser)
        closing = asyncio.create_task(batcher.close())
        parser.go.set()
        await closing
        return [future.result() for future in futures]

    outcomes = asyncio.run(accept_and_close())
    assert outcomes == [extractor.extract(text) for text in [SLOW, *TEXTS]]


def test_two_workers_share_the_queue(extractor: Extractor, parser: WeakParser) -> None:
    async def pass_by() -> list[Outcome]:
        workers = [ThreadWorker(extractor), ThreadWorker(extractor)]
        batcher = Batcher(workers, Limits(batch=1), Metrics())
        batcher.start()
        [held] = batcher.submit([Job(Source(SLOW), Options())])
        await busy(parser)
        [quick] = batcher.submit([Job(Source(TEXT), Options())])
        outcome = await quick
        assert not held.done()
        parser.go.set()
        await batcher.close()
        return [outcome]

    assert asyncio.run(pass_by()) == [extractor.extract(TEXT)]


def test_a_queue_must_hold_the_longest_list() -> None:
    with pytest.raises(PhraseloomError, match="--queue"):
        Limits(queue=10, documents=11)
