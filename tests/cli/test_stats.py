"""The ``stats`` command: tables for people, JSON for programs."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from phraseloom.train.corpus.prepare import PrepareOptions, prepare_corpus
from tests.train.corpus.chains import row, write_rows

Run = Callable[..., Any]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("stats")
    file = write_rows(base / "rows.jsonl", [row("a graph", ["graphs"]), row("b c d")])
    prepare_corpus([file], base / "small", PrepareOptions(parser="conllu", processes=1))
    return base / "small"


def test_prints_json(run: Run, prepared: Path) -> None:
    outcome = run("stats", prepared, prepared, "--json")

    first, second = json.loads(outcome.out)
    assert outcome.status == 0
    assert first == second
    assert (first["name"], first["documents"], first["nodes"]) == ("small", 2, 2.5)
    assert outcome.err.strip() == ""


def test_prints_both_tables(run: Run, prepared: Path) -> None:
    outcome = run("stats", prepared)

    lines = outcome.out.splitlines()
    assert [line.split()[0] for line in lines if "means" in line] == ["Keyphrases", "Graphs"]
    assert sum("small" in line for line in lines) == 2


def test_the_name_of_a_file_is_no_markup(run: Run, tmp_path: Path) -> None:
    file = write_rows(tmp_path / "x[b]\u202e.jsonl", [row("a graph", ["graphs"])])
    outcome = run("stats", file, "--parser", "conllu")

    assert outcome.status == 0, outcome.err
    assert outcome.out.count("x[b]\ufffd") == 2
    assert "x[b]\ufffd.jsonl" in outcome.err, "so is the bar called"


def test_a_missing_corpus_is_one_line_and_status_two(run: Run, tmp_path: Path) -> None:
    outcome = run("stats", tmp_path / "nowhere")

    assert (outcome.status, outcome.out) == (2, "")
    assert "no corpus at" in outcome.err
