"""Requests share batches and a bounded queue, and none harms another."""

import asyncio
import gc
import json
import logging
from collections.abc import Awaitable, Coroutine, MutableMapping, Sequence
from random import Random
from typing import Any

import pytest
from fastapi import FastAPI
from httpx import AsyncClient, Response
from hypothesis import given
from hypothesis import strategies as st

from phraseloom.errors import PhraseloomError
from phraseloom.extractor import Extractor
from phraseloom.network.model import ModelDecoder
from phraseloom.options import Options
from phraseloom.server.batching import Answer, Batcher, FairQueue
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


class Call:
    """One request to an application whose client may go."""

    def __init__(self, app: FastAPI, text: str) -> None:
        self.gone = asyncio.Event()
        self.status: int | None = None
        self._body = json.dumps({"text": text}).encode()
        headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
        scope: dict[str, Any] = {
            "type": "http",
            "method": "POST",
            "path": "/v1/extract",
            "headers": headers,
        }
        scope |= {"query_string": b"", "raw_path": b"/v1/extract", "scheme": "http"}
        self.task = asyncio.ensure_future(app(scope, self._receive, self._send))

    async def _receive(self) -> dict[str, Any]:
        if self._body:
            body, self._body = self._body, b""
            return {"type": "http.request", "body": body, "more_body": False}
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: MutableMapping[str, Any]) -> None:
        self.status = message.get("status", self.status)


def test_who_goes_while_waiting_leaves_the_queue(
    extractor: Extractor, parser: WeakParser, caplog: pytest.LogCaptureFixture
) -> None:
    app = make_app(extractor)

    async def go(client: AsyncClient) -> None:
        held = asyncio.create_task(post(client, SLOW))
        await busy(parser)
        calls = [Call(app, text) for text in TEXTS]
        await queued(client, len(TEXTS))
        for call in calls[1:]:
            call.gone.set()
        await queued(client, 1)
        await asyncio.gather(*(call.task for call in calls[1:]))
        parser.go.set()
        await asyncio.gather(held, calls[0].task)
        assert [call.status for call in calls] == [200, 499, 499, 499]

    talk(app, go)
    assert parser.batches == [[SLOW], [TEXTS[0]]]
    gc.collect()  # asyncio tells now what nobody has asked after
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


def test_who_goes_while_searched_is_searched_no_further(
    extractor: Extractor, parser: WeakParser, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[int] = []
    begin = ModelDecoder.begin

    def count_begun(decoder: ModelDecoder, documents: Sequence[int], history: Any) -> Any:
        begun.extend(documents)
        return begin(decoder, documents, history)

    monkeypatch.setattr(ModelDecoder, "begin", count_begun)
    app = make_app(extractor)

    async def go(client: AsyncClient) -> None:
        call = Call(app, SLOW)
        await busy(parser)
        call.gone.set()
        await call.task
        parser.go.set()
        assert (await post(client, "…")).status_code == 200  # the next batch; it has no words

    talk(app, go)
    assert begun == []


def test_a_time_limit_ends_a_search(
    extractor: Extractor, parser: WeakParser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ModelDecoder, "begin", lambda *arguments: pytest.fail("went on"))

    async def wait(client: AsyncClient) -> None:
        assert (await post(client, SLOW)).status_code == 503
        await asyncio.sleep(0)  # what is called back when the answer is cancelled
        parser.go.set()
        assert (await post(client, "…")).status_code in {200, 503}

    talk(make_app(extractor, Limits(seconds=0.3)), wait)


SMALL = Job(Source("a"), Options(top=1))
BIG = Job(Source("b"), Options(top=3))


class Waiting:
    """A fair queue, beside what must hold of it."""

    def __init__(self) -> None:
        self.queue = FairQueue(Limits(batch=2, batch_work=2 * SMALL.work))
        self.order: list[Answer] = []
        self.passed: dict[Answer, int] = {}  # big ones taken since a small one came

    def add(self, job: Job) -> None:
        answer: Answer = asyncio.get_running_loop().create_future()
        self.queue.add(answer, job)
        self.order.append(answer)
        if job is SMALL:
            self.passed[answer] = 0

    async def cancel(self, answer: Answer) -> None:
        answer.cancel()
        await asyncio.sleep(0)  # those who listen to it are told
        self.order.remove(answer)
        self.passed.pop(answer, None)

    def take(self) -> None:
        batch = self.queue.take()
        is_big = BIG in batch.values()
        assert len(batch) in ({1} if is_big else {1, 2} if self.order else {0})
        alike = [answer for answer in self.order if (answer not in self.passed) == is_big]
        assert list(batch) == alike[: len(batch)], "in order of arrival"
        for answer in batch:
            self.order.remove(answer)
            assert self.passed.pop(answer, 0) <= 1
        if is_big:
            self.passed = {answer: count + 1 for answer, count in self.passed.items()}


@given(st.lists(st.sampled_from([SMALL, BIG, "take", "cancel"]), max_size=60), st.randoms())
def test_a_small_document_waits_for_one_big_one_at_most(
    events: list[Job | str], random: Random
) -> None:
    async def happen() -> None:
        waiting = Waiting()
        for event in [*events, *["take"] * len(events)]:
            if isinstance(event, Job):
                waiting.add(event)
            elif event == "take":
                waiting.take()
            elif waiting.order:
                await waiting.cancel(random.choice(waiting.order))
            assert len(waiting.queue) == len(waiting.order)
        assert not waiting.order, "nobody waits for ever"

    asyncio.run(happen())
