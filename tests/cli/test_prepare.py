"""The ``prepare`` command: what it writes, what it says, and what it refuses."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from phraseloom.data.cache import Corpus
from tests.data.chains import row, write_rows

Run = Callable[..., Any]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write_rows(tmp_path / "rows.jsonl", [row("a graph", ["graphs"]), {"oops": 1}, row("b")])


def test_writes_a_corpus_and_reports_what_it_skipped(
    run: Run, corpus: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    outcome = run("prepare", corpus, "--out", out, "--parser", "conllu", "--processes", 1)

    assert outcome.status == 0
    assert " ".join(outcome.out.split()) == f"2 documents in {out}, 1 skipped"
    assert "rows.jsonl:2:" in "".join(outcome.err.split())
    assert "2/2" in outcome.err
    assert Corpus.open(out).present(0) == ["graphs"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--strict"], "mend it, or read without --strict"),
        (["--parser", "sketchy"], "unknown parser 'sketchy'"),
        (["--lower-case", "2"], "--lower-case"),
    ],
)
def test_a_mistake_is_one_line_and_status_two(
    run: Run, corpus: Path, tmp_path: Path, options: list[str], message: str
) -> None:
    first = ["prepare", corpus, "--out", tmp_path / "out", "--parser", "conllu"]
    outcome = run(*first, *options)

    assert (outcome.status, outcome.out) == (2, "")
    assert message in outcome.err
    assert "Traceback" not in outcome.err
