"""The ``vectors`` command: its file, and what it says about a mistake."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from phraseloom.train.corpus.vectors import Vectors

Run = Callable[..., Any]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    row = {"title": "Graphs and trees", "abstract": "Graphs hold trees. " * 5, "keywords": []}
    path = tmp_path / "corpus.jsonl"
    path.write_text(f"{json.dumps(row)}\nnot json\n", encoding="utf-8")
    return path


def test_learns_vectors_of_the_asked_shape(run: Run, corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "v.safetensors"
    options = ["--width", 12, "--epochs", 2, "--buckets", 50, "--threads", 1]
    outcome = run("vectors", corpus, "--out", out, *options)

    vectors = Vectors.load(out)
    assert outcome.status == 0
    assert outcome.out == ""
    assert "4 words and 50 subword buckets, 12 numbers each" in " ".join(outcome.err.split())
    assert vectors.words == ("graphs", "trees", ".", "hold")  # ties in alphabetical order
    assert vectors.subwords.shape == (50, 12)


def test_skipped_lines_are_reported_and_strict_refuses_them(
    run: Run, corpus: Path, tmp_path: Path
) -> None:
    out = tmp_path / "v.safetensors"
    lenient = run("vectors", corpus, "--out", out, "--width", 4, "--epochs", 1, "--buckets", 9)
    strict = run("vectors", corpus, "--out", tmp_path / "other", "--strict")

    assert "corpus.jsonl:2" in "".join(lenient.err.split())
    assert strict.status == 2
    assert "corpus.jsonl:2: not valid JSON" in strict.err
    assert sorted(tmp_path.iterdir()) == [corpus, out]


def test_converts_an_official_file(run: Run, tmp_path: Path) -> None:
    official = tmp_path / "wiki.vec"
    official.write_text("3 2\nThe 1 2\ngraph 3 4\ntree 5 6\n", encoding="utf-8")
    outcome = run("vectors", official, "--out", tmp_path / "v", "--keep", 2)

    vectors = Vectors.load(tmp_path / "v")
    assert outcome.status == 0
    assert vectors.words == ("the", "graph")
    assert vectors.matrix.tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.jsonl", "--out", "v"], "no corpus at nowhere.jsonl"),
        (["corpus.jsonl", "--out", "nowhere/v"], "there is no directory nowhere"),
        (["corpus.jsonl", "--out", "."], "is a directory"),
        (["corpus.jsonl", "--out", "v", "--min-count", "99"], "no word occurs 99 times"),
        (["corpus.jsonl", "wiki.vec", "--out", "v"], "convert wiki.vec by itself"),
        (["nowhere.bin", "--out", "v"], "there is no file nowhere.bin"),
    ],
)
def test_a_mistake_is_one_line_and_writes_nothing(
    run: Run, corpus: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(corpus.parent)
    outcome = run("vectors", *arguments)

    assert outcome.status == 2
    assert message in outcome.err.splitlines()[-1]
    assert list(corpus.parent.iterdir()) == [corpus]


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys, phraseloom.cli.vectors as command;"
        "print(*{'numpy', 'gensim', 'torch', 'spacy', 'rich.progress'} & set(sys.modules))"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert said.stdout.strip() == ""
