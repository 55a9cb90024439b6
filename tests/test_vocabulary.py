"""An extractor with a vocabulary: terms are found, preferred, and carry their labels."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from phraseloom.errors import OptionsError
from phraseloom.extractor import Extractor
from phraseloom.io.vocabulary import to_terms
from phraseloom.vocabulary import stem_labels, with_vocabulary
from tests.loading import load_once

TERMS = {"Trees, dependency": ["parse tree"], "Prints (visual works)": [], "Sentences": []}
TEXT = "Graph networks read whole sentences. They copy phrases from the parse trees."


@pytest.fixture(autouse=True)
def loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    load_once(monkeypatch)


def test_forms_are_compared_by_stems_and_the_first_term_has_them() -> None:
    labels = stem_labels(to_terms({**TERMS, "Arbres": ["dependency tree"]}))

    assert labels["depend tree"] == "Trees, dependency"
    assert labels["pars tree"] == "Trees, dependency"
    assert labels["print"] == "Prints (visual works)"


def test_found_forms_carry_the_label_and_are_preferred(tmp_path: Path) -> None:
    plain = Extractor.load()
    knowing = plain.with_vocabulary(TERMS)

    before = {phrase.stems: phrase for phrase in plain.extract(TEXT, top=10)}
    found = {phrase.label: phrase for phrase in knowing.extract(TEXT, top=10) if phrase.label}

    assert set(found) == {"Trees, dependency", "Sentences"}
    for phrase in found.values():
        assert phrase.stems not in before or phrase.score > before[phrase.stems].score
    assert all(phrase.label is None for phrase in plain.extract(TEXT))
    knowing.save_pretrained(tmp_path / "knowing")
    assert Extractor.load(tmp_path / "knowing").extract(TEXT) == knowing.extract(TEXT)


def test_the_command_takes_a_file_of_terms(tmp_path: Path, run) -> None:  # type: ignore[no-untyped-def]
    terms = tmp_path / "terms.txt"
    terms.write_text("Trees, dependency; parse tree\n")

    shown = run("extract", "--text", TEXT, "--vocabulary", terms, "--format", "json")
    table = run("extract", "--text", TEXT, "--vocabulary", terms, "--format", "csv")

    phrases = json.loads(shown.out)["phrases"]
    assert [p["text"] for p in phrases if p.get("label") == "Trees, dependency"] == ["parse trees"]
    rows = list(csv.DictReader(io.StringIO(table.out)))
    assert {row["label"] for row in rows} == {"", "Trees, dependency"}


@pytest.mark.parametrize("terms", [None, 3, 0.5, [3], [["graph"]], {"graph": 3}, {3: []}, b"graph"])
def test_what_is_no_vocabulary_is_refused_in_one_line(terms: Any) -> None:
    with pytest.raises(OptionsError, match=r"^a vocabulary is a file, .*[^\n]$"):
        with_vocabulary(None, terms)


def test_a_vocabulary_without_terms_is_refused() -> None:
    with pytest.raises(OptionsError, match="needs terms"):
        Extractor.load().with_vocabulary([])
