"""CoNLL-U becomes a document whose offsets count in the text it was made from."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phraseloom.errors import ParserError
from phraseloom.text.document import Document, Source
from phraseloom.text.parsers import Parser, load_parser
from phraseloom.text.parsers.conllu import parse_conllu
from tests.text.laws import check_document

Line = tuple[str, str, str, int | str, str, str]

SAMPLE = """\
# newdoc
# sent_id = 1
# text = Don't merge  object-oriented graphs.
1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_
1\tDo\tdo\tAUX\tVB\t_\t3\taux\t_\t_
2\tn't\tnot\tPART\tRB\t_\t3\tadvmod\t_\t_
3\tmerge\tmerge\tVERB\tVB\t_\t0\troot\t_\t_
3.1\tmerge\tmerge\tVERB\tVB\t_\t_\t_\t0:root\t_
4\tobject\tobject\tNOUN\tNN\t_\t6\tobl:npmod\t_\tSpaceAfter=No
5\t-\t-\tPUNCT\tHYPH\t_\t6\tpunct\t_\tSpaceAfter=No
6\toriented\torient\tADJ\tJJ\t_\t7\tamod\t_\t_
7\tgraphs\tgraph\tNOUN\tNNS\t_\t3\tobj\t_\tSpaceAfter=No
8\t.\t.\tPUNCT\t.\t_\t3\tpunct\t_\t_

# newpar
1\tYes\tyes\tINTJ\t_\t_\t0\troot
2\t!\t!\tPUNCT\t_\t_\t1\tpunct

"""


def rows(*lines: Line) -> str:
    """CoNLL-U of one sentence from number, form, tag, head, relation and MISC."""
    return "".join(
        f"{number}\t{form}\t_\t_\t{tag}\t_\t{head}\t{relation}\t_\t{misc}\n"
        for number, form, tag, head, relation, misc in lines
    )


def arcs(document: Document) -> list[tuple[str, str, int, str]]:
    return [(token.text, token.pos, token.head, token.relation) for token in document.tokens()]


def test_a_real_file() -> None:
    document = parse_conllu(SAMPLE)

    check_document(document)
    assert document.text == "Don't merge  object-oriented graphs.\n\nYes !"
    assert arcs(document) == [
        ("Do", "VB", 2, "aux"),
        ("n't", "RB", 2, "advmod"),
        ("merge", "VB", 2, "root"),
        ("object", "NN", 4, "obl:npmod"),  # the hyphen only joins: it is no word
        ("oriented", "JJ", 5, "amod"),
        ("graphs", "NNS", 2, "obj"),
        (".", ".", 2, "punct"),
        ("Yes", "INTJ", 0, "root"),  # no Penn tag: the universal one
        ("!", "PUNCT", 0, "punct"),
    ]


def test_title_and_body_through_the_protocol() -> None:
    parser: Parser = load_parser("conllu")
    title = rows(("1", "Trees", "NNS", 0, "root", "_"))
    [document, empty] = parser.parse_batch([Source(SAMPLE, title), Source("", " \n\n")])

    assert document.title == "Trees"
    assert [sentence.in_title for sentence in document.sentences] == [True, False, False]
    assert document.sentences[1:] == parse_conllu(SAMPLE).sentences
    assert (empty.text, empty.title, empty.sentences) == ("", "", ())


def test_without_a_text_comment_the_forms_are_joined() -> None:
    without = "\n".join(line for line in SAMPLE.split("\n") if not line.startswith("# text"))
    document = parse_conllu(without)

    check_document(document)
    assert document.text == "Don't merge object-oriented graphs.\n\nYes !"
    assert arcs(document) == arcs(parse_conllu(SAMPLE))


def test_a_text_comment_that_is_not_the_sentence_is_not_believed() -> None:
    document = parse_conllu(SAMPLE.replace("# text = Don't", "# text = Do not"))

    check_document(document)
    assert document.text.startswith("Don't merge object-oriented")


def test_words_that_do_not_spell_their_token_become_one() -> None:
    document = parse_conllu(
        rows(
            ("1", "vamos", "VB", 0, "root", "_"),
            ("2-3", "al", "_", "_", "_", "_"),
            ("2", "a", "IN", 4, "case", "_"),
            ("3", "el", "DT", 4, "det", "_"),
            ("4", "mar", "NN", 1, "obl", "_"),
        )
    )

    check_document(document)
    assert document.text == "vamos al mar"
    assert arcs(document)[1] == ("al", "IN", 2, "case")


def test_a_digit_and_a_hyphenated_word_are_our_words() -> None:
    document = parse_conllu(
        rows(
            ("1", "<", "XX", 2, "punct", "SpaceAfter=No"),
            ("2", "digit", "NN", 4, "nummod", "SpaceAfter=No"),
            ("3", ">", "XX", 2, "punct", "_"),
            ("4", "self-loops", "NNS", 0, "root", "_"),
        )
    )

    check_document(document)
    assert arcs(document) == [
        ("<digit>", "CD", 2, "nummod"),
        ("self", "NNS", 2, "compound"),
        ("loops", "NNS", 2, "root"),
    ]


def test_windows_line_ends_and_a_missing_last_newline() -> None:
    assert parse_conllu(SAMPLE.replace("\n", "\r\n")) == parse_conllu(SAMPLE)
    assert parse_conllu(SAMPLE.rstrip("\n")) == parse_conllu(SAMPLE)


ONE: Line = ("1", "a", "NN", 0, "root", "_")


@pytest.mark.parametrize(
    ("conllu", "message"),
    [
        ("Plain text, not parsed.", "line 1: 1 columns, not 10"),
        ("# text = a\n1\ta\t_\n", "line 2: 3 columns, not 10"),
        (rows(("x", "a", "NN", 0, "root", "_")), "line 1: a line starts with the number"),
        (rows(("1", "", "NN", 0, "root", "_")), "line 1: a line starts with the number"),
        (rows(ONE, ("3", "b", "NN", 1, "dep", "_")), "line 2: 3 is out of order; word 2 is next"),
        (rows(ONE, ("1-2", "ab", "_", "_", "_", "_")), "line 2: 1-2 is out of order"),
        (rows(("1-2", "ab", "_", "_", "_", "_"), ONE), "line 2: words up to 2 are missing"),
        (rows(("1", "a", "NN", "_", "_", "_")), "line 1: the head is '_', not a number"),
        (rows(ONE, ("2", "b", "NN", 9, "dep", "_")), r"line 2: head 9 is outside .* \(1 to 2\)"),
        (rows(("1", "a", "NN", 1, "dep", "_")), "line 1: word 1 is its own ancestor"),
        (
            rows(ONE, ("2", "b", "NN", 3, "dep", "_"), ("3", "c", "NN", 2, "dep", "_")),
            "line [23]: word [23] is its own ancestor",
        ),
    ],
)
def test_a_bad_line_is_refused_by_its_number(conllu: str, message: str) -> None:
    with pytest.raises(ParserError, match=f"CoNLL-U of the text, {message}"):
        parse_conllu(conllu)
    with pytest.raises(ParserError, match=f"CoNLL-U of the title, {message}"):
        parse_conllu("", conllu)


@given(
    st.lists(st.sampled_from(["1", "2", "1-2", "1.1", "a", "\t", "_", "0", "\n", "#", "\x00", "٣"]))
)
def test_anything_else_is_a_document_or_a_parser_error(pieces: list[str]) -> None:
    with suppress(ParserError):
        check_document(parse_conllu("".join(pieces)))


@given(st.data())
def test_any_forest_comes_back(data: st.DataObject) -> None:
    form = st.text(st.characters(categories=["L"]), min_size=1, max_size=5)
    forms = data.draw(st.lists(form, min_size=1, max_size=8))
    heads = [data.draw(st.integers(0, i)) for i in range(len(forms))]  # a head comes earlier
    spaces = [
        data.draw(st.sampled_from(["_", "SpaceAfter=No", "Gloss=x|SpaceAfter=No"])) for _ in forms
    ]
    lines: list[Line] = [
        (str(i + 1), word, "NN", head, "dep", misc)
        for i, (word, head, misc) in enumerate(zip(forms, heads, spaces, strict=True))
    ]
    document = parse_conllu(rows(*lines))

    check_document(document)
    tokens = list(document.tokens())
    assert [token.text for token in tokens] == forms
    assert [token.head for token in tokens] == [h - 1 if h else i for i, h in enumerate(heads)]
