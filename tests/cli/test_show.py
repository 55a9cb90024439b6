"""The command that writes the page of one text."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from phraseloom.extractor import Extractor
from phraseloom.text.parsers import load_parser
from tests.test_explain import make_extractor

TEXT = "Graph networks read trees. The trees of a text are dependency graphs."


@pytest.fixture(autouse=True)
def tiny_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that needs no loading: what it says does not matter here."""
    monkeypatch.setattr(Extractor, "load", lambda model: make_extractor(load_parser("spacy")))


def saved_data(path: Path) -> dict[str, Any]:
    content = path.read_text(encoding="utf-8")
    match = re.search(r'<script type="application/json" id="saved">(.*)</script>', content)
    assert match is not None
    data: dict[str, Any] = json.loads(match[1])
    return data


def test_the_page_holds_the_text_and_its_search(run: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text(TEXT, encoding="utf-8")
    page = tmp_path / "pages" / "page.html"
    outcome = run("show", tmp_path / "notes.txt", "--out", page, "--title", "Trees", "--most", 3)

    assert outcome.status == 0, outcome.err
    assert outcome.out == ""
    assert f"wrote {page}" in outcome.err
    data = saved_data(page)
    assert (data["explanation"]["text"], data["explanation"]["title"]) == (TEXT, "Trees")
    assert [len(result["keyphrases"]) for result in data["numbers"]] == [1, 2, 3]


def test_options_are_those_of_extract(run: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text(TEXT, encoding="utf-8")
    (tmp_path / "stop.txt").write_text("trees\n", encoding="utf-8")
    (tmp_path / "only.txt").write_text("trees\ntext\ngraph networks\n", encoding="utf-8")
    page = tmp_path / "page.html"
    options = ["--candidates", tmp_path / "only.txt", "--exclude", f"@{tmp_path / 'stop.txt'}"]
    options += ["--seed", "text", "--diversity", 0.5, "--max-words", 1, "--min-score", 0.0]

    outcome = run("show", tmp_path / "notes.txt", "--out", page, "--most", 3, *options)

    assert outcome.status == 0, outcome.err
    data = saved_data(page)
    assert data["explanation"]["search"]["diversity"] == 0.5
    for result in [data["by_model"], *data["numbers"]]:
        assert [phrase["text"] for phrase in result["keyphrases"]] == ["text"]


def test_files_are_read_as_by_extract(run: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text(f"**{TEXT}**\n", encoding="utf-8")
    page = tmp_path / "page.html"

    assert run("show", tmp_path / "notes.md", "--out", page, "--most", 1).status == 0
    assert saved_data(page)["explanation"]["text"].strip() == TEXT


@pytest.mark.parametrize(
    ("name", "content", "out", "message"),
    [
        ("notes.txt", " \n", "page.html", "there is no text in"),
        ("notes.txt", TEXT, "page.txt", "end it in .html"),
        ("rows.jsonl", "{}", "page.html", "give a file with one"),
        ("", "", "page.html", "give a file with one"),
    ],
)
def test_what_cannot_be_shown_is_refused_in_a_line(
    run: Callable[..., Any], tmp_path: Path, name: str, content: str, out: str, message: str
) -> None:
    if name:
        (tmp_path / name).write_text(content, encoding="utf-8")
    outcome = run("show", tmp_path / name, "--out", tmp_path / out)

    assert (outcome.status, outcome.err.count("\n")) == (2, 1)
    assert message in outcome.err
    assert not (tmp_path / out).exists()


def test_a_missing_file_is_named(run: Callable[..., Any], tmp_path: Path) -> None:
    outcome = run("show", tmp_path / "nowhere.txt", "--out", tmp_path / "page.html")

    assert (outcome.status, outcome.err.count("\n")) == (2, 1)
    assert "nowhere.txt" in outcome.err


def test_a_place_that_cannot_be_written_is_named(run: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text(TEXT, encoding="utf-8")
    (tmp_path / "page.html").mkdir()
    outcome = run("show", tmp_path / "notes.txt", "--out", tmp_path / "page.html", "--most", 1)

    assert outcome.status == 2
    assert "cannot write" in outcome.err
