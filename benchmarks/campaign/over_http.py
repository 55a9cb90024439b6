"""Attacks over HTTP: odd requests one by one, and far more good ones than can be answered."""

import asyncio
import json
import random
import re
import socket
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple
from urllib.parse import urlsplit

import httpx

from benchmarks.bench_server import abstract, client_of, drive, metric
from benchmarks.campaign.inside import COMMAND
from benchmarks.campaign.junk import JUNK, odd_text
from benchmarks.campaign.tally import Tally, damage

_SECONDS = 400  # for an answer to an odd request
_SLOW = ("--timeout", "300")  # the machine may be slow; an answer of 503 is a failure
_PATIENT = 600  # seconds for an answer to a good request, for the same reason
_HEALTHY = 1.0  # seconds for an answer of the health check, on a machine with a core to spare
_PATHS = ["/v1/extract", "/v1/extract/batch", "/v1/models", "/metrics", "/", "/docs", "/healthz"]
_HEADERS = [
    *("Host: evil.example", "Content-Length: -1", "Content-Length: 99999999", "Content-Length: x"),
    *("Transfer-Encoding: chunked", "Transfer-Encoding: odd", "Content-Encoding: gzip"),
    *("Expect: 100-continue", "Upgrade: websocket", "Content-Type: text/plain", "X: " + "y" * 9000),
    *("Authorization: Bearer \xff", "Accept: \x00", "Connection: keep-alive, close", ": ", "X"),
]


class Server(NamedTuple):
    """A server in a process of its own."""

    address: str
    process: "subprocess.Popen[bytes]"


@contextmanager
def serving(tally: Tally, *options: str) -> Iterator[Server]:
    """A server; its log must not hold a traceback in the end."""
    with TemporaryDirectory() as folder, (Path(folder) / "log").open("w+") as log:
        server = subprocess.Popen([COMMAND, "serve", "--port", "0", *options], stderr=log)
        try:
            while not (found := re.search(r"http://\S+", Path(log.name).read_text())):
                assert server.poll() is None, Path(log.name).read_text()
                time.sleep(0.1)
            yield Server(found[0], server)
        finally:
            server.terminate()
            server.wait(60)
            said = Path(log.name).read_text(errors="replace")
        if "Traceback" in said:
            tally.fail(f"the log: {said[said.index('Traceback') :][:2000]}")


def attack_http(tally: Tally, numbers: range) -> None:
    """Odd requests, eight at a time; health is asked after all along."""
    statuses: Counter[str] = Counter()
    with (
        serving(tally, *_SLOW) as server,
        ThreadPoolExecutor(8) as pool,
        httpx.Client(timeout=60) as client,
    ):
        address, place = server.address, urlsplit(server.address)
        for some in (numbers[start : start + 40] for start in range(0, len(numbers), 40)):
            requests = {number: make_request(tally.chance(number)) for number in some}
            answers = pool.map(
                lambda sent: _ask((place.hostname or "", place.port or 0), sent), requests.values()
            )
            clock = Clock(server)
            healthy = client.get(f"{address}/healthz").status_code == 200
            if not healthy or clock.seconds > _HEALTHY:
                tally.fail(f"health after {some}: {clock.seconds:.1f} s")
            for number, answer in zip(requests, answers, strict=True):
                tally.tried += 1
                statuses[answer] += 1
                is_lost = answer == "closed" and requests[number].is_whole
                if answer.startswith("5") or answer == "no answer" or is_lost:
                    tally.fail(f"request {number}: {answer}: {requests[number].content[:300]!r}")
        good = client.post(f"{address}/v1/extract", json={"text": abstract(0)})
        if good.status_code != 200:
            tally.fail(f"a good request in the end: {good.status_code}")
    tally.figures["answers"] = dict(statuses.most_common())


class Clock:
    """Seconds since it was made, less those that the server and we have waited for a core.

    On a machine with other work they would else say how much of that there is.
    """

    def __init__(self, server: Server) -> None:
        self._processes = ("self", str(server.process.pid))
        self._start, self._waited = time.monotonic(), self._read()

    @property
    def seconds(self) -> float:
        """As the class says; of several threads, the one that has waited for longest counts."""
        now = self._read()
        waited = sum(
            max(now[process][task] - before.get(task, 0) for task in now[process])
            for process, before in self._waited.items()
        )
        return time.monotonic() - self._start - waited / 1e9

    def _read(self) -> dict[str, dict[str, int]]:
        """Nanoseconds that each thread of each process has waited for a core."""
        waited: dict[str, dict[str, int]] = {process: {} for process in self._processes}
        for process, of_task in waited.items():
            for task in Path(f"/proc/{process}/task").glob("*/schedstat"):
                with suppress(OSError):  # a thread that has ended
                    of_task[str(task)] = int(task.read_text().split()[1])
        return waited


class Request(NamedTuple):
    """Something like a request; only of a whole one the server knows where it ends."""

    content: bytes
    is_whole: bool


def make_request(chance: random.Random) -> Request:
    """A request with odd values; a third is damaged, or has odd headers."""
    body: dict[str, object] = {"text": odd_text(chance)}
    if chance.random() < 0.3:
        body = {"documents": [{"text": odd_text(chance)} for _ in range(chance.randrange(5))]}
    for _ in range(chance.choice((0, 0, 1, 1, 2))):
        name = chance.choice(("top", "style", "seeds", "candidates", "exclude", "diversity", "text",
                              "trace", "min_words", "max_words", "min_score", "title", "documents",
                              "odd"))  # fmt: skip
        body[name] = chance.choice([junk for junk in JUNK if _is_json(junk)])
    content = json.dumps(body).encode()
    if chance.random() < 0.3:
        content = damage(chance, content)
    path = chance.choice(_PATHS[:2]) if chance.random() < 0.85 else odd_path(chance)
    method = chance.choice(("POST",) * 30 + ("GET", "PUT", "OPTIONS", "HEAD", "ODD"))
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost", "Connection: close"]
    lines += ["Content-Type: application/json", f"Content-Length: {len(content)}"]
    odd = chance.sample(_HEADERS, chance.choice((0, 0, 0, 0, 0, 1, 2)))
    request = "\r\n".join([*lines, *odd, "", ""]).encode("latin-1", "replace") + content
    if chance.random() < 0.15:
        return Request(damage(chance, request), is_whole=False)
    return Request(request, is_whole=not odd)


def _is_json(junk: object) -> bool:
    try:
        json.dumps(junk)
    except (TypeError, ValueError):
        return False
    return True


def odd_path(chance: random.Random) -> str:
    """A path that exists, or one that should not."""
    others = [
        "/../../etc/passwd",
        "//",
        "/%00",
        "/v1/%2e%2e/x",
        "*",
        "http://a/",
        "/?" + "a" * 5000,
    ]
    return chance.choice(_PATHS + others)


def _ask(address: tuple[str, int], request: Request) -> str:
    """How a server answers: the status, or that it closed the connection."""
    try:
        with socket.create_connection(address, timeout=_SECONDS) as connection:
            connection.sendall(request.content)
            if not request.is_whole:
                connection.shutdown(socket.SHUT_WR)  # else the server might wait for the rest
            answer = b""
            while piece := connection.recv(65536):
                answer += piece
    except TimeoutError:
        return "no answer"
    except OSError:
        return "closed"
    found = re.match(rb"HTTP/1\.1 (\d+)", answer)
    return found[1].decode() if found else "closed"


def soak(tally: Tally, seconds: range) -> None:
    """Five times what a server can answer, for so many seconds; some clients leave early."""
    short = ("--queue", "32", "--max-documents", "32")  # so that nobody waits for long
    with serving(tally, "--timeout", str(_PATIENT), *short) as server:
        load = asyncio.run(drive(server.address, 32, 20))
        tally.figures["documents/s of 32 patient clients"] = round(load.rate, 1)
        asyncio.run(_flood(tally, server, 5 * load.rate, len(seconds)))


async def _flood(tally: Tally, server: Server, rate: float, seconds: int) -> None:
    answers: Counter[str] = Counter()
    memory: list[float] = []
    slowest = 0.0
    async with client_of(server.address) as client:

        async def ask(number: int) -> None:
            chance = tally.chance(number)
            text = abstract(number) * (20 if chance.random() < 0.005 else 1)
            patience = chance.random() if chance.random() < 0.1 else _PATIENT
            try:
                response = await asyncio.wait_for(
                    client.post("/v1/extract", json={"text": text}), patience
                )
                answers[str(response.status_code)] += 1
            except TimeoutError:
                answers["left" if patience < _PATIENT else "no answer"] += 1
            except httpx.HTTPError as error:
                answers[type(error).__name__] += 1

        start, requests, number = time.monotonic(), set[asyncio.Task[None]](), 0
        while (now := time.monotonic()) < start + seconds:
            while number < (now - start) * rate:
                task = asyncio.create_task(ask(number))
                requests.add(task)
                task.add_done_callback(requests.discard)
                number += 1
            if len(memory) < (now - start) / 2:
                memory.append(await metric(client, "process_resident_memory_bytes") / 1e6)
                clock = Clock(server)
                await client.get("/healthz")
                slowest = max(slowest, clock.seconds)
            await asyncio.sleep(0.02)
        await asyncio.gather(*requests)
        memory.append(await metric(client, "process_resident_memory_bytes") / 1e6)
    tally.tried += number
    for answer in answers.keys() - {"200", "429", "left"}:
        for _ in range(answers[answer]):
            tally.fail(f"soak: {answer}")
    if sum(answers.values()) != number:
        tally.fail("soak: requests were lost")
    if slowest > _HEALTHY:
        tally.fail(f"health took {slowest:.1f} s")
    settled = memory[len(memory) // 5 :]
    if settled[-1] > 1.3 * settled[0]:
        tally.fail(f"memory grew from {settled[0]:.0f} to {settled[-1]:.0f} MB")
    tally.figures |= {
        "answers": dict(answers.most_common()),
        "health at most, s": round(slowest, 2),
        "MB after a fifth of the time": round(settled[0]),
        "at most": round(max(memory)),
        "at last": round(memory[-1]),
    }
