"""The law of checkpoints: killed at any moment, several times, and the weights are the same."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from phraseloom.train.checkpoint import LAST
from phraseloom.train.metrics_log import METRICS, read_entries
from phraseloom.train.setup import open_run
from tests.train.runs import tiny_config, tiny_values, to_toml

COMMAND = str(Path(sys.executable).with_name("phraseloom"))
CHANGES = {"epochs": 6, "checkpoint_every": 3, "validate_every": 5}


def start(config: Path, out: Path) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [COMMAND, "train", str(config), "--out", str(out)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


def last_step(out: Path) -> int:
    return max((entry["step"] for entry in read_entries(out / METRICS)), default=0)


def kill_after(process: "subprocess.Popen[bytes]", out: Path, step: int, delay: float) -> None:
    """SIGKILL a run a moment after it has logged a step."""
    while last_step(out) < step:
        assert process.poll() is None, "the run ended before it could be killed"
        time.sleep(0.002)
    time.sleep(delay)
    process.send_signal(signal.SIGKILL)
    process.wait()


@pytest.mark.slow
def test_a_run_killed_at_random_moments_ends_with_the_same_weights(
    corpus_path: Path, valid_path: Path, tmp_path: Path
) -> None:
    values = tiny_values(corpus_path, valid_path)
    values["train"] |= CHANGES
    config = tmp_path / "config.toml"
    config.write_text(to_toml(values), encoding="utf-8")
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    open_run(tiny_config(corpus_path, valid_path, train=CHANGES), whole).fit(lambda entry: None)

    chance = random.Random(0)
    for step in (4, 14, 24):
        kill_after(start(config, parts), parts, step, delay=chance.random() * 0.05)
    assert start(config, parts).wait() == 0

    for directory in (LAST, "best"):
        files = sorted(path.name for path in (whole / directory).glob("*.safetensors"))
        for name in files:
            ours, theirs = parts / directory / name, whole / directory / name
            assert ours.read_bytes() == theirs.read_bytes(), f"{directory}/{name}"
    steps = [entry["step"] for entry in read_entries(parts / METRICS) if entry["kind"] == "train"]
    assert steps == list(range(1, 37))
    assert not list(parts.glob(".*"))
