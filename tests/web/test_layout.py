"""Laws of the picture, for any tree and even for heads that form no tree."""

from itertools import combinations, pairwise, permutations

from hypothesis import given
from hypothesis import strategies as st

from phraseloom.text.document import Sentence, Token
from phraseloom.web.layout import LABEL_SIZE, Arc, PlacedArc, lay_out, stack_arcs, text_width

RELATIONS = ["nsubj", "dobj", "compound", "nsubj:pass", "punct", "a_relation_no_parser_has"]


@st.composite
def sentences(draw: st.DrawFn) -> Sentence:
    words = draw(st.lists(st.text(min_size=1, max_size=6), min_size=1, max_size=14))
    place = st.integers(0, len(words) - 1)
    tokens = []
    for word in words:
        head, relation = draw(place), draw(st.sampled_from(RELATIONS))
        tokens.append(Token(word, 0, len(word), "NN", head, relation, word, word))
    return Sentence(tuple(tokens))


def overlap(first: Arc, second: Arc) -> bool:
    return max(first.left, second.left) < min(first.right, second.right)


def label_ends(placed: PlacedArc) -> tuple[float, float]:
    middle = (placed.head_x + placed.dependent_x) / 2
    half = text_width(placed.arc.relation, LABEL_SIZE) / 2
    return middle - half, middle + half


@given(sentences())
def test_every_word_but_a_root_has_one_arc_from_its_head(sentence: Sentence) -> None:
    arcs = {(arc.head, arc.dependent) for arc in stack_arcs(sentence.tokens)}
    assert arcs == {(t.head, i) for i, t in enumerate(sentence.tokens) if t.head != i}


@given(sentences())
def test_arcs_over_a_common_stretch_have_different_levels(sentence: Sentence) -> None:
    for first, second in combinations(stack_arcs(sentence.tokens), 2):
        assert first.level != second.level or not overlap(first, second)


@given(sentences())
def test_an_arc_is_as_low_as_the_arcs_beneath_it_allow(sentence: Sentence) -> None:
    arcs = stack_arcs(sentence.tokens)
    for i, arc in enumerate(arcs):
        beneath = [other.level for other in arcs[:i] if overlap(arc, other)]
        assert arc.level == 1 + max(beneath, default=0)


@given(sentences())
def test_labels_lie_on_their_arcs_and_never_on_each_other(sentence: Sentence) -> None:
    arcs = lay_out(sentence).arcs
    for placed in arcs:
        left, right = label_ends(placed)
        assert min(placed.head_x, placed.dependent_x) < left
        assert right < max(placed.head_x, placed.dependent_x)
    for first, second in combinations(arcs, 2):
        if first.arc.level == second.arc.level:
            (a, b), (c, d) = label_ends(first), label_ends(second)
            assert b < c or d < a


@given(sentences())
def test_words_stand_apart_inside_the_picture(sentence: Sentence) -> None:
    row = lay_out(sentence)
    edges = sorted((word.x - word.width / 2, word.x + word.width / 2) for word in row.words)
    assert edges[0][0] >= -1e-6
    assert edges[-1][1] <= row.width + 1e-6
    assert all(left_end < right_start for (_, left_end), (right_start, _) in pairwise(edges))


@given(sentences())
def test_no_two_arcs_meet_a_word_at_one_point(sentence: Sentence) -> None:
    arcs = lay_out(sentence).arcs
    points = [round(x, 3) for placed in arcs for x in (placed.head_x, placed.dependent_x)]
    assert len(set(points)) == len(points)


@given(sentences())
def test_an_arc_over_another_encloses_it_even_where_they_share_a_word(sentence: Sentence) -> None:
    for inner, outer in permutations(lay_out(sentence).arcs, 2):
        if (
            outer.arc.left <= inner.arc.left
            and inner.arc.right <= outer.arc.right
            and inner.arc.level < outer.arc.level
        ):
            inner_ends = sorted((inner.head_x, inner.dependent_x))
            outer_ends = sorted((outer.head_x, outer.dependent_x))
            assert outer_ends[0] < inner_ends[0]
            assert inner_ends[1] < outer_ends[1]


def test_a_sentence_in_a_right_to_left_script_runs_from_right_to_left() -> None:
    def middles(words: str) -> list[float]:
        tokens = [Token(word, 0, 1, "NN", 0, "dep", word, word) for word in words.split()]
        return [word.x for word in lay_out(Sentence(tuple(tokens))).words]

    assert middles("one two three") == sorted(middles("one two three"))
    assert middles("שלום לכל העולם") == sorted(middles("שלום לכל העולם"), reverse=True)
