"""Processes that share a batch compute the gradient of one that has it all."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from phraseloom.train.checkpoint import LAST
from phraseloom.train.metrics_log import METRICS, read_entries
from phraseloom.train.setup import open_run
from tests.train.runs import first_gradient, tiny_config, tiny_values, to_toml

COMMAND = str(Path(sys.executable).with_name("phraseloom"))
WITHOUT_DROPOUT: dict[str, dict[str, Any]] = {"model": {"dropout": 0.0}}
ROOT = Path(__file__).parents[2]


def torchrun(processes: int, *arguments: str) -> None:
    """Start processes that meet; the port that torch finds free may be gone when it takes it."""
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    command += [f"--nproc-per-node={processes}", *arguments]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    for is_last in (False, False, True):
        done = subprocess.run(
            command, check=is_last, capture_output=True, cwd=ROOT, env=environment
        )
        if done.returncode == 0:
            return


@pytest.mark.slow
@pytest.mark.parametrize("documents", [5, 1])  # one: the second process has nothing to do
def test_two_processes_compute_the_gradient_of_one(
    corpus_path: Path, valid_path: Path, tmp_path: Path, documents: int
) -> None:
    size = {"batch_documents": documents}
    config = tiny_config(corpus_path, valid_path, **WITHOUT_DROPOUT, train=size)
    expected = first_gradient(open_run(config, tmp_path / "one"))
    (tmp_path / "config.json").write_text(config.model_dump_json(), encoding="utf-8")
    torchrun(2, "-m", "tests.train.share_gradient", str(tmp_path))

    for rank in range(2):
        gradients = load_file(tmp_path / f"gradient{rank}.safetensors")
        assert gradients.keys() == expected.keys()
        for name, gradient in expected.items():
            torch.testing.assert_close(gradients[name], gradient, rtol=1e-4, atol=1e-7)


@pytest.mark.slow
def test_torchrun_trains_one_model(corpus_path: Path, valid_path: Path, tmp_path: Path) -> None:
    values = tiny_values(corpus_path, valid_path)
    values["model"] |= WITHOUT_DROPOUT["model"]
    values["train"] |= {"epochs": 1}
    (tmp_path / "config.toml").write_text(to_toml(values), encoding="utf-8")
    both, alone = tmp_path / "both", tmp_path / "alone"
    command = [COMMAND, "train", str(tmp_path / "config.toml"), "--out", str(both)]
    torchrun(2, *command)
    config = tiny_config(corpus_path, valid_path, **WITHOUT_DROPOUT, train={"epochs": 1})
    open_run(config, alone).fit(lambda entry: None)

    figures = [
        [entry.get("loss") or entry["perplexity"] for entry in read_entries(out / METRICS)]
        for out in (both, alone)
    ]
    assert figures[0] == pytest.approx(figures[1], rel=1e-3)
    weights = load_file(both / LAST / "model.safetensors")
    for name, weight in load_file(alone / LAST / "model.safetensors").items():
        torch.testing.assert_close(weights[name], weight, rtol=0.05, atol=1e-3)
