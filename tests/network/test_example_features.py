"""Features of tokens from how they are written and what they are in their tree."""

import numpy as np

from phraseloom.network.example import Joint, Shape, hide_writing, token_features
from phraseloom.text.phrases import Role


def features(texts: list[str], *, joined: set[int] | None = None) -> list[list[int]]:
    size = len(texts)
    links = [token in (joined or set()) for token in range(size)]
    return token_features(texts, links, ["NN"] * size, list(range(size)), [0]).tolist()


def test_shapes_tell_how_a_word_is_written() -> None:
    rows = features(["The", "NATO", "iPhone", "of", "Berlin", "42"])

    shapes = [Shape.FIRST, Shape.UPPER, Shape.MIXED, Shape.LOWER, Shape.CAPITALIZED, Shape.OTHER]
    assert [row[0] for row in rows] == shapes


def test_a_text_without_capitals_has_no_shapes() -> None:
    assert {row[0] for row in features(["the", "nato", "42"])} == {Shape.UNKNOWN}


def test_joints_tell_on_which_side_the_hyphen_is() -> None:
    rows = features(["state", "of", "art", "works"], joined={0, 1})

    joints = [Joint.NEXT, Joint.BOTH, Joint.PREVIOUS, Joint.NONE]
    assert [row[2] for row in rows] == joints


def test_hidden_writing_leaves_the_tree() -> None:
    rows = np.array(features(["State", "of"], joined={0}))

    hidden = hide_writing(rows)

    assert (hidden[:, [0, 2]] == 0).all()
    assert (hidden[:, 1] == rows[:, 1]).all()
    assert (rows[:, 1] != Role.OUTSIDE).all()
