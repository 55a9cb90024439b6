"""A server that gathers requests into batches beside one that answers them one at a time.

    python benchmarks/bench_server.py --out benchmarks/results/server.json

Both are ``phraseloom serve`` on loopback with the default model; the second has ``--batch 1`` and
waits for no one. Clients each send a made-up abstract of about 150 words, wait for its keyphrases
and send the next; the servers take turns, and what is theirs is summed. Then requests arrive at
five times the rate that the first server managed, whether they are answered or not. Other work on
the machine slows both servers alike, so trust the ratios, above all that of CPU time.
"""

import argparse
import asyncio
import json
import platform
import random
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles
from typing import Any

import httpx

SUBJECTS = "graph network,sparse decoder,wireless sensor,query planner,neural parser,mobile robot"
VERBS = "improves,describes,schedules,estimates,compresses,verifies,learns,rewrites"
OBJECTS = "the routing table,large images,noisy speech,an ontology of genes,user sessions,proofs"
ENDS = "under heavy load,without supervision,in linear time,on small devices,with few examples"
SENTENCES = 14


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=6, help="of each turn and of the flood")
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--out", type=Path, help="JSON file to write")
    args = parser.parse_args()
    together, alone = Load(), Load()
    with serve("--timeout", "600") as batching, serve(
        "--timeout", "600", "--batch", "1", "--gather-ms", "0"
    ) as single:  # fmt: skip
        for _ in range(args.turns):
            together += asyncio.run(drive(batching, args.clients, args.seconds))
            alone += asyncio.run(drive(single, args.clients, args.seconds))
    result: dict[str, Any] = {
        **{f"batches: {name}": value for name, value in together.figures().items()},
        **{f"one at a time: {name}": value for name, value in alone.figures().items()},
        "times as many documents a second": round(together.rate / alone.rate, 2),
        "times less CPU per document": round(alone.cpu_per_document / together.cpu_per_document, 2),
    }
    show(result)
    with serve("--queue", "32", "--max-documents", "32", "--timeout", "10") as small:
        flood = asyncio.run(overload(small, 5 * together.rate, args.seconds))
    show(flood)
    result |= flood
    result["machine"] = f"{platform.machine()}, Python {platform.python_version()}"
    result["commit"] = _commit()
    result["command"] = " ".join(["python", *sys.argv])
    if args.out is not None:
        args.out.parent.mkdir(parents=True, exist_ok=True)
        args.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def show(figures: dict[str, Any]) -> None:
    for name, value in figures.items():
        print(f"{name:44} {value}", flush=True)


@dataclass
class Load:
    """What a server did for some clients."""

    latencies: list[float] = field(default_factory=list)
    seconds: float = 0
    cpu_seconds: float = 0

    def __add__(self, other: "Load") -> "Load":
        return Load(
            self.latencies + other.latencies,
            self.seconds + other.seconds,
            self.cpu_seconds + other.cpu_seconds,
        )

    @property
    def rate(self) -> float:
        return len(self.latencies) / self.seconds

    @property
    def cpu_per_document(self) -> float:
        return self.cpu_seconds / len(self.latencies)

    def figures(self) -> dict[str, float]:
        cuts = quantiles(self.latencies, n=100)
        return {
            "documents": len(self.latencies),
            "documents/s": round(self.rate, 1),
            "p50, ms": round(cuts[49] * 1000),
            "p99, ms": round(cuts[98] * 1000),
            "CPU ms per document": round(self.cpu_per_document * 1000, 1),
        }


@contextmanager
def serve(*options: str) -> Iterator[str]:
    """A server in a process of its own; its address."""
    start = "from phraseloom.cli import main; main()"
    command = [sys.executable, "-c", start, "serve", "--port", "0", *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        first_line = server.stderr.readline()
        assert "http://" in first_line, first_line + server.stderr.read()
        address = first_line.split()[1]
        drain = subprocess.Popen(["cat"], stdin=server.stderr, stdout=subprocess.DEVNULL)
        try:
            yield address
        finally:
            server.terminate()
            server.wait()
            drain.wait()


async def drive(address: str, clients: int, seconds: float) -> Load:
    """Each client sends one document after the other until the time is over."""
    load = Load()
    async with client_of(address) as client:
        await client.post("/v1/extract", json={"text": abstract(0)})
        cpu = await metric(client, "process_cpu_seconds_total")
        start = time.perf_counter()

        async def work(seed: int) -> None:
            while time.perf_counter() < start + seconds:
                seed += clients
                sent = time.perf_counter()
                response = await client.post("/v1/extract", json={"text": abstract(seed)})
                assert response.status_code == 200, response.text
                load.latencies.append(time.perf_counter() - sent)

        await asyncio.gather(*map(work, range(clients)))
        load.seconds = time.perf_counter() - start
        load.cpu_seconds = await metric(client, "process_cpu_seconds_total") - cpu
    return load


async def overload(address: str, rate: float, seconds: float) -> dict[str, Any]:
    """Requests at a rate that the server cannot keep up with; how each ended, and memory."""
    statuses: Counter[str] = Counter()
    memory: list[float] = []
    async with client_of(address) as client:

        async def ask(seed: int) -> None:
            try:
                response = await client.post("/v1/extract", json={"text": abstract(seed)})
                statuses[str(response.status_code)] += 1
            except httpx.HTTPError as error:
                statuses[type(error).__name__] += 1

        await asyncio.gather(*map(ask, range(32)))  # one full batch, so that its memory is there
        statuses.clear()
        requests = []
        for number in range(max(40, round(rate * seconds))):
            requests.append(asyncio.create_task(ask(number)))
            await asyncio.sleep(1 / rate)
            if number % 10 == 0:
                memory.append(await metric(client, "process_resident_memory_bytes") / 1e6)
        await asyncio.gather(*requests)
        memory.append(await metric(client, "process_resident_memory_bytes") / 1e6)
    return {
        "flood: requests": len(requests),
        "flood: answers": dict(statuses),
        "flood: RSS at first, at most, at last, MB": [
            round(each) for each in (memory[0], max(memory), memory[-1])
        ],
    }


def client_of(address: str) -> httpx.AsyncClient:
    limits = httpx.Limits(max_connections=None)
    return httpx.AsyncClient(base_url=address, timeout=600, limits=limits)


async def metric(client: httpx.AsyncClient, name: str) -> float:
    text = (await client.get("/metrics")).text
    found = re.search(rf"^{name} (\S+)$", text, re.MULTILINE)
    assert found is not None, name
    return float(found[1])


def abstract(seed: int) -> str:
    """A made-up text of about 150 words."""
    chance = random.Random(seed)
    parts = [words.split(",") for words in (SUBJECTS, VERBS, OBJECTS, ENDS)]
    sentences = []
    for _ in range(SENTENCES):
        subject, verb, object_, end = map(chance.choice, parts)
        other = chance.choice(parts[2])
        sentences.append(f"The {subject} {verb} {object_} and {other} {end}.")
    return " ".join(sentences)


def _commit() -> str:
    command = ["git", "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


if __name__ == "__main__":
    main()
