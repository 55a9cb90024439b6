"""Pieces cover a text, and none of them takes a parser longer than its length warrants."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phraseloom.text.document import Source
from phraseloom.text.parsers.assemble import LONGEST_PUNCTUATION, LONGEST_RUN, cut_pieces
from phraseloom.text.words import DIGIT, normalise

UNITS = [").", "(", '"', "!?", "'s", ",", "😀", ":)", "_", "*", "a", "a.", DIGIT, "x/", "<", "\n "]


def longest_runs(text: str) -> tuple[int, int]:
    """Characters of the longest run without white space, and of one without letters or digits."""
    return tuple(  # type: ignore[return-value]  # two of them
        max(map(len, re.findall(pattern, text)), default=0)
        for pattern in (r"\S+", r"(?:[^\w\s]|_)+")
    )


@given(
    st.lists(st.tuples(st.sampled_from([*UNITS, " "]), st.integers(1, 700)), max_size=6),
    st.booleans(),
)
def test_pieces_cover_the_text_and_bound_its_runs(
    runs: list[tuple[str, int]], is_title: bool
) -> None:
    text = "".join(unit * count for unit, count in runs)
    pieces = list(cut_pieces(Source("", text) if is_title else Source(text)))

    normal = normalise(text)
    reached = 0
    for piece in pieces:
        shown = normal[piece.start : piece.start + len(piece.text)]
        assert not normal[reached : piece.start].strip()
        assert piece.in_title is is_title
        assert piece.text == shown.replace(DIGIT, "1000000")
        reached = piece.start + len(piece.text)
        run, punctuation = longest_runs(shown.replace(DIGIT, "1"))
        assert run <= LONGEST_RUN
        assert punctuation <= LONGEST_PUNCTUATION
    assert not normal[reached:].strip()
    assert sum(piece.text.count("1000000") for piece in pieces) == normal.count(DIGIT)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "An ordinary sentence, with (brackets) and so on ... Another!",
        "-" * LONGEST_PUNCTUATION,
        "see https://example.org/" + "very-long-path/" * 12 + "?q=1",
        DIGIT * 200,
    ],
)
def test_ordinary_text_is_one_piece(text: str) -> None:
    pieces = list(cut_pieces(Source(text)))

    assert [len(piece.text) for piece in pieces] == ([len(text)] if text else [])


def test_a_long_text_is_cut_after_a_paragraph_or_else_a_sentence_or_a_word() -> None:
    sentence = "Graphs are sparse and trees are more so. "
    for end, texts in (("\n\n", sentence * 400), ("", sentence * 600), ("", "word " * 5000)):
        text = texts.rstrip() + end + texts.rstrip()
        first, *_ = cut_pieces(Source(text))

        assert len(first.text) <= 20_000
        after = text[: len(first.text)]
        if end:
            assert after.endswith("\n\n")
        else:
            assert after.endswith(". " if "." in texts else "d ")
