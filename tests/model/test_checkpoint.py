"""A model is read back as it was, and a directory that is not whole is refused by its bad part."""

from pathlib import Path

import pytest
import torch

from phraseloom.config import Config, ModelConfig
from phraseloom.data.batch import collate, collate_targets
from phraseloom.data.lexicon import Lexicon
from phraseloom.errors import CheckpointError
from phraseloom.model.checkpoint import (
    CONFIG,
    LEXICON,
    MANIFEST,
    WEIGHTS,
    load_model,
    read_notes,
    save_model,
)
from phraseloom.model.network import KeyphraseModel
from tests.builders import TINY, make_example, make_lexicon, make_model

CONFIGURATION = Config(model=ModelConfig.model_validate(TINY))


@pytest.fixture
def lexicon() -> Lexicon:
    return make_lexicon()


@pytest.fixture
def model(lexicon: Lexicon) -> KeyphraseModel:
    return make_model(lexicon)


@pytest.fixture
def saved(tmp_path: Path, model: KeyphraseModel, lexicon: Lexicon) -> Path:
    save_model(tmp_path / "model", model, lexicon, CONFIGURATION, notes={"perplexity": 2.5})
    return tmp_path / "model"


def test_a_model_is_read_back_bit_for_bit(
    saved: Path, model: KeyphraseModel, lexicon: Lexicon
) -> None:
    loaded, loaded_lexicon, config = load_model(saved)

    assert (loaded_lexicon, config) == (lexicon, CONFIGURATION)
    assert not loaded.training
    assert loaded.state_dict().keys() == model.state_dict().keys()
    for name, tensor in model.state_dict().items():
        assert torch.equal(loaded.state_dict()[name], tensor), name
    examples = [make_example(seed) for seed in range(3)]
    batch, targets = collate(examples, lexicon), collate_targets(examples)
    assert torch.equal(loaded(batch, targets).sequence, model(batch, targets).sequence)


def test_a_loaded_model_can_learn(saved: Path, lexicon: Lexicon) -> None:
    model, *_ = load_model(saved)
    examples = [make_example(0)]
    model(collate(examples, lexicon), collate_targets(examples)).sequence.backward()
    assert model.encoder.words.table.grad is not None


def test_the_directory_of_a_run_gives_its_best_model(
    tmp_path: Path, model: KeyphraseModel, lexicon: Lexicon
) -> None:
    save_model(tmp_path / "run" / "best", model, lexicon, CONFIGURATION)
    loaded, *_ = load_model(tmp_path / "run")
    assert torch.equal(loaded.decoder.ends, model.decoder.ends)


def test_saving_again_replaces_everything(
    saved: Path, model: KeyphraseModel, lexicon: Lexicon
) -> None:
    with torch.no_grad():
        model.decoder.start.fill_(7.0)
    save_model(saved, model, lexicon, CONFIGURATION, notes={"perplexity": 1.5})

    assert load_model(saved)[0].decoder.start.unique().tolist() == [7.0]
    assert read_notes(saved) == {"perplexity": 1.5}
    assert [path.name for path in saved.parent.iterdir()] == ["model"]


def test_a_failed_save_leaves_the_old_model(
    saved: Path, model: KeyphraseModel, lexicon: Lexicon, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: Lexicon, path: Path) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(Lexicon, "save", fail)
    with pytest.raises(OSError, match="disk full"):
        save_model(saved, model, lexicon, CONFIGURATION)
    monkeypatch.undo()

    load_model(saved)
    assert [path.name for path in saved.parent.iterdir()] == ["model"]


@pytest.mark.parametrize("name", [MANIFEST, WEIGHTS, CONFIG, LEXICON])
def test_a_missing_part_is_named(saved: Path, name: str) -> None:
    (saved / name).unlink()
    with pytest.raises(CheckpointError, match=name):
        load_model(saved)


@pytest.mark.parametrize("name", [MANIFEST, WEIGHTS, CONFIG, LEXICON])
def test_a_truncated_part_is_named(saved: Path, name: str) -> None:
    content = (saved / name).read_bytes()
    (saved / name).write_bytes(content[: len(content) // 2])
    with pytest.raises(CheckpointError, match=name):
        load_model(saved)


def test_one_flipped_bit_is_found(saved: Path) -> None:
    content = bytearray((saved / WEIGHTS).read_bytes())
    content[-5] ^= 1
    (saved / WEIGHTS).write_bytes(content)
    with pytest.raises(CheckpointError, match=f"{WEIGHTS} is damaged"):
        load_model(saved)


def test_weights_of_another_shape_are_named(tmp_path: Path, lexicon: Lexicon) -> None:
    wide = make_model(lexicon, width=12)
    save_model(tmp_path / "model", wide, lexicon, CONFIGURATION)
    with pytest.raises(CheckpointError, match=r"encoder\.context\.weight_ih_l0 is \(18, "):
        load_model(tmp_path / "model")


def test_no_directory_and_no_model_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="there is no model directory"):
        load_model(tmp_path / "nowhere")
    with pytest.raises(CheckpointError, match="is no model directory: .*manifest.json is missing"):
        load_model(tmp_path)
