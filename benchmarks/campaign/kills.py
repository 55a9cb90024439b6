"""Commands killed at random moments: what they write in the end is what they would have written."""

import hashlib
import json
import os
import random
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from benchmarks.campaign.inside import COMMAND
from benchmarks.campaign.tally import Tally
from benchmarks.texts import make_texts
from tests.train.runs import make_rows, tiny_values, to_toml, write_corpus

_DOCUMENTS = 40
_RUNS_PER_TRIAL = 4  # of one output that are killed, at most


class Victim(NamedTuple):
    """A command that can be killed and goes on.

    Attributes:
        arguments: what stands before ``--out``; it may write what it needs into a folder.
        is_compared: whether a file is the same after any number of kills; a log of times is not.
    """

    arguments: Callable[[Path], list[str]]
    is_compared: Callable[[Path], bool] = lambda path: True


def _extract(folder: Path) -> list[str]:
    for number, text in enumerate(make_texts(_DOCUMENTS, seed=2)):
        (folder / f"{number:02}.txt").write_text(text, encoding="utf-8")
    return ["extract", str(folder), "--jobs", "2"]


def _extract_parquet(folder: Path) -> list[str]:
    return ["extract", str(_rows(folder)), "--format", "parquet", "--part-rows", "8"]


def _prepare(folder: Path) -> list[str]:
    return ["prepare", str(_rows(folder)), "--jobs", "2"]


def _rows(folder: Path) -> Path:
    texts = make_texts(_DOCUMENTS, seed=3) * 4
    rows = [{"title": "", "abstract": text, "keywords": text.split()[3:5]} for text in texts]
    file = folder / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file


def _train(folder: Path) -> list[str]:
    corpora = [write_corpus(folder / str(count), make_rows(count)) for count in (60, 8)]
    values = tiny_values(*corpora)
    values["train"] |= {"epochs": 12, "checkpoint_every": 3, "validate_every": 5}
    config = folder / "config.toml"
    config.write_text(to_toml(values), encoding="utf-8")
    return ["train", str(config)]


def _fit(folder: Path) -> list[str]:
    texts = make_texts(24, seed=4)
    rows = [{"text": text, "keywords": [text.split()[3], "graph"]} for text in texts]
    file = folder / "tagged.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return ["fit", str(file), "--no-network", "--jobs", "1"]


VICTIMS = {
    "extract": Victim(_extract),
    "extract to parquet": Victim(_extract_parquet),
    "prepare": Victim(_prepare),
    "fit": Victim(_fit, lambda path: path.name != "README.md"),  # the card says its name
    "train": Victim(_train, lambda path: path.suffix == ".safetensors"),
}
"""What is killed; another command is another line."""


def attack_by_kills(name: str, tally: Tally, numbers: range) -> None:
    """As many kills as there are numbers; each output is killed up to four times, then finished."""
    victim, chance = VICTIMS[name], tally.chance(numbers.start)
    with TemporaryDirectory() as temporary:
        folder = Path(temporary, "in")
        folder.mkdir()
        command = [COMMAND, *victim.arguments(folder), "--out"]
        start = time.monotonic()
        status, said = _finish(_start(command, folder.with_name("out")))
        assert status == 0, said
        seconds, expected = time.monotonic() - start, _files(victim, folder.with_name("out"))
        trial = 0
        while tally.tried < len(numbers):
            trial += 1
            out = folder.with_name(f"out-{trial}")
            for _ in range(chance.randint(1, min(_RUNS_PER_TRIAL, len(numbers) - tally.tried))):
                _kill(tally, [*command, str(out)], chance, seconds)
            status, said = _finish(_start(command, out))
            files = _files(victim, out)
            differing = [f for f in {*files, *expected} if files.get(f) != expected.get(f)]
            if status or "Traceback" in said:
                tally.fail(f"{name}, trial {trial}: status {status}, {said[-1500:]}")
            elif differing:
                tally.fail(f"{name}, trial {trial}: other bytes in {sorted(differing)[:5]}")
            tally.count("outputs compared byte by byte")


def _kill(tally: Tally, command: list[str], chance: random.Random, seconds: float) -> None:
    """End a run at some moment, with its children or without them, unless it is done before."""
    process = _start(command[:-1], Path(command[-1]))
    try:
        process.wait(chance.random() * seconds)
    except subprocess.TimeoutExpired:
        pass
    else:
        _finish(process)
        return
    number = chance.choice((signal.SIGKILL, signal.SIGKILL, signal.SIGKILL, signal.SIGINT))
    if number == signal.SIGKILL and chance.random() < 0.5:
        process.kill()
    else:
        os.killpg(process.pid, number)
    _, said = _finish(process)
    tally.tried += 1
    tally.count(number.name)
    if "Traceback" in said:
        tally.fail(f"{command[1]}, {number.name}: {said[-1500:]}")


def _start(command: list[str], out: Path) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [*command, str(out)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


def _finish(process: "subprocess.Popen[str]") -> tuple[int, str]:
    """The status of a run, and what it said."""
    _, said = process.communicate()
    return process.returncode, said


def _files(victim: Victim, out: Path) -> dict[str, str]:
    """What a run wrote, by name; what is beside it, or hidden, should have been cleared away."""
    left = [
        path.name
        for path in out.parent.iterdir()
        if path.name.strip(".").startswith(f"{out.name}.")
    ]
    return dict.fromkeys(left, "left over") | {
        str(path.relative_to(out)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in out.rglob("*")
        if path.is_file() and (path.name.startswith(".") or victim.is_compared(path))
    }
