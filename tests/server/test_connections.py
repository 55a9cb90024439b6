"""Connections that say nothing cost nothing: they are closed, and others get in meanwhile."""

import asyncio
import logging
import os
import resource
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from threading import Event, Semaphore, Thread

import httpx
import pytest

from phraseloom.extractor import Extractor
from phraseloom.server.connections import (
    BoundedProtocol,
    ConnectionBounds,
    RateLimit,
    accepted_at_once,
    connection_limit,
)
from phraseloom.server.run import make_server
from phraseloom.server.settings import Limits
from tests.server.serving import SLOW, LiveServer, WeakParser, make_app

Start = Callable[[Limits], LiveServer]


@pytest.fixture
def start(extractor: Extractor) -> Iterator[Start]:
    with ExitStack() as stack:

        def start_server(limits: Limits) -> LiveServer:
            server = LiveServer(make_app(extractor, limits), limits=limits)
            stack.callback(server.stop)
            return server

        yield start_server


def connect(server: LiveServer) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), timeout=60)


def is_closed(connection: socket.socket) -> bool:
    """Wait until the server closes a connection or says something."""
    try:
        return connection.recv(1) == b""
    except ConnectionError:
        return True


@pytest.mark.parametrize("sent", [b"", b"GET /healthz HT", b"GET /healthz HTTP/1.1\r\nHost: a\r\n"])
def test_a_connection_without_a_whole_request_is_closed(start: Start, sent: bytes) -> None:
    server = start(Limits(idle_seconds=0.1))
    with connect(server) as connection:
        connection.sendall(sent)

        assert is_closed(connection)


def test_headers_that_trickle_gain_no_time(start: Start) -> None:
    server = start(Limits(idle_seconds=0.3))
    with connect(server) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nX: ")
        connection.settimeout(0.02)
        for _ in range(1000):
            try:
                connection.sendall(b"x")
                assert connection.recv(1) == b""
            except TimeoutError:
                continue
            except ConnectionError:
                pass
            break
        else:
            pytest.fail("the connection stayed open for twenty seconds")


def ask_for_health(connection: socket.socket) -> None:
    connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
    answer = b""
    while not answer.endswith(b"}"):
        answer += connection.recv(1 << 16)
    assert b"200 OK" in answer


def test_a_connection_is_closed_some_time_after_its_last_answer(start: Start) -> None:
    server = start(Limits(kept_seconds=0.1))
    with connect(server) as connection:
        ask_for_health(connection)

        assert is_closed(connection)


def test_the_next_headers_have_no_more_time_than_the_first(start: Start) -> None:
    server = start(Limits(idle_seconds=0.1, kept_seconds=600))
    with connect(server) as connection:
        ask_for_health(connection)
        connection.sendall(b"GET /hea")

        assert is_closed(connection)


def test_a_connection_waits_for_its_next_request_longer_than_for_headers(start: Start) -> None:
    server = start(Limits(idle_seconds=0.1, kept_seconds=600))
    with connect(server) as connection, connect(server) as silent:
        ask_for_health(connection)
        assert is_closed(silent)

        ask_for_health(connection)


def test_nothing_else_closes_a_connection_before_its_clients_do(extractor: Extractor) -> None:
    config = make_server(make_app(extractor), Limits()).config

    assert Limits().kept_seconds > 60  # nginx; httpx keeps one for 5 seconds, as uvicorn would
    assert config.timeout_keep_alive > Limits().kept_seconds


def test_silent_connections_leave_room_for_others(start: Start) -> None:
    server = start(Limits(requests=5, idle_seconds=600))
    with ExitStack() as stack:
        silent = [stack.enter_context(connect(server)) for _ in range(100)]

        for _ in range(3):
            assert httpx.get(f"{server.address}healthz", timeout=60).status_code == 200

        assert all(is_closed(connection) for connection in silent[:85])


PIPELINED = b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 600
"""Answers that are more than the kernel holds for a client that does not read."""


def stall(server: LiveServer) -> socket.socket:
    """Ask for much and read nothing."""
    connection = socket.socket()
    connection.settimeout(60)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
    connection.connect(("127.0.0.1", server.port))
    connection.sendall(PIPELINED)
    return connection


@pytest.fixture
def stalled(monkeypatch: pytest.MonkeyPatch) -> Semaphore:
    """Released whenever a connection waits for its client to read."""
    semaphore = Semaphore(0)
    pause = BoundedProtocol.pause_writing

    def note(protocol: BoundedProtocol) -> None:
        pause(protocol)
        semaphore.release()

    monkeypatch.setattr(BoundedProtocol, "pause_writing", note)
    return semaphore


def test_a_client_that_asks_and_asks_but_does_not_read_is_closed(
    start: Start, stalled: Semaphore, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_lost = Event()
    lose = BoundedProtocol.connection_lost

    def note(protocol: BoundedProtocol, exc: Exception | None) -> None:
        lose(protocol, exc)
        is_lost.set()

    monkeypatch.setattr(BoundedProtocol, "connection_lost", note)
    server = start(Limits(seconds=0.1, idle_seconds=600, kept_seconds=600))
    with stall(server):
        assert stalled.acquire(timeout=60)
        assert is_lost.wait(timeout=60)


def test_clients_that_do_not_read_leave_room_for_others(start: Start, stalled: Semaphore) -> None:
    server = start(Limits(requests=5, seconds=600))
    with ExitStack() as stack:
        for _ in range(10):
            stack.enter_context(stall(server))
            assert stalled.acquire(timeout=60)

        for _ in range(3):
            assert httpx.get(f"{server.address}healthz", timeout=60).status_code == 200


def test_a_client_that_reads_late_gets_all_that_it_asked_for(
    start: Start, stalled: Semaphore
) -> None:
    with stall(start(Limits())) as connection:
        assert stalled.acquire(timeout=60)
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        answers = b"".join(iter(lambda: connection.recv(1 << 20), b""))

    assert answers.count(b"HTTP/1.1 200 OK") == 601


def test_of_those_who_ask_without_waiting_one_goes_on_in_each_round_of_the_loop() -> None:
    bounds = ConnectionBounds(9, idle_seconds=1, kept_seconds=1, write_seconds=1)

    async def run() -> list[str]:
        order: list[str] = []
        for turn in "abc":
            bounds.take_turns(asyncio.get_running_loop(), partial(order.append, turn))
        for other in "123":
            order.append(other)
            await asyncio.sleep(0)
        return order

    assert asyncio.run(run()) == ["1", "a", "2", "b", "3", "c"]


def test_a_request_at_work_is_not_closed_to_make_room(start: Start, parser: WeakParser) -> None:
    server = start(Limits(requests=5, idle_seconds=0.1))
    answers: list[httpx.Response] = []
    url = f"{server.address}v1/extract"
    thread = Thread(target=lambda: answers.append(httpx.post(url, json={"text": SLOW}, timeout=60)))
    thread.start()
    assert parser.is_busy.wait(timeout=60)
    with ExitStack() as stack:
        silent = [stack.enter_context(connect(server)) for _ in range(30)]
        assert all(is_closed(connection) for connection in silent)
        parser.go.set()
        thread.join()

    assert answers[0].status_code == 200


def test_little_is_read_at_once_however_much_comes(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    take = BoundedProtocol.data_received

    def note(protocol: BoundedProtocol, data: bytes) -> None:
        sizes.append(len(data))
        take(protocol, data)

    monkeypatch.setattr(BoundedProtocol, "data_received", note)
    server = start(Limits())
    text = httpx.post(f"{server.address}v1/extract", json={"text": "a " * 400_000}, timeout=60)

    assert text.status_code == 413
    assert sum(sizes) > 800_000
    assert max(sizes) <= 1 << 16


@pytest.mark.parametrize(
    ("method", "path", "size", "status"),
    [
        ("PUT", "/v1/extract", 1_900_000, 405),
        ("POST", "/nothing", 1_900_000, 404),
        ("POST", "/v1/extract", 3_000_000, 413),
    ],
)
def test_who_is_refused_is_told_so_before_the_connection_ends(
    start: Start, method: str, path: str, size: int, status: int
) -> None:
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
    head += f"Content-Type: application/json\r\nContent-Length: {size}\r\n\r\n"
    with connect(start(Limits())) as connection:
        connection.sendall(head.encode() + b" " * size)
        answer = b"".join(iter(lambda: connection.recv(1 << 16), b""))

    assert answer.startswith(f"HTTP/1.1 {status} ".encode())
    assert answer.endswith(b"}")


def test_the_rest_of_a_refused_request_is_not_waited_for_long(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("phraseloom.server.access._LINGER", 0.1)
    with connect(start(Limits())) as connection:
        connection.sendall(b"POST /nothing HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n")
        connection.sendall(b"Content-Length: 1000\r\n\r\n")
        answer = b"".join(iter(lambda: connection.recv(1 << 16), b""))

    assert answer.startswith(b"HTTP/1.1 404 ")


@pytest.mark.parametrize("token", [None, "secret"])
def test_bodies_that_do_not_come_leave_room_for_others(
    extractor: Extractor, monkeypatch: pytest.MonkeyPatch, token: str | None
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (64, 64))
    server = LiveServer(make_app(extractor, token=token))
    head = b"POST /v1/extract HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    try:
        with ExitStack() as stack:
            for _ in range(60):
                connection = stack.enter_context(connect(server))
                connection.sendall(head + b"Content-Length: 100\r\n\r\n{")
            for _ in range(3):
                assert httpx.get(f"{server.address}healthz", timeout=60).status_code == 200
    finally:
        server.stop()


@pytest.mark.parametrize("descriptors", [64, 256, 1024, 20_000, resource.RLIM_INFINITY])
def test_connections_stay_below_the_limit_on_descriptors(
    monkeypatch: pytest.MonkeyPatch, descriptors: int
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (descriptors, descriptors))

    limit = connection_limit(512)

    assert 16 <= limit <= 1024
    assert 8 <= accepted_at_once() <= 128
    if descriptors != resource.RLIM_INFINITY:
        assert limit + 4 * accepted_at_once() < descriptors


def test_a_flood_of_lines_is_cut_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    rate_limit = RateLimit()

    def line() -> logging.LogRecord:
        return logging.LogRecord("a", logging.INFO, "", 0, "a %s", ("line",), None)

    written = sum(rate_limit.filter(line()) for _ in range(10_000))
    assert written == 200
    now = 1.0
    record = line()
    assert rate_limit.filter(record)
    assert record.getMessage() == "a line (9800 lines left out before this)"
    assert sum(rate_limit.filter(line()) for _ in range(10_000)) == 19


@pytest.mark.slow
def test_more_connections_than_descriptors_do_not_stop_a_server(tmp_path: Path) -> None:
    log = tmp_path / "log"
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (512, 512));"
        "from phraseloom.cli import main; main()"
    )
    with (
        log.open("wb") as file,
        subprocess.Popen(
            [sys.executable, "-c", code, "serve", "--port", "0"],
            stderr=file,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        ) as server,
        ExitStack() as stack,
    ):
        while b"http://" not in log.read_bytes():
            assert server.poll() is None
        address = log.read_text(encoding="utf-8").split()[1]
        port = int(address.rpartition(":")[2])
        for _ in range(600):
            stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=60))
        assert httpx.get(f"{address}/healthz", timeout=60).status_code == 200
        server.send_signal(signal.SIGINT)

    assert log.stat().st_size < 10_000
    assert "Traceback" not in log.read_text(encoding="utf-8")
