"""Scripts of the page that only compute, in the engine of Chromium but without a browser."""

import csv
import io
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from py_mini_racer import MiniRacer

from phraseloom.options import Options
from phraseloom.text.document import Sentence
from phraseloom.text.phrases import Span
from phraseloom.web.highlight import cut
from phraseloom.web.layout import stack_arcs
from phraseloom.web.saved import bundle
from tests.web.test_highlight import marked_texts
from tests.web.test_layout import sentences


@cache
def engine(module: str) -> MiniRacer:
    """One of the page's modules, loaded."""
    racer = MiniRacer()
    racer.eval(bundle(module))
    if module == "layout":
        racer.eval("layout_js.lay = (s, room) => layout_js.layOut(s, (t) => 7 * t.length, room)")
    return racer


@pytest.fixture(autouse=True, scope="module")
def close_engines() -> Iterator[None]:
    yield
    for module in ("export", "graph", "layout", "offsets", "options"):
        engine(module).close()
    engine.cache_clear()


def call(module: str, function: str, *arguments: Any) -> Any:
    return engine(module).call(f"{module}_js.{function}", *arguments)


@given(marked_texts())
def test_a_text_is_cut_as_in_python(marked: tuple[str, list[list[Span]]]) -> None:
    text, spans = marked
    places = [{"rank": rank, "spans": of_phrase} for rank, of_phrase in enumerate(spans, start=1)]

    stretches = call("offsets", "cutText", text, places)

    expected = cut(text, list(enumerate(spans, start=1)))
    assert stretches == [
        {"text": stretch.text, "ranks": list(stretch.ranks)} for stretch in expected
    ]


def test_offsets_count_what_javascript_counts() -> None:
    assert call("offsets", "unitOffsets", "a😀é𝒳") == [0, 1, 3, 4, 6]


@given(sentences())
def test_arcs_are_stacked_as_in_python(sentence: Sentence) -> None:
    level_of = {(arc.head, arc.dependent): arc.level for arc in stack_arcs(sentence.tokens)}

    levels = call("layout", "stackArcs", as_arcs(sentence), len(sentence.tokens))

    assert levels == [level_of[arc["head"], arc["dependent"]] for arc in as_arcs(sentence)]


@given(sentences(), st.integers(100, 2000))
def test_words_stand_apart_and_everything_is_inside_the_picture(
    sentence: Sentence, room: int
) -> None:
    shown = {"tokens": [{"text": t.text} for t in sentence.tokens], "arcs": as_arcs(sentence)}
    picture = call("layout", "lay", shown, room)

    words = [(w["middle"] - w["width"] / 2, w["middle"] + w["width"] / 2) for w in picture["words"]]
    assert words[0][0] >= 0
    assert words[-1][1] <= picture["width"]
    assert all(left[1] < right[0] for left, right in pairwise(words))
    for arc, drawn in zip(as_arcs(sentence), picture["arcs"], strict=True):
        x, y = drawn["foot"]
        left, right = words[arc["dependent"]]
        assert left <= x <= right, "an arc ends at its dependent"
        assert 0 <= y <= picture["wordTop"] < picture["height"]


def as_arcs(sentence: Sentence) -> list[dict[str, int]]:
    return [
        {"head": token.head, "dependent": i}
        for i, token in enumerate(sentence.tokens)
        if token.head != i
    ]


@given(st.lists(st.sampled_from("ab"), max_size=8), st.lists(st.sampled_from("ab"), min_size=1))
def test_stems_are_found_wherever_they_follow_each_other(
    words: list[str], stems: list[str]
) -> None:
    runs = call("layout", "findStems", [{"stem": word} for word in words], stems)

    assert runs == [
        list(range(start, start + len(stems)))
        for start in range(len(words))
        if words[start : start + len(stems)] == stems
    ]


def test_the_weight_of_an_arc_is_the_mean_of_its_directions() -> None:
    step = {"down": [[0.5, 1], []], "up": [[0.25, 0], []]}

    assert call("graph", "arcWeights", step) == [[0.375, 0.5], []]


@pytest.mark.parametrize(
    ("values", "options"),
    [
        ({"top": "0"}, {"top": None}),
        ({"top": "8", "diversity": "0"}, {"top": 8, "diversity": 0}),
        (
            {"top": "1", "exclude": " a b,, c;d\ne ", "seeds": " ", "style": ""},
            {"top": 1, "exclude": ["a b", "c", "d", "e"]},
        ),
        (
            {
                "top": "3",
                "style": "indexer",
                "candidates": "x",
                "min_words": "2",
                "min_score": ".5",
            },
            {"top": 3, "style": "indexer", "candidates": ["x"], "min_words": 2, "min_score": 0.5},
        ),
    ],
)
def test_fields_of_the_page_become_options(values: dict[str, str], options: dict[str, Any]) -> None:
    assert call("options", "readOptions", values) == options
    Options(**options)


def test_every_option_has_its_field() -> None:
    names = engine("options").eval("options_js.FIELDS.join()")

    assert set(str(names).split(",")) == set(Options.model_fields)


@given(st.lists(st.text('ab,"\n=+-@', min_size=1, max_size=6), max_size=4))
def test_a_table_can_be_read_back_and_nothing_in_it_is_a_formula(texts: list[str]) -> None:
    phrases = [{"rank": 1, "text": text, "score": 3.2e-7, "spans": [[0, 2]]} for text in texts]

    rows = list(csv.reader(io.StringIO(call("export", "asCsv", phrases), newline="")))

    assert rows[0] == ["rank", "text", "score", "start", "end"]
    for text, row in zip(texts, rows[1:], strict=True):
        assert row == ["1", f"'{text}" if text[0] in "=+-@" else text, "3.2e-7", "0", "2"]


def test_a_phrase_without_a_place_has_empty_cells() -> None:
    phrase = {"rank": 2, "text": "a", "score": 1, "spans": []}

    assert call("export", "asCsv", [phrase]).splitlines()[1] == "2,a,1,,"
