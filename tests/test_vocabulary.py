"""An extractor with a vocabulary: terms are found, preferred, and carry their labels."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from phraseloom.errors import OptionsError
from phraseloom.extractor import Extractor
from phraseloom.io.vocabulary import to_terms
from phraseloom.ranker import best_forms
from phraseloom.text.terms import TermLabels
from phraseloom.vocabulary import name_labels, with_vocabulary
from tests.loading import load_once

TERMS = {"Trees, dependency": ["parse tree"], "Prints (visual works)": [], "Sentences": []}
TEXT = "Graph networks read whole sentences. They copy phrases from the parse trees."


@pytest.fixture(autouse=True)
def loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    load_once(monkeypatch)


def test_a_form_of_two_terms_is_the_firsts_and_one_line_tells(
    caplog: pytest.LogCaptureFixture,
) -> None:
    terms = {"Arts": [], "Art": [], **TERMS, "Arbres": ["dependency trees", "parse tree"]}
    labels = name_labels(to_terms(terms))

    assert labels["parse tree"] == labels["dependency trees"] == "Trees, dependency"
    assert name_labels(to_terms([*TERMS, "Prints"]))["prints"] == "Prints"  # its own label
    assert (labels["arts"], labels["art"]) == ("Arts", "Art")
    told = "'dependency trees' is a form of 'Trees, dependency' and of 'Arbres'; the first has it"
    assert caplog.messages[0] == f"{told}; so with 1 more"


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


@pytest.mark.parametrize(
    ("terms", "text", "label"),
    [
        (["Wells, Ida B."], "Ida B. Wells wrote letters.", "Wells, Ida B."),
        (["Wells, Ida B."], "Ida B Wells wrote letters.", "Wells, Ida B."),
        (["C++"], "Programs in C++ run fast.", "C++"),
        (["U.S. Army"], "He joined the U.S. Army in May.", "U.S. Army"),
        (["Whaling"], "A whale was seen.", None),
        (["Whaling", "Whales"], "A whale was seen.", "Whales"),
        (["Universities", "Universe"], "The universe is large.", "Universe"),
        ({"Lighthouses": "beacons"}, "Beacons guided the ships.", "Lighthouses"),
    ],
)
def test_a_form_is_told_by_its_words_as_written(terms: Any, text: str, label: str | None) -> None:
    found = Extractor.load().with_vocabulary(terms).extract(text)

    assert {phrase.label for phrase in found} - {None} == {label} - {None}


COAST = {"Lighthouses": ["light houses", "beacons"], "Whaling": ["whaling voyages"]}


def test_no_piece_of_a_form_is_listed_in_its_place() -> None:
    text = (
        "The beacons guided ships. Light houses and whaling voyages; the whaling was hard, and"
        " whaling paid. Light houses."
    )
    phrases = Extractor.load().with_vocabulary(COAST).extract(text)

    labels = [phrase.label for phrase in phrases if phrase.label]
    assert sorted(labels) == ["Lighthouses", "Whaling"]
    assert not {"voyages", "houses", "light"} & {phrase.text.lower() for phrase in phrases}


def test_a_form_that_only_stands_inside_a_longer_one_gives_way_to_it() -> None:
    [document] = Extractor.load().parse(["Ships came home from whaling voyages."])
    scores = {("whale",): 0.9, ("whale", "voyag"): 0.2, ("ship",): 0.1}

    labels = TermLabels(name_labels(to_terms(COAST)))
    assert list(best_forms(document, scores, labels)) == [("whale", "voyag"), ("ship",)]


def test_a_second_vocabulary_adds_to_the_first() -> None:
    both = Extractor.load().with_vocabulary(["Phrases"]).with_vocabulary(TERMS)

    labels = {phrase.label for phrase in both.extract(TEXT, top=10)}
    assert {"Phrases", "Trees, dependency", "Sentences"} <= labels


def test_a_table_and_lines_show_labels_if_there_are_any(
    tmp_path: Path, run: Callable[..., Any]
) -> None:
    terms = tmp_path / "terms.csv"
    terms.write_text("Term;UF\nTrees, dependency;parse tree\n")
    command = ("extract", "--text", TEXT, "--vocabulary", terms, "--format")

    lines, page = run(*command, "text"), run(*command, "html")

    assert "parse trees\tTrees, dependency\n" in lines.out
    assert "labels from 'Term', other forms from 'UF'" in lines.err
    assert 'class="label">Trees, dependency<' in page.out
    assert run(*command, "table").out.splitlines()[0].split()[-1] == "label"
    assert "label" not in run("extract", "--text", TEXT).out


@pytest.mark.parametrize("terms", ["", " "])
def test_a_file_needs_a_name(terms: str) -> None:
    with pytest.raises(OptionsError, match=r"^a vocabulary is a file, .* not '"):
        with_vocabulary(None, terms)


@pytest.mark.parametrize("terms", [None, 3, 0.5, [3], [["graph"]], {"graph": 3}, {3: []}, b"graph"])
def test_what_is_no_vocabulary_is_refused_in_one_line(terms: Any) -> None:
    with pytest.raises(OptionsError, match=r"^a vocabulary is a file, .*[^\n]$"):
        with_vocabulary(None, terms)


def test_a_vocabulary_without_terms_is_refused() -> None:
    with pytest.raises(OptionsError, match="needs terms"):
        Extractor.load().with_vocabulary([])
