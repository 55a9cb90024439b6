"""A saved model is the same model; what is wrong with a directory is said by name."""

from pathlib import Path

import pytest

from phraseloom.errors import CheckpointError
from phraseloom.extractor import Extractor

TEXT = "Graph-based neural networks find keyphrases. The graph is dynamic."
PARTS = {"config.json", "lexicon.json", "manifest.json", "model.safetensors", "README.md"}


@pytest.fixture
def saved(extractor: Extractor, tmp_path: Path) -> Path:
    extractor.with_search(max_words=2).save_pretrained(str(tmp_path / "mine"))
    return tmp_path / "mine"


def test_a_saved_model_says_the_same(extractor: Extractor, saved: Path) -> None:
    loaded = Extractor.from_pretrained(saved)

    assert {path.name for path in saved.iterdir()} == PARTS
    assert loaded.search.max_words == 2
    assert loaded.extract(TEXT, top=5) == extractor.with_search(max_words=2).extract(TEXT, top=5)


def test_a_card_is_made_once_and_then_handed_on(saved: Path, tmp_path: Path) -> None:
    card = (saved / "README.md").read_text(encoding="utf-8")
    assert "# mine" in card
    assert "author, indexer" in card

    (saved / "README.md").write_text("# My own words\n", encoding="utf-8")  # it may be edited
    loaded = Extractor.from_pretrained(saved)
    loaded.save_pretrained(tmp_path / "copy")
    loaded.save_pretrained(saved)  # over itself

    for directory in (saved, tmp_path / "copy"):
        assert (directory / "README.md").read_text(encoding="utf-8") == "# My own words\n"
    (saved / "README.md").unlink()
    Extractor.from_pretrained(saved)


@pytest.mark.parametrize("part", sorted(PARTS - {"README.md"}))
@pytest.mark.parametrize("is_missing", [True, False])
def test_a_part_that_is_missing_or_damaged_is_named(
    saved: Path, part: str, is_missing: bool
) -> None:
    path = saved / part
    if is_missing:
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:-9])

    with pytest.raises(CheckpointError, match=part) as caught:
        Extractor.from_pretrained(saved)
    assert "\n" not in str(caught.value)


def test_what_is_no_model_is_not_replaced(extractor: Extractor, tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work", encoding="utf-8")

    with pytest.raises(CheckpointError, match="holds thesis.txt, which is no part of a model"):
        extractor.save_pretrained(tmp_path)
    with pytest.raises(CheckpointError, match="is a file"):
        extractor.save_pretrained(tmp_path / "thesis.txt")

    assert (tmp_path / "thesis.txt").read_text(encoding="utf-8") == "years of work"


def test_a_name_that_is_not_installed_is_refused_without_a_download() -> None:
    with pytest.raises(CheckpointError, match="there is no model directory someone/large"):
        Extractor.from_pretrained("someone/large")
