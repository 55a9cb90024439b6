"""The ``graph`` command, and what holds for the command line as a whole."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import phraseloom

if TYPE_CHECKING:
    from tests.conftest import Outcome

Run = Callable[..., "Outcome"]


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text("Graph networks read sentences. They copy phrases.", encoding="utf-8")
    return path


def test_version(run: Run) -> None:
    outcome = run("--version")
    assert (outcome.status, outcome.out) == (0, f"phraseloom {phraseloom.__version__}\n")


def test_help_names_the_command(run: Run) -> None:
    outcome = run("--help")
    assert outcome.status == 0
    assert "graph" in outcome.out


def test_without_out_the_graph_is_drawn_in_the_terminal(run: Run, text: Path) -> None:
    outcome = run("graph", text)
    assert outcome.status == 0
    assert "networks" in outcome.out
    assert "nsubj" in outcome.out


def test_no_token_steers_the_terminal(run: Run, tmp_path: Path) -> None:
    rows = [
        "1\t\x1b[2J\t_\tNOUN\t_\t_\t2\tnsubj\t_\t_",
        "2\tgr\u202eow\t_\tVERB\t_\t_\t0\troot\t_\t_",
    ]
    parsed = tmp_path / "parsed.conllu"
    parsed.write_text("\n".join(rows) + "\n\n", encoding="utf-8")
    outcome = run("graph", parsed, "--parser", "conllu")
    assert "gr\ufffdow" in outcome.out
    assert not {"\x1b", "\u202e"} & {*outcome.out}


@pytest.mark.parametrize(
    ("name", "beginning"), [("g.html", "<!doctype"), ("g.svg", "<svg"), ("g.dot", "digraph")]
)
def test_out_writes_the_picture_its_name_asks_for(
    run: Run, text: Path, tmp_path: Path, name: str, beginning: str
) -> None:
    picture = tmp_path / "new" / name
    outcome = run("graph", text, "--title", "A title", "--out", picture)
    assert (outcome.status, outcome.out) == (0, "")
    assert str(picture) in outcome.err.replace("\n", "")
    content = picture.read_text(encoding="utf-8")
    assert content.startswith(beginning)
    assert "networks" in content
    assert "A title" in content


def test_a_file_may_be_called_like_an_option_of_another_command(
    run: Run, text: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(text.parent)
    text.rename("--cluster")
    assert "networks" in run("graph", "--", "--cluster").out


def test_standard_input_is_a_file_too(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"Graphs help.")))
    assert "Graphs" in run("graph", "-").out


def test_sentences_left_out_are_announced(run: Run, text: Path) -> None:
    outcome = run("graph", text, "--sentences", 1)
    assert "phrases" not in outcome.out
    assert "first 1 of 2 sentences" in outcome.err


def test_a_mistake_is_one_line_and_status_two(run: Run, text: Path, tmp_path: Path) -> None:
    latin = tmp_path / "latin.txt"
    latin.write_bytes("na\u00efve".encode("latin-1"))
    empty = tmp_path / "empty.txt"
    empty.write_text(" \n")
    mistakes = {
        (tmp_path / "absent.txt",): "cannot read",
        (tmp_path,): "give a file with one",
        (latin,): "is not UTF-8 (byte 2)",
        (empty,): "no words",
        (text, "--out", tmp_path / "g.png"): ".html, .svg or .dot",
        (text, "--out", text / "g.svg"): "cannot write",
        (text, "--parser", "guess"): "unknown parser",
    }
    for arguments, message in mistakes.items():
        outcome = run("graph", *arguments)
        assert (outcome.status, outcome.out) == (2, "")
        assert message in outcome.err
        assert outcome.err.count("\n") == 1
