"""What is let in, how much of it, how long, and what is kept of it: nothing."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, MutableMapping
from threading import Event
from typing import Any

import pytest
from httpx import AsyncClient
from starlette.exceptions import HTTPException

from phraseloom.extractor import Extractor
from phraseloom.server import routes
from phraseloom.server.schema import ExtractRequest, parse_request
from phraseloom.server.settings import Limits
from tests.server.serving import BROKEN, SLOW, TEXT, WeakParser, ask, busy, make_app, post, talk

JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize(
    ("header", "status"),
    [
        (None, 401),
        ("Bearer", 401),
        ("Bearer secre", 401),
        ("Bearer secrets", 401),
        ("Basic secret", 401),
        ("Bearer geheimnis-ä", 401),
        ("Bearer secret", 200),
        ("bearer secret", 200),
    ],
)
@pytest.mark.parametrize("path", ["/v1/models", "/metrics"])
def test_only_who_knows_the_token_is_let_in(
    extractor: Extractor, path: str, header: str | None, status: int
) -> None:
    headers = {} if header is None else {"Authorization": header.encode()}
    response = ask(make_app(extractor, token="secret"), "GET", path, headers=headers)

    assert response.status_code == status
    if status == 401:
        assert response.headers["WWW-Authenticate"] == "Bearer"
        assert response.headers["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/docs", "/openapi.json"])
def test_what_holds_nothing_is_open(extractor: Extractor, path: str) -> None:
    assert ask(make_app(extractor, token="secret"), "GET", path).status_code == 200


def test_the_document_says_that_a_token_is_needed(extractor: Extractor) -> None:
    app = make_app(extractor, token="secret")

    operation = app.openapi()["paths"]["/v1/extract"]["post"]
    assert operation["security"] == [{"bearer": []}]
    assert set(operation["responses"]["401"]["content"]) == {"application/problem+json"}


LOOPBACK = ["localhost", "LOCALHOST:8000", "127.0.0.1", "127.0.0.1:80", "[::1]", "[::1]:8000"]
STRANGE = [
    "evil.example",
    "evil.example:8000",
    "localhost.evil.example",
    "10.0.0.1",
    "",
    "::1:80:x",
]


@pytest.mark.parametrize("host", LOOPBACK)
@pytest.mark.parametrize("path", ["/", "/v1/models", "/metrics", "/openapi.json"])
def test_a_server_answers_to_its_own_names(extractor: Extractor, path: str, host: str) -> None:
    assert ask(make_app(extractor), "GET", path, headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("host", STRANGE)
@pytest.mark.parametrize("path", ["/", "/v1/models", "/metrics", "/openapi.json", "/nothing"])
def test_a_server_does_not_answer_to_other_names(
    extractor: Extractor, path: str, host: str
) -> None:
    response = ask(make_app(extractor), "GET", path, headers={"Host": host})

    assert response.status_code == 421
    assert "--allow-host" in response.json()["detail"]
    assert ask(make_app(extractor), "GET", "/healthz", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    ("allowed", "host", "status"),
    [
        ("Box.example", "box.example:80", 200),
        ("box.example", "localhost", 200),
        ("box.example", "other.example", 421),
        ("fe80::1", "[fe80::1]:8000", 200),
        ("*", "other.example", 200),
    ],
)
def test_other_names_can_be_allowed(
    extractor: Extractor, allowed: str, host: str, status: int
) -> None:
    app = make_app(extractor, hosts=[allowed])

    assert ask(app, "GET", "/v1/models", headers={"Host": host}).status_code == status


def test_a_long_body_is_refused_while_it_comes(extractor: Extractor) -> None:
    sent, answered = 0, list[tuple[int, int]]()

    async def receive() -> dict[str, Any]:
        nonlocal sent
        sent += 100
        return {"type": "http.request", "body": b" " * 100, "more_body": sent < 100_000}

    async def send(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            answered.append((message["status"], sent))

    headers = [(b"host", b"127.0.0.1"), (b"content-type", b"application/json")]
    path = {"path": "/v1/extract", "raw_path": b"/v1/extract", "query_string": b"", "root_path": ""}
    scope = {"type": "http", "method": "POST", "scheme": "http", "headers": headers, **path}
    app = make_app(extractor, Limits(body_bytes=1000))
    asyncio.run(app({**scope, "asgi": {"version": "3.0"}, "http_version": "1.1"}, receive, send))

    [(status, bytes_read)] = answered
    assert status == 413
    assert bytes_read <= 1200


def test_a_body_that_trickles_is_given_up(extractor: Extractor) -> None:
    async def trickle() -> AsyncIterator[bytes]:
        yield b"{"
        await asyncio.Event().wait()

    app = make_app(extractor, Limits(seconds=0.1))
    response = ask(app, "POST", "/v1/extract", content=trickle(), headers=JSON)

    assert response.status_code == 503


def test_a_large_request_is_read_beside_the_event_loop(
    extractor: Extractor, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading, go = Event(), Event()

    def read_slowly(*arguments: Any) -> Any:
        reading.set()
        assert go.wait(timeout=60)
        return parse_request(*arguments)

    monkeypatch.setattr(routes, "parse_request", read_slowly)

    async def look(client: AsyncClient) -> None:
        large = [{"text": TEXT, "title": " " * 1000}] * 60
        posted = asyncio.create_task(client.post("/v1/extract/batch", json={"documents": large}))
        assert await asyncio.to_thread(reading.wait, 60)
        assert (await client.get("/healthz")).status_code == 200
        go.set()
        assert (await posted).status_code == 200

    talk(make_app(extractor), look)


def test_a_request_full_of_nothing_gets_a_short_answer(extractor: Extractor) -> None:
    body = b'{"documents":[' + b",".join([b"{}"] * 660_000) + b"]}"
    response = ask(make_app(extractor), "POST", "/v1/extract/batch", content=body, headers=JSON)

    assert (response.status_code, len(response.content) < 1000) == (413, True)


def test_far_too_many_values_are_refused_before_any_is_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("json.loads", lambda body: pytest.fail("they were made"))
    body = b'{"text":"a","odd":[' + b",".join([b"[]"] * 300_000) + b"]}"
    with pytest.raises(HTTPException, match="far more values"):
        parse_request(ExtractRequest, body, Limits())


@pytest.mark.parametrize("unit", [b'"\\', b'\\"', b'"', b"\\", b'"\\"', b'a"\\', b"[", b","])
@pytest.mark.parametrize("start", [b"", b'{"text":"', b'{"documents":['])
def test_values_are_counted_in_one_pass(unit: bytes, start: bytes) -> None:
    body = start + unit * (200_000 // len(unit))
    before = time.process_time()
    with pytest.raises(HTTPException):
        parse_request(ExtractRequest, body, Limits())

    assert time.process_time() - before < 1


def test_requests_beyond_the_limit_are_refused_unread(
    extractor: Extractor, parser: WeakParser
) -> None:
    async def crowd(client: AsyncClient) -> None:
        held = asyncio.create_task(post(client, SLOW))
        await busy(parser)
        refused = await post(client, TEXT)
        assert refused.status_code == 503
        assert refused.headers["Retry-After"] == "1"
        parser.go.set()
        assert (await held).status_code == 200
        assert (await post(client, TEXT)).status_code == 200

    talk(make_app(extractor, Limits(requests=1)), crowd)


def test_no_text_is_ever_logged(extractor: Extractor, caplog: pytest.LogCaptureFixture) -> None:
    secret = "xylophone"
    caplog.set_level(logging.DEBUG)

    async def say_everything(client: AsyncClient) -> list[int]:
        responses = [
            await post(client, f"The {secret} plays."),
            await post(client, f"{secret} is {BROKEN}"),
            await post(client, f"{secret} is {BROKEN}", trace=True),
            await post(client, secret, title=secret, style=secret),
            await post(client, secret, seeds=secret),
            await post(client, secret * 100),
            await client.post("/v1/extract", json={secret: secret}),
            await client.post("/v1/extract", content=f'{{"{secret}', headers=JSON),
            await client.get(f"/{secret}?text={secret}"),
            await client.get("/v1/extract", params={"text": secret}),
        ]
        return [response.status_code for response in responses]

    statuses = talk(make_app(extractor, Limits(characters=200)), say_everything)
    assert statuses == [200, 500, 500, 422, 422, 413, 422, 400, 404, 405]
    records = [record for record in caplog.records if not is_of_client(record)]
    lines = [record.getMessage() for record in records]
    assert "a document failed: ValueError in parse_batch" in "\n".join(lines)
    assert any(line.startswith("POST /v1/extract 200") for line in lines)
    assert not any(secret in line for line in [*lines, *(repr(vars(r)) for r in records)])


def test_an_exception_anywhere_is_a_problem_that_tells_nothing(
    extractor: Extractor, caplog: pytest.LogCaptureFixture
) -> None:
    app = make_app(extractor)

    @app.get("/fails")
    async def fail() -> None:
        raise ValueError("xylophone")

    response = ask(app, "GET", "/fails")

    assert response.status_code == 500
    assert response.headers["Content-Type"] == "application/problem+json"
    assert response.headers["Content-Security-Policy"]
    assert "a request failed: ValueError in fail" in caplog.text
    assert "xylophone" not in caplog.text + response.text


def is_of_client(record: logging.LogRecord) -> bool:
    return record.name.startswith(("httpx", "httpcore"))
