"""The default parser keeps the laws for any text and gets benchmark and natural text right."""

import random
import resource

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc
from threadpoolctl import threadpool_info, threadpool_limits

from phraseloom.errors import ParserError
from phraseloom.text.document import Document, Source
from phraseloom.text.parsers import Parser, load_parser
from phraseloom.text.parsers import spacy as module
from phraseloom.text.parsers.assemble import Row
from phraseloom.text.words import DIGIT
from tests.text.laws import ODD_TEXTS, check_document, texts

sources = st.builds(Source, texts(), texts(max_size=20))

NATURAL = (
    "Object-oriented client/server systems use 16 GB, i.e. 3.5% of Bob's 1,000 nodes. We can't."
)
BENCHMARK = "object oriented systems ( <digit> to <digit> ) use <digit> <digit> % of nodes ."


def words(document: Document) -> list[str]:
    return [token.word for token in document.tokens()]


def parse(parser: Parser, text: str, title: str = "") -> Document:
    [document] = parser.parse_batch([Source(text, title)])
    return document


@settings(max_examples=60)
@given(source=sources)
def test_any_text_keeps_the_laws(spacy_parser: Parser, source: Source) -> None:
    document = parse(spacy_parser, *source)

    assert (document.text, document.title) == source
    check_document(document)


@pytest.mark.parametrize("text", ODD_TEXTS.values(), ids=ODD_TEXTS.keys())
def test_odd_text_keeps_the_laws(spacy_parser: Parser, text: str) -> None:
    check_document(parse(spacy_parser, text))
    check_document(parse(spacy_parser, "", title=text))


@settings(max_examples=15)
@given(batch=st.lists(sources, max_size=5))
def test_a_batch_of_many_equals_many_batches_of_one(
    spacy_parser: Parser, batch: list[Source]
) -> None:
    alone = [parse(spacy_parser, *source) for source in batch]

    assert spacy_parser.parse_batch(batch) == alone


def test_products_of_numpy_change_no_tree(
    spacy_parser: Parser, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert isinstance(spacy_parser, module.SpacyParser)
    monkeypatch.setattr(module, "_multiply_with_numpy", lambda nlp: None)
    usual = module.SpacyParser()
    texts = [Source(NATURAL, "A title"), Source(BENCHMARK), *map(Source, ODD_TEXTS.values())]

    assert [uses_blis(each) for each in (usual, spacy_parser)] == [{True}, {False}]
    assert spacy_parser.parse_batch(texts) == usual.parse_batch(texts)


def uses_blis(parser: module.SpacyParser) -> set[bool]:
    models = [component.model for _, component in parser._nlp.pipeline]  # type: ignore[attr-defined]  # spaCy types components as callables
    return {layer.ops.use_blis for model in models for layer in model.walk()}


def test_a_text_is_parsed_on_one_thread(
    spacy_parser: Parser, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    read = module._rows

    def watch(doc: Doc, offset: int) -> list[list[Row]]:
        seen.append(threads())
        return read(doc, offset)

    monkeypatch.setattr(module, "_rows", watch)
    with threadpool_limits(2, user_api="blas"):
        before = threads()
        parse(spacy_parser, NATURAL)

        assert (seen, threads()) == ([{1}], before)


def threads() -> set[int]:
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def test_a_long_text_can_be_given_up_between_two_stretches(spacy_parser: Parser) -> None:
    calls: list[None] = []

    def give_up() -> None:
        calls.append(None)
        if len(calls) == 2:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        spacy_parser.parse_batch([Source("Trees grow. " * 5_000)], between=give_up)


def test_no_tokens_no_sentences(spacy_parser: Parser) -> None:
    assert spacy_parser.parse_batch([]) == []
    assert parse(spacy_parser, ODD_TEXTS["white space"]).sentences == ()


def test_natural_text(spacy_parser: Parser) -> None:
    document = parse(spacy_parser, NATURAL)

    assert [len(sentence.tokens) for sentence in document.sentences] == [18, 4]
    assert " ".join(token.text for token in document.tokens()) == (
        "Object oriented client server systems use 16 GB , i.e. 3.5 % of Bob 's 1,000 nodes . "
        "We ca n't ."
    )
    tags = {token.text: token.pos for token in document.tokens()}
    assert (tags["systems"], tags["use"], tags["16"]) == ("NNS", "VBP", "CD")
    tokens = document.sentences[0].tokens
    subject = next(token for token in tokens if token.text == "systems")
    assert (tokens[subject.head].text, subject.relation) == ("use", "nsubj")


def test_benchmark_text_is_cut_at_its_spaces(spacy_parser: Parser) -> None:
    document = parse(spacy_parser, BENCHMARK)

    assert words(document) == BENCHMARK.split()
    assert {token.pos for token in document.tokens() if token.word == DIGIT} == {"CD"}


def test_a_digit_is_parsed_as_the_number_it_stands_for(spacy_parser: Parser) -> None:
    masked = parse(spacy_parser, "a set of <digit> graphs").sentences[0].tokens
    number = parse(spacy_parser, "a set of 1000000 graphs").sentences[0].tokens

    assert [t._replace(text="") for t in masked] == [t._replace(text="") for t in number]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<digit>-<digit>", "<digit> <digit>"),
        ("<digit>/<digit>", "<digit> <digit>"),
        ("(<digit>)", "( <digit> )"),
        ("[<digit>],", "[ <digit> ] ,"),
        ("<digit>%", "<digit> %"),
        ("<digit>.", "<digit> ."),
        ("<digit>-bit", "<digit> bit"),
        ("x<digit>", "x <digit>"),
        ("<digit><digit>", "<digit> <digit>"),
        ("<digit>.<digit>", "<digit> . <digit>"),
        ("id based 3g im <unk> 10nm", "id based 3g im <unk> 10nm"),
    ],
)
def test_words_are_whole(spacy_parser: Parser, text: str, expected: str) -> None:
    assert " ".join(words(parse(spacy_parser, text))) == expected


def test_title_and_body_are_apart(spacy_parser: Parser) -> None:
    document = parse(spacy_parser, "of trees", title="A graph")

    assert [sentence.in_title for sentence in document.sentences] == [True, False]
    assert [token.start for token in document.tokens()] == [0, 2, 0, 3]


def test_a_long_text_is_cut_into_pieces_that_lose_nothing(spacy_parser: Parser) -> None:
    chooser = random.Random(0)
    sentences = [NATURAL, BENCHMARK, "Short one.", "y" * 200, "\n\n"]
    text = " ".join(chooser.choices(sentences, k=2_000))[:50_000]
    document = parse(spacy_parser, text)

    check_document(document)
    spelled = "".join(token.text for token in document.tokens())
    assert len(spelled) == sum(not c.isspace() and c not in "-/" for c in text)


@pytest.mark.slow
def test_a_very_long_text_takes_little_memory(spacy_parser: Parser) -> None:
    text = f"{NATURAL} {BENCHMARK}\n" * 2_000
    assert len(text) > 330_000
    peak_before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    document = parse(spacy_parser, text)
    kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak_before

    assert sum(1 for _ in document.tokens()) > 66_000
    assert kilobytes < 250_000


def test_a_missing_model_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MODELS", ("no_such_model",))
    with pytest.raises(ParserError, match="pip install en-core-web-sm"):
        load_parser("spacy")


def test_an_unknown_parser_is_refused() -> None:
    with pytest.raises(ParserError, match="choose spacy, stanza or conllu"):
        load_parser("corenlp")
