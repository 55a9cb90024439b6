"""Commands killed at random moments: what they write in the end is what they would have written."""

import hashlib
import json
import os
import random
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.campaign.inside import COMMAND
from benchmarks.campaign.tally import Tally
from benchmarks.texts import make_texts
from tests.train.runs import make_rows, tiny_values, to_toml, write_corpus

_DOCUMENTS = 40


@dataclass
class Victim:
    """A command that can be killed and goes on.

    Attributes:
        arguments: before ``--out``.
        is_compared: whether a file is the same after any number of kills; a log of times is not.
    """

    arguments: list[str]
    is_compared: Callable[[Path], bool] = lambda path: True


def make_victims(folder: Path) -> dict[str, Victim]:
    """What is killed; another command is another row."""
    texts = folder / "texts"
    texts.mkdir()
    abstracts = make_texts(_DOCUMENTS, seed=2)
    for number, text in enumerate(abstracts):
        (texts / f"{number:02}.txt").write_text(text, encoding="utf-8")
    rows = [
        {"title": "", "abstract": text, "keywords": text.split()[3:5]} for text in abstracts * 5
    ]
    corpus = folder / "corpus.jsonl"
    corpus.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    values = tiny_values(
        write_corpus(folder / "train", make_rows(60)), write_corpus(folder / "valid", make_rows(8))
    )
    values["train"] |= {"epochs": 12, "checkpoint_every": 3, "validate_every": 5}
    config = folder / "config.toml"
    config.write_text(to_toml(values), encoding="utf-8")
    return {
        "extract": Victim(["extract", str(texts)]),
        "prepare": Victim(["prepare", str(corpus), "--jobs", "2"]),
        "train": Victim(["train", str(config)], lambda path: path.suffix == ".safetensors"),
    }


def attack_by_kills(tally: Tally, count: int) -> None:
    """So many kills, shared among the commands; each run is killed up to four times."""
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        victims = make_victims(folder)
        for number, (name, victim) in enumerate(victims.items()):
            start = time.monotonic()
            done = _start(victim, folder / name)
            _, said = done.communicate()
            assert done.returncode == 0, said
            seconds, expected = time.monotonic() - start, _files(victim, folder / name)
            kills, trial, share = 0, 0, count // len(victims) + (number < count % len(victims))
            while kills < share:
                trial += 1
                out, chance = folder / f"{name}-{trial}", tally.chance(1000 * number + trial)
                for _ in range(min(chance.randrange(1, 5), share - kills)):
                    kills += _kill(tally, victim, out, chance, seconds)
                last = _start(victim, out)
                _, said = last.communicate()
                if last.returncode or "Traceback" in said:
                    tally.fail(f"{name}, trial {trial}: status {last.returncode}, {said[-1500:]}")
                elif (files := _files(victim, out)) != expected:
                    differing = [f for f in {*files, *expected} if files.get(f) != expected.get(f)]
                    tally.fail(f"{name}, trial {trial}: other bytes in {sorted(differing)[:5]}")
                tally.count("runs compared byte by byte")
            print(f"{name}: {kills} kills in {trial} trials", flush=True)


def _kill(tally: Tally, victim: Victim, out: Path, chance: random.Random, seconds: float) -> int:
    """End a run at some moment, with its children or without them; whether it still ran."""
    process = _start(victim, out)
    try:
        process.wait(chance.random() * seconds)
        process.communicate()
        return 0
    except subprocess.TimeoutExpired:
        pass
    number = chance.choice((signal.SIGKILL, signal.SIGKILL, signal.SIGKILL, signal.SIGINT))
    if number == signal.SIGKILL and chance.random() < 0.5:
        process.kill()
    else:
        os.killpg(process.pid, number)
    _, said = process.communicate()
    tally.tried += 1
    tally.count(number.name)
    if "Traceback" in said:
        tally.fail(f"{victim.arguments[0]}, {number.name}: {said[-1500:]}")
    return 1


def _start(victim: Victim, out: Path) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [COMMAND, *victim.arguments, "--out", str(out)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


def _files(victim: Victim, out: Path) -> dict[str, str]:
    """What a run wrote, by name; what begins with a dot should have been cleared away."""
    return {
        str(path.relative_to(out)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in out.rglob("*")
        if path.is_file() and (path.name.startswith(".") or victim.is_compared(path))
    }
