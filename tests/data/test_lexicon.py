"""A lexicon numbers, and survives being saved."""

from pathlib import Path

import pytest

from phraseloom.data.lexicon import Lexicon, style_id
from phraseloom.errors import CheckpointError
from tests.builders import make_lexicon


def test_a_saved_lexicon_comes_back_equal(tmp_path: Path) -> None:
    lexicon = make_lexicon(styles=("authors", "readers"))
    lexicon.save(tmp_path / "lexicon.json")

    assert Lexicon.load(tmp_path / "lexicon.json") == lexicon


def test_edge_types_are_the_loop_and_each_relation_both_ways() -> None:
    lexicon = make_lexicon()

    assert lexicon.edge_types == 1 + len(lexicon.relations) + len(lexicon.relations)


def test_ngrams_depend_on_the_spelling_and_stay_below_the_buckets() -> None:
    lexicon = make_lexicon()

    assert lexicon.ngrams("graph").tolist() == lexicon.ngrams("graph").tolist()
    assert lexicon.ngrams("graph").tolist() != lexicon.ngrams("grape").tolist()
    assert max(lexicon.ngrams("extraordinarily")) < lexicon.buckets


@pytest.mark.parametrize("damage", ["", "{", '{"words": []}', '{"words": ["a", "a"]}', "[]"])
def test_a_damaged_file_is_named(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "lexicon.json"
    path.write_text(damage, encoding="utf-8")

    with pytest.raises(CheckpointError, match=r"lexicon\.json"):
        Lexicon.load(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"nowhere\.json"):
        Lexicon.load(tmp_path / "nowhere.json")


def test_without_a_name_a_style_is_the_first() -> None:
    assert style_id(("authors", "readers"), None) == 0
    assert style_id(("authors", "readers"), "readers") == 1
    assert style_id((), "anything") == 0
