"""A model is read back as it was, and a directory that is not whole is refused by its bad part."""

from pathlib import Path

import numpy as np
import pytest

from phraseloom.config import Config, ModelConfig
from phraseloom.errors import CheckpointError
from phraseloom.network.lexicon import Lexicon
from phraseloom.network.model import KeyphraseModel
from phraseloom.network.ops import QuantizedTable
from phraseloom.network.registry import find_installed
from phraseloom.network.weights import (
    CARD,
    CONFIG,
    LEXICON,
    MANIFEST,
    TABLES,
    WEIGHTS,
    checksum,
    dequantize,
    find_model,
    full_arrays,
    load_arrays,
    load_model,
    quantize,
    read_notes,
    save_arrays,
    save_model,
)
from phraseloom.slots import SEP
from tests.builders import TINY, make_example, make_lexicon, make_model
from tests.network.graphs import Floats, assert_close, draw

CONFIGURATION = Config(model=ModelConfig.model_validate(TINY))
PARTS = [MANIFEST, WEIGHTS, CONFIG, LEXICON]


@pytest.fixture
def model() -> KeyphraseModel:
    return make_model(make_lexicon())


@pytest.fixture
def saved(tmp_path: Path, model: KeyphraseModel) -> Path:
    save_model(tmp_path / "model", model, CONFIGURATION, notes={"perplexity": 2.5})
    return tmp_path / "model"


def first_chances(model: KeyphraseModel) -> Floats:
    """Log-probabilities of what begins the first phrase of three documents."""
    decoder = model.decoder([make_example(seed) for seed in range(3)])
    return decoder.advance(np.full((3, 1), SEP), decoder.begin([0, 1, 2], [[], [], []]))[0]


def test_a_model_is_read_back_bit_for_bit(saved: Path, model: KeyphraseModel) -> None:
    loaded, config = load_model(saved)

    assert (loaded.lexicon, loaded.config, config) == (model.lexicon, model.config, CONFIGURATION)
    assert loaded.weights.keys() == model.weights.keys()
    for name, array in model.weights.items():
        np.testing.assert_array_equal(loaded.weights[name], array, err_msg=name)
    again, _ = load_model(saved)
    np.testing.assert_array_equal(first_chances(loaded), first_chances(again))
    np.testing.assert_allclose(first_chances(loaded), first_chances(model), atol=1e-6)


def test_the_directory_of_a_run_gives_its_best_model(tmp_path: Path, model: KeyphraseModel) -> None:
    save_model(tmp_path / "run" / "best", model, CONFIGURATION)

    loaded, _ = load_model(tmp_path / "run")

    np.testing.assert_array_equal(loaded.weights["decoder.ends"], model.weights["decoder.ends"])


def test_a_run_that_was_not_validated_is_told_apart(tmp_path: Path, model: KeyphraseModel) -> None:
    save_model(tmp_path / "run" / "last", model, CONFIGURATION)

    with pytest.raises(CheckpointError, match="not been validated yet"):
        load_model(tmp_path / "run")


def test_saving_again_replaces_everything(saved: Path, model: KeyphraseModel) -> None:
    model.weights["decoder.start"][:] = 7
    save_model(saved, model, CONFIGURATION, notes={"perplexity": 1.5})

    assert set(load_model(saved)[0].weights["decoder.start"].tolist()) == {7.0}
    assert read_notes(saved) == {"perplexity": 1.5}
    assert [path.name for path in saved.parent.iterdir()] == ["model"]


def test_a_failed_save_leaves_the_old_model(
    saved: Path, model: KeyphraseModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: Lexicon, path: Path) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(Lexicon, "save", fail)
    with pytest.raises(OSError, match="disk full"):
        save_model(saved, model, CONFIGURATION)
    monkeypatch.undo()

    load_model(saved)
    assert [path.name for path in saved.parent.iterdir()] == ["model"]


def test_a_save_that_was_killed_between_its_renames_leaves_the_old_model(
    saved: Path, model: KeyphraseModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(path: Path, target: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Path, "replace", die)
        save_model(saved, model, CONFIGURATION, notes={"perplexity": 1.5})

    assert not saved.exists()
    assert read_notes(find_model(find_installed(saved))) == {"perplexity": 2.5}
    save_model(saved, model, CONFIGURATION, notes={"perplexity": 1.5})
    assert read_notes(find_model(saved)) == {"perplexity": 1.5}
    assert [path.name for path in saved.parent.iterdir()] == ["model"]


@pytest.mark.parametrize("name", ["thesis.txt", CARD, MANIFEST])
@pytest.mark.parametrize("place", ["model", "model.previous"])
def test_what_is_no_model_is_not_replaced(
    tmp_path: Path, model: KeyphraseModel, place: str, name: str
) -> None:
    (tmp_path / place).mkdir()
    (tmp_path / place / name).write_text("years of work", encoding="utf-8")

    with pytest.raises(CheckpointError, match=f"{place} holds {name}, which is no part of a model"):
        save_model(tmp_path / "model", model, CONFIGURATION)

    assert (tmp_path / place / name).read_text(encoding="utf-8") == "years of work"


def test_a_model_with_a_file_beside_it_is_not_replaced(saved: Path, model: KeyphraseModel) -> None:
    (saved / "thesis.txt").write_text("years of work", encoding="utf-8")
    with pytest.raises(CheckpointError, match="holds thesis.txt"):
        save_model(saved, model, CONFIGURATION)


def test_a_card_may_be_edited_or_lost(tmp_path: Path, model: KeyphraseModel) -> None:
    save_model(tmp_path / "model", model, CONFIGURATION, card="# A model\n")
    card = tmp_path / "model" / CARD

    card.write_text("# Mine\n", encoding="utf-8")
    load_model(tmp_path / "model")
    card.unlink()
    load_model(tmp_path / "model")


@pytest.mark.parametrize("name", PARTS)
def test_a_missing_part_is_named(saved: Path, name: str) -> None:
    (saved / name).unlink()
    with pytest.raises(CheckpointError, match=name):
        load_model(saved)


@pytest.mark.parametrize("name", PARTS)
def test_a_truncated_part_is_named(saved: Path, name: str) -> None:
    content = (saved / name).read_bytes()
    (saved / name).write_bytes(content[: len(content) // 2])
    with pytest.raises(CheckpointError, match=name):
        load_model(saved)


def test_one_flipped_bit_is_noticed(saved: Path) -> None:
    content = bytearray((saved / WEIGHTS).read_bytes())
    content[-5] ^= 1
    (saved / WEIGHTS).write_bytes(content)
    with pytest.raises(CheckpointError, match=f"{WEIGHTS} is damaged"):
        load_model(saved)


def rewrite(saved: Path, **changes: Floats | None) -> None:
    """Change weights and their checksum, as one who means it would."""
    arrays = load_arrays(saved / WEIGHTS) | changes
    before = checksum(saved / WEIGHTS)
    kept = {name: array for name, array in arrays.items() if array is not None}
    save_arrays(saved / WEIGHTS, kept)
    manifest = (saved / MANIFEST).read_text(encoding="utf-8")
    after = checksum(saved / WEIGHTS)
    (saved / MANIFEST).write_text(manifest.replace(before, after), encoding="utf-8")


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"decoder.start": None}, r"lacks decoder\.start"),
        ({"decoder.more": draw(0, 2)}, r"holds decoder\.more"),
        ({"decoder.start": draw(0, 3)}, r"decoder\.start is \(3,\), not \(6,\)"),
        ({"decoder.start": np.full(6, np.nan, np.float32)}, "not all finite"),
        ({f"{TABLES[0]}.scale": draw(0, 3, 1)}, "does not fit its table"),
    ],
    ids=["missing", "too many", "shape", "not finite", "scales"],
)
def test_weights_that_do_not_fit_are_named(
    saved: Path, changes: dict[str, Floats | None], problem: str
) -> None:
    rewrite(saved, **changes)

    with pytest.raises(CheckpointError, match=problem):
        load_model(saved)


def test_weights_of_another_shape_are_named(tmp_path: Path) -> None:
    save_model(tmp_path / "model", make_model(make_lexicon(), width=12), CONFIGURATION)
    with pytest.raises(CheckpointError, match=r"encoder\.context\.weight_ih_l0 is \(18, "):
        load_model(tmp_path / "model")


def test_no_directory_and_no_model_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="there is no model directory"):
        load_model(tmp_path / "nowhere")
    with pytest.raises(CheckpointError, match=r"is no model directory: .*manifest.json is missing"):
        load_model(tmp_path)


def test_rounding_is_within_half_a_step() -> None:
    table = draw(0, 7, 5)
    table[3] = 0  # a row without anything in it

    restored = full_arrays(dequantize(quantize({TABLES[0]: table})))[TABLES[0]]

    step = np.abs(table).max(axis=1, keepdims=True) / 127
    assert (np.abs(restored - table) <= step / 2 + 1e-6).all()


def test_what_is_not_quantized_stays_as_it_is() -> None:
    weights = {TABLES[0]: draw(0, 3, 2), "decoder.start": draw(1, 4)}

    restored = dequantize(weights)

    for name, array in weights.items():
        np.testing.assert_array_equal(restored[name], array)


def test_a_quantized_model_is_smaller_and_gives_nearly_the_same(
    tmp_path: Path, model: KeyphraseModel
) -> None:
    save_model(tmp_path / "whole", model, CONFIGURATION)
    save_model(tmp_path / "small", model, CONFIGURATION, is_quantized=True)

    sizes = [(tmp_path / name / WEIGHTS).stat().st_size for name in ("whole", "small")]
    assert sizes[1] < sizes[0]
    small, _ = load_model(tmp_path / "small")
    assert all(isinstance(small.weights[name], QuantizedTable) for name in TABLES)
    finite = np.isfinite(first_chances(model))
    assert_close(first_chances(small)[finite], first_chances(model)[finite], tolerance=0.02)


@pytest.mark.parametrize("is_quantized", [False, True])
def test_a_quantized_table_survives_being_saved_again(
    tmp_path: Path, model: KeyphraseModel, is_quantized: bool
) -> None:
    save_model(tmp_path / "first", model, CONFIGURATION, is_quantized=True)
    once, _ = load_model(tmp_path / "first")
    save_model(tmp_path / "second", once, CONFIGURATION, is_quantized=is_quantized)
    twice, _ = load_model(tmp_path / "second")

    for name in TABLES:
        np.testing.assert_array_equal(twice.weights[name].steps, once.weights[name].steps)
