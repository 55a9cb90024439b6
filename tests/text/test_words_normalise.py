"""Normalisation moves nothing, and parts what the benchmark files part."""

import unicodedata

import pytest
from hypothesis import given

from phraseloom.text.words import mask_digits, normalise, printable, replace_surrogates
from tests.text.laws import texts


@given(texts())
def test_every_character_stays_or_becomes_a_space(text: str) -> None:
    normal = normalise(text)

    assert len(normal) == len(text)
    assert all(after in (before, " ") for before, after in zip(text, normal, strict=True))
    assert normalise(normal) == normal
    assert len(mask_digits(normal)) == len(text)


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("object-oriented", "object oriented"),
        ("client/server", "client server"),
        ("state-of-the-art", "state of the art"),
        ("a-b-c", "a b c"),
        ("2-3", "2 3"),
        ("x-1", "x 1"),
        ("na\u00efve\u2010Bayes\u2011net", "na\u00efve Bayes net"),
        ("<digit>-<digit>", "<digit> <digit>"),
        ("<digit>/<digit>", "<digit> <digit>"),
        ("<digit>-bit", "<digit> bit"),
        ("win-<digit>", "win <digit>"),
    ],
)
def test_a_joiner_between_letters_or_digits_becomes_a_space(text: str, normal: str) -> None:
    assert normalise(text) == normal


@pytest.mark.parametrize(
    "text",
    ["a - b", "-1", "a -b", "pre- and post-", "a--b", "C++/x", "and/ or", "a_-b", "<-<digit>"],
)
def test_a_joiner_elsewhere_stays(text: str) -> None:
    assert normalise(text) == text


def test_what_no_parser_should_see_is_blank() -> None:
    assert normalise("a\x00b\ud800c\x85d\u2028e\x7f") == "a b c d e "


@given(texts())
def test_what_is_printed_cannot_steer_a_terminal(text: str) -> None:
    shown = printable(text)

    assert not any(unicodedata.category(letter) == "Cc" for letter in shown if letter not in "\t\n")
    assert len(shown) == len(text.replace("\r\n", "\n"))


def test_lone_surrogates_are_replaced_and_pairs_stay() -> None:
    assert replace_surrogates("a\ud800\U0001f600\udfff") == "a\ufffd\U0001f600\ufffd"
