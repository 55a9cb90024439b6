"""The ``prepare`` command: what it writes, what it says, and what it refuses."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from phraseloom.train.corpus.prepared import PreparedCorpus
from tests.train.corpus.chains import row, write_rows

Run = Callable[..., Any]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write_rows(tmp_path / "rows.jsonl", [row("a graph", ["graphs"]), {"oops": 1}, row("b")])


def test_writes_a_corpus_and_reports_what_it_skipped(
    run: Run, corpus: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    outcome = run("prepare", corpus, "--out", out, "--parser", "conllu", "--jobs", 1)

    assert outcome.status == 0
    assert " ".join(outcome.out.split()) == f"2 documents in {out}, 1 skipped"
    assert "rows.jsonl:2:" in "".join(outcome.err.split())
    assert "2/2" in outcome.err
    assert PreparedCorpus.open(out).present(0) == ["graphs"]


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


PROGRAM = "from phraseloom.cli import main\n\nif __name__ == '__main__':\n    main()\n"


def test_modules_in_the_current_directory_are_not_run(corpus: Path, tmp_path: Path) -> None:
    program, planted = tmp_path / "program.py", tmp_path / "planted"
    program.write_text(PROGRAM)
    planted.mkdir()
    for name in ("pickle", "multiprocessing", "numpy", "pyarrow", "phraseloom", "struct"):
        (planted / f"{name}.py").write_text("open('it ran', 'w')\nraise SystemExit(1)\n")
    arguments = ["prepare", corpus, "--out", tmp_path / "out", "--parser", "conllu", "--jobs", 2]
    done = subprocess.run(
        [sys.executable, program, *map(str, arguments)],
        cwd=planted,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.startswith("2 documents in"), done.stderr
    assert not (planted / "it ran").exists()


@pytest.mark.parametrize("command", ["prepare", "stats", "glossary", "vectors"])
def test_without_its_extra_the_command_to_install_it_is_named(
    run: Run, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    prepared = tmp_path / "prepared"
    assert run("prepare", corpus, "--out", prepared, "--parser", "conllu").status == 0
    for package in ("pyarrow", "pyarrow.ipc", "gensim"):
        monkeypatch.setitem(sys.modules, package, None)
    out = () if command == "stats" else ("--out", tmp_path / "out")
    source = corpus if command in {"prepare", "vectors"} else prepared
    outcome = run(command, source, *out)
    assert (outcome.status, outcome.out) == (2, "")
    [line] = outcome.err.strip().splitlines()
    assert line.endswith("needs the train extra: pip install '.[train]' in a clone of phraseloom")
