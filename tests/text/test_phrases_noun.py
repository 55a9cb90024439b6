"""Noun phrases of small trees written by hand."""

import pytest

from phraseloom.text.phrases import Role, are_joined, noun_phrases, phrase_roles

Word = tuple[str, str, int]
"""Text, tag, head."""


def read(words: list[Word], joined: set[int] | None = None) -> list[str]:
    """The noun phrases, as text; ``joined`` are words that a hyphen joins to the next."""
    links = [token in (joined or set()) for token in range(len(words))]
    ranges = noun_phrases([tag for _, tag, _ in words], [head for *_, head in words], links)
    return [" ".join(word for word, *_ in words[start:end]) for start, end in ranges]


def test_a_noun_takes_the_modifiers_before_it_that_it_governs() -> None:
    words = [
        ("The", "DT", 3),
        ("severe", "JJ", 3),
        ("property", "NN", 3),
        ("damage", "NN", 4),
        ("hit", "VBD", 4),
        ("sperm", "NN", 6),
        ("whales", "NNS", 4),
    ]

    assert read(words) == ["severe property damage", "sperm whales"]


def test_what_governs_something_else_is_not_taken() -> None:
    assert read([("red", "JJ", 2), ("said", "VBD", 1), ("roses", "NNS", 1)]) == ["roses"]
    assert read([("Monday", "NNP", 1), ("came", "VBD", 1), ("rain", "NN", 1)]) == ["Monday", "rain"]


def test_a_hyphenated_word_is_one_word() -> None:
    words = [("single", "JJ", 1), ("sign", "NN", 1), ("on", "RP", 1), ("fails", "VBZ", 1)]

    assert read(words, joined={1}) == ["single sign on"]
    assert read(words) == ["single sign"]


def test_numbers_in_front_do_not_count() -> None:
    assert read([("three", "CD", 1), ("roses", "NNS", 1)]) == ["roses"]
    assert read([("3", "CD", 1), ("D", "NN", 2), ("models", "NNS", 2)], joined={0}) == [
        "3 D models"
    ]


def test_every_token_has_one_role() -> None:
    roles = phrase_roles(6, [(0, 1), (2, 5)])

    alone, outside = Role.ALONE, Role.OUTSIDE
    assert roles == [alone, outside, Role.BEGIN, Role.INSIDE, Role.HEAD, outside]


@pytest.mark.parametrize(
    ("text", "is_joined"), [("sign-on", True), ("sign on", False), ("sign/on", False)]
)
def test_a_hyphen_joins_and_nothing_else(text: str, is_joined: bool) -> None:
    assert are_joined(text, 4, 5) is is_joined
