"""Packed weights: much smaller, and nearly the same."""

from pathlib import Path

import pytest
import torch

from phraseloom.config import Config, ModelConfig
from phraseloom.data.batch import collate, collate_targets
from phraseloom.errors import CheckpointError
from phraseloom.model import catalogue
from phraseloom.model.checkpoint import load_model, save_model
from phraseloom.model.packing import TABLES, pack, unpack
from tests.builders import TINY, make_example, make_lexicon, make_model


def test_rounding_is_within_half_a_step() -> None:
    table = torch.randn(7, 5)
    table[3] = 0  # a row without anything in it

    restored = unpack(pack({TABLES[0]: table}))[TABLES[0]]

    step = table.abs().amax(dim=1, keepdim=True) / 127
    assert ((restored - table).abs() <= step / 2 + 1e-6).all()


def test_what_is_not_packed_stays_as_it_is() -> None:
    weights = {TABLES[0]: torch.randn(3, 2), "decoder.start": torch.randn(4)}

    restored = unpack(weights)

    assert all(torch.equal(restored[name], weights[name]) for name in weights)


def test_a_packed_model_is_smaller_and_says_nearly_the_same(tmp_path: Path) -> None:
    lexicon = make_lexicon()
    model = make_model(lexicon)
    config = Config(model=ModelConfig(**TINY))
    examples = [make_example(seed) for seed in range(3)]

    save_model(tmp_path / "whole", model, lexicon, config)
    save_model(tmp_path / "packed", model, lexicon, config, is_packed=True)

    sizes = [(tmp_path / name / "model.safetensors").stat().st_size for name in ("whole", "packed")]
    assert sizes[1] < sizes[0]
    batch, targets = collate(examples, lexicon), collate_targets(examples)
    packed, _, _ = load_model(tmp_path / "packed")
    expected = model.eval()(batch, targets).sequence
    torch.testing.assert_close(packed(batch, targets).sequence, expected, rtol=0.02, atol=0.0)


def test_installed_models_are_found_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalogue, "_SHIPPED", tmp_path)
    config = Config(model=ModelConfig(**TINY))
    for name in ("another", "default"):
        lexicon = make_lexicon()
        save_model(tmp_path / name, make_model(lexicon), lexicon, config, notes={"from": name})

    assert [model.name for model in catalogue.installed_models()] == ["default", "another"]
    assert catalogue.installed_models()[1].notes == {"from": "another"}
    assert catalogue.find_installed(None) == tmp_path / "default"
    assert catalogue.find_installed("another") == tmp_path / "another"
    with pytest.raises(CheckpointError, match="installed: default, another"):
        catalogue.find_installed("third")


def test_without_an_installed_model_the_fix_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalogue, "_SHIPPED", tmp_path)

    with pytest.raises(CheckpointError, match="phraseloom train"):
        catalogue.find_installed(None)
