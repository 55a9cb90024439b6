"""A page about one document: nothing but its own text in it, and the right things underlined."""

import json
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from experiments.case import merge_spans, underline

TEXT = "A box kite lifts a <small> camera; the box-kite hums & sings."


class Underlined(HTMLParser):
    """Text of a page, and the parts of it that are underlined."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.text = ""
        self.parts: list[str] = []
        self._is_open = False
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self._is_open = tag == "u"

    def handle_endtag(self, tag: str) -> None:
        self._is_open = False

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._is_open:
            self.parts.append(data)


@given(
    st.text(alphabet="ab<&\"' é😀"),
    st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20))),
)
def test_underlining_keeps_the_text_and_marks_the_spans(
    text: str, ranges: list[tuple[int, int]]
) -> None:
    spans = [(start, stop) for start, stop in ranges if start < stop <= len(text)]

    read = Underlined(underline(text, spans))

    assert read.text == text
    inside = {i for start, stop in spans for i in range(start, stop)}
    assert "".join(read.parts) == "".join(text[i] for i in sorted(inside))
    merged = merge_spans(spans)
    assert all(first[1] <= second[0] for first, second in zip(merged, merged[1:], strict=False))


def test_the_page_shows_each_model_twice(
    run: Callable[..., Any], model_directory: Path, tmp_path: Path
) -> None:
    (tmp_path / "kite.txt").write_text(TEXT)
    common = ("experiment", "case", "--results", tmp_path)
    given_text = ("--text", tmp_path / "kite.txt", "--title", "Kites", "--gold", "box kite; sings")
    outcome = run(*common, model_directory, *given_text)

    assert outcome.status == 0, outcome.err
    content = json.loads((tmp_path / "case.json").read_text())
    assert [TEXT[start:stop] for start, stop in content["spans"]] == [
        *("box kite", "box-kite", "sings"),
    ]
    assert [each["inference"] for each in content["lists"]] == ["plain", "div"]
    assert content["lists"][0]["search"]["lambda1"] == 0
    for phrases in (each["phrases"] for each in content["lists"]):
        for phrase in phrases:
            is_right = phrase["text"].lower().replace("-", " ") in ("box kite", "sings")
            assert phrase["is_right"] is is_right
    page = (tmp_path / "case.html").read_text()
    assert TEXT in Underlined(page).text
    assert "src=" not in page
    assert "href=" not in page
    (tmp_path / "case.html").unlink()
    assert run(*common, "--draw-only").out == outcome.out
    assert (tmp_path / "case.html").read_text() == page


def test_a_document_of_a_corpus_can_be_chosen(
    run: Callable[..., Any], model_directory: Path, corpus_file: Path, tmp_path: Path
) -> None:
    common = ("experiment", "case", "--results", tmp_path, model_directory)
    assert run(*common, "--corpus", corpus_file, "--id", "own-2").status == 0
    assert json.loads((tmp_path / "case.json").read_text())["title"] == "counting swifts"
    for arguments, said in (
        (("--corpus", corpus_file, "--id", "lost"), "has no document lost"),
        ((), "with --text or with --corpus"),
    ):
        outcome = run(*common, *arguments)
        assert (outcome.status, outcome.err.count("\n")) == (2, 1)
        assert said in outcome.err
