"""Options are checked at once: whatever is given, they are made or refused in one line."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phraseloom.errors import OptionsError
from phraseloom.options import (
    MAX_CHARACTERS,
    MAX_PHRASES,
    MAX_TOP,
    MAX_WORDS,
    Options,
    as_count,
    make_options,
)


class Unwritable:
    def __repr__(self) -> str:
        raise RuntimeError("nobody writes me down")


HUGE = 10**5000
"""An integer that Python refuses to write in decimal."""
ABSURD: list[tuple[dict[str, Any], str]] = [
    ({"top": 0}, "top must be at least 1, not 0"),
    ({"top": 10**9}, f"top must be at most {MAX_TOP}, not 1000000000"),
    ({"top": HUGE}, f"top must be at most {MAX_TOP}, not such a int"),
    ({"top": "5"}, "top must be a whole number, not '5'"),
    ({"top": 5.0}, "top must be a whole number, not 5.0"),
    ({"top": True}, "top must be a whole number, not True"),
    ({"top": Unwritable()}, "top must be a whole number, not such a Unwritable"),
    ({"style": 3}, "style must be a string, not int"),
    ({"candidates": "graph"}, "candidates must be a list of phrases, not one string"),
    ({"candidates": b"graph"}, "candidates must be a list of phrases, not one string"),
    ({"candidates": ["graph", None]}, "candidates must be strings, not NoneType"),
    ({"candidates": np.array(3)}, "candidates must be a list of phrases, not ndarray"),
    ({"candidates": 3}, "candidates must be a list of phrases, not int"),
    ({"seeds": itertools.repeat("graph")}, f"seeds must be at most {MAX_PHRASES} phrases"),
    ({"exclude": ["a " * MAX_CHARACTERS]}, f"exclude must be phrases of at most {MAX_CHARACTERS}"),
    ({"diversity": 1.01}, "diversity must be at most 1, not 1.01"),
    ({"diversity": -1}, "diversity must be at least 0, not -1.0"),
    ({"diversity": math.nan}, "diversity must be a number, not nan"),
    ({"diversity": HUGE}, "diversity must be a number, not such a int"),
    ({"diversity": "0.5"}, "diversity must be a number, not '0.5'"),
    ({"min_words": None}, "min_words must be a whole number, not None"),
    ({"max_words": 10**9}, f"max_words must be at most {MAX_WORDS}, not 1000000000"),
    ({"min_words": 3, "max_words": 2}, "max_words must be at least min_words, 3, not 2"),
    ({"min_score": math.inf}, "min_score must be a number, not inf"),
    ({"topp": 3}, r"unknown option topp; did you mean top\?"),
    ({"wishes": 3}, "unknown option wishes; there are top, style"),
]


@pytest.mark.parametrize(("fields", "message"), ABSURD, ids=[message for _, message in ABSURD])
def test_what_cannot_be_is_refused_in_one_line(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionsError, match=message) as caught:
        Options(**fields)
    assert "\n" not in str(caught.value)


values = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.complex_numbers(),
        st.text(max_size=5),
        st.binary(max_size=5),
        st.just(object()),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.text(max_size=3), inner, max_size=3),
        st.tuples(inner, inner),
    ),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from([*Options.model_fields, "other"]), values, max_size=4))
def test_any_values_make_options_or_an_error_of_one_line(fields: dict[str, Any]) -> None:
    try:
        options = Options(**fields)
    except OptionsError as error:
        assert "\n" not in str(error)
        return
    assert options.top is None or 1 <= options.top <= MAX_TOP
    assert 1 <= options.min_words <= (options.max_words or MAX_WORDS) <= MAX_WORDS
    for share in (options.diversity, options.min_score):
        assert share is None or 0 <= share <= 1
    for phrases in (options.candidates or (), options.seeds, options.exclude):
        assert all(isinstance(phrase, str) for phrase in phrases)


def test_numbers_of_numpy_and_lists_of_any_kind_are_taken() -> None:
    options = Options(
        top=np.int64(3),  # type: ignore[arg-type]  # what a data frame holds
        diversity=np.float32(0.5),  # type: ignore[arg-type]
        seeds=iter(["graph"]),
        exclude=None,
    )

    assert (options.top, options.diversity) == (3, 0.5)
    assert (options.seeds, options.exclude, options.candidates) == (("graph",), (), None)
    assert Options(candidates=[]).candidates == ()


def test_changes_are_made_to_options_and_checked_with_them() -> None:
    options = Options(top=3, min_words=2)

    assert make_options(options, {}) is options
    assert make_options(options, {"max_words": 4}) == Options(top=3, min_words=2, max_words=4)
    assert make_options(None, {"top": 2}) == Options(top=2)
    with pytest.raises(OptionsError, match="max_words must be at least min_words"):
        make_options(options, {"max_words": 1})
    with pytest.raises(OptionsError, match="options must be an Options object, not int;.*top=5"):
        make_options(5, {})  # type: ignore[arg-type]
    with pytest.raises(OptionsError, match="unknown option beam_width"):
        make_options(options, {"beam_width": 1})  # type: ignore[typeddict-unknown-key]


@pytest.mark.parametrize(
    "value",
    [0, -1, 10**9, pytest.param(HUGE, id="huge"), 1.5, "2", True, None],
)
def test_a_count_that_cannot_be_is_refused_in_one_line(value: Any) -> None:
    with pytest.raises(OptionsError, match="^workers must be") as caught:
        as_count(value, "workers")
    assert "\n" not in str(caught.value)


def test_a_count_is_a_whole_number() -> None:
    assert as_count(np.int64(2), "workers") == 2
