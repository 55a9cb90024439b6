"""Training with products in 16 bits: nearly the same gradient, and weights that keep 32."""

from pathlib import Path

import pytest
import torch

from phraseloom.train.setup import open_run
from phraseloom.train.trainer import Trainer
from tests.train.runs import first_gradient, tiny_config


def trainer_in(precision: str, corpus: Path, valid: Path, out: Path) -> Trainer:
    config = tiny_config(
        corpus,
        valid,
        model={"width": 32, "layers": 3, "node_features": True, "dropout": 0.0},
        train={"precision": precision},
    )
    return open_run(config, out / precision)


def test_the_gradient_points_the_same_way(
    corpus_path: Path, valid_path: Path, tmp_path: Path
) -> None:
    full = first_gradient(trainer_in("float32", corpus_path, valid_path, tmp_path))
    half = first_gradient(trainer_in("bfloat16", corpus_path, valid_path, tmp_path))

    assert half.keys() == full.keys()
    assert {gradient.dtype for gradient in half.values()} == {torch.float32}
    all_full = torch.cat([gradient.flatten() for gradient in full.values()])
    all_half = torch.cat([half[name].flatten() for name in full])
    assert not torch.equal(all_half, all_full)
    assert float(torch.cosine_similarity(all_half, all_full, dim=0)) > 0.999


def test_a_run_learns_and_keeps_all_bits_of_its_weights(
    corpus_path: Path, valid_path: Path, tmp_path: Path
) -> None:
    trainer = trainer_in("bfloat16", corpus_path, valid_path, tmp_path)
    entries: list[dict[str, object]] = []
    trainer.fit(entries.append)

    losses = [float(str(entry["loss"])) for entry in entries if entry["kind"] == "train"]
    assert sum(losses[-3:]) < sum(losses[:3])
    assert {weight.dtype for weight in trainer.learner.weights.values()} == {torch.float32}


@pytest.mark.parametrize("variant", ["gru", "gcn", "dgcn"])
@pytest.mark.parametrize("attention", ["additive", "bilinear"])
def test_every_variant_learns_in_16_bits(
    variant: str, attention: str, corpus_path: Path, valid_path: Path, tmp_path: Path
) -> None:
    config = tiny_config(
        corpus_path,
        valid_path,
        model={"variant": variant, "attention": attention, "merge": variant != "gcn"},
        train={"precision": "bfloat16", "steps": 2},
    )
    trainer = open_run(config, tmp_path / "run")
    trainer.fit(lambda entry: None)

    assert trainer.state.step == 2
