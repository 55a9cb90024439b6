"""A parser's rows become tokens, whatever the parser's idea of a token is."""

from hypothesis import given
from hypothesis import strategies as st

from phraseloom.text.document import Document, Sentence
from phraseloom.text.parsers.assemble import Row, assemble, locate_words
from phraseloom.text.words import normalise
from tests.text.laws import check_document


@st.composite
def parses(draw: st.DrawFn) -> tuple[str, list[Row]]:
    """A text and a random tree over spans that cover it, cut anywhere, some of them shared."""
    parts = st.lists(st.sampled_from(["ab", "c", " ", "-", "<digit>", "<", "digit>"]), min_size=1)
    text = "".join(draw(parts))
    cuts = sorted(draw(st.sets(st.integers(1, len(text)), max_size=8)) | {len(text)})
    spans = list(zip([0, *cuts], cuts, strict=False))
    spans = [span for span in spans for _ in range(draw(st.integers(1, 2)))]
    order = draw(st.permutations(range(len(spans))))  # a head comes earlier in this order
    heads = {i: order[draw(st.integers(0, max(rank - 1, 0)))] for rank, i in enumerate(order)}
    return text, [Row(*span, "NN", heads[i], "dep") for i, span in enumerate(spans)]


@given(parses())
def test_any_rows_become_words_under_trees(parse: tuple[str, list[Row]]) -> None:
    text, rows = parse
    tokens = assemble(text, normalise(text), rows)

    check_document(Document(text, "", (Sentence(tokens),) if tokens else ()))
    spelled = "".join(token.text for token in tokens)
    assert spelled == "".join(normalise(text).split()), "nothing but white space is lost"


def test_what_hung_on_white_space_hangs_on_its_governor() -> None:
    rows = [Row(0, 1, "NN", 0, "ROOT"), Row(1, 3, "_SP", 0, "dep"), Row(3, 4, "NN", 1, "Appos")]
    tokens = assemble("a  b", "a  b", rows)

    assert [(t.text, t.head, t.relation) for t in tokens] == [("a", 0, "root"), ("b", 0, "appos")]


def test_a_broken_digit_is_whole_again_and_keeps_its_place_in_the_tree() -> None:
    text = "use <digit> bits"
    rows = [
        Row(0, 3, "VB", 0, "root"),
        Row(4, 5, "XX", 2, "punct"),
        Row(5, 10, "NN", 4, "compound"),
        Row(10, 11, "XX", 2, "punct"),
        Row(12, 16, "NNS", 0, "obj"),
    ]
    tokens = assemble(text, text, rows)

    assert [(t.text, t.pos, t.head, t.relation) for t in tokens] == [
        ("use", "VB", 0, "root"),
        ("<digit>", "CD", 2, "compound"),
        ("bits", "NNS", 0, "obj"),
    ]


def test_words_are_located_in_the_text_they_spell() -> None:
    assert locate_words("don't", ["do", "n't"], 3) == [(3, 5), (5, 8)]
    assert locate_words("au", ["à", "le"], 3) == [(3, 5), (3, 5)]
