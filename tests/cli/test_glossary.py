"""The ``glossary`` command: its file, and what it says about a mistake."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from phraseloom.network.lexicon import PhraseCounts
from phraseloom.network.registry import find_installed
from phraseloom.network.weights import load_lexicon
from phraseloom.train.corpus.glossary import load_glossary
from tests.train.corpus.chains import row
from tests.train.runs import write_corpus

Run = Callable[..., Any]


def test_counts_the_phrases_of_all_corpora(run: Run, tmp_path: Path) -> None:
    one = write_corpus(tmp_path / "one", [row("graph networks", ["graph network"])])
    two = write_corpus(tmp_path / "two", [row("a graph network", ["graph network"])])
    out = tmp_path / "glossary.json"
    outcome = run("glossary", one, two, "--out", out)

    assert (outcome.status, outcome.out) == (0, "")
    assert "1 phrases" in outcome.err
    assert load_glossary(out).counts == {"graph network": PhraseCounts(2, 2)}


def test_what_a_model_has_counted_is_only_marked_as_such(run: Run, tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "one", [row("graph networks", ["graph network"])])
    known, out = load_lexicon(find_installed("default")).glossary, tmp_path / "glossary.json"

    outcome = run("glossary", "--model", "default", "--counted", corpus, "--out", out)

    marked = load_glossary(out)
    assert (outcome.status, marked.counts) == (0, known.counts)
    assert len(marked.corpora - known.corpora) == 1


def test_a_mistake_is_one_line_and_status_two(run: Run, tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "one", [row("graph networks", ["graph network"])])
    outcomes = {
        "no prepared corpus": run("glossary", tmp_path / "none", "--out", tmp_path / "g.json"),
        "there is no directory": run("glossary", corpus, "--out", tmp_path / "none" / "g.json"),
        "is a directory": run("glossary", corpus, "--out", tmp_path),
        "nothing to count": run("glossary", "--counted", corpus, "--out", tmp_path / "g.json"),
    }
    for message, outcome in outcomes.items():
        assert (outcome.status, outcome.out) == (2, "")
        assert message in outcome.err
        assert "Traceback" not in outcome.err
