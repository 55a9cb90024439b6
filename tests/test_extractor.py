"""Laws of the extractor, whatever its weights: every phrase stands in the text it came from."""

import pytest
import torch

from phraseloom.config import ModelConfig, SearchConfig
from phraseloom.data.lexicon import Lexicon
from phraseloom.data.vocab import Labels, Vocabulary
from phraseloom.errors import ConfigError, PhraseloomError
from phraseloom.extractor import Extractor, cut_windows, document_segments
from phraseloom.model.network import KeyphraseModel
from phraseloom.text.document import Document, Source
from phraseloom.text.parse import Parser, load_parser
from phraseloom.text.stem import stem

TEXT = (
    "Graph-based neural networks find keyphrases. The graph 😀 is dynamic; it is re-scored\n"
    "after each phrase, and the Graph based networks say what is left."
)
SHORT = "Sparse matrices are fast."


@pytest.fixture(scope="module")
def parser() -> Parser:
    return load_parser("spacy")


def make_extractor(parser: Parser, *, window: int = 600, styles: tuple[str, ...] = ()) -> Extractor:
    torch.manual_seed(0)
    lexicon = Lexicon(
        words=Vocabulary(("graph", "network", "the")),
        pos_tags=Labels.of(["NN"]),
        relations=Labels.of(["nsubj"]),
        styles=styles,
        min_n=3,
        max_n=5,
        buckets=50,
    )
    config = ModelConfig(
        word_width=8, width=12, layers=2, decoder_layers=1, attention="bilinear", styles=styles
    )
    model = KeyphraseModel(config, lexicon)
    search = SearchConfig(width=3, max_words=3, max_phrases=5, window=window)
    return Extractor(model, lexicon, search, parser)


def parse(parser: Parser, text: str, title: str = "") -> Document:
    return parser.parse_batch([Source(text, title)])[0]


def test_every_span_is_the_phrase(parser: Parser) -> None:
    phrases = make_extractor(parser).extract(TEXT, title="Dynamic graphs", top=8)

    assert len(phrases) == 8
    for phrase in phrases:
        places = [TEXT[start:end] for start, end in phrase.spans]
        places += ["Dynamic graphs"[start:end] for start, end in phrase.title_spans]
        assert " ".join(phrase.text.split()) in {" ".join(place.split()) for place in places}
        for place in places:
            words = place.replace("-", " ").split()
            assert tuple(stem(word) for word in words) == phrase.stems


def test_scores_fall_with_the_rank_when_a_number_is_asked_for(parser: Parser) -> None:
    phrases = make_extractor(parser).extract(TEXT, top=6)

    scores = [phrase.score for phrase in phrases]
    assert scores == sorted(scores, reverse=True)
    assert [phrase.rank for phrase in phrases] == [1, 2, 3, 4, 5, 6]
    assert all(0 < score <= 1 for score in scores)


def test_a_batch_gives_what_each_text_gives_alone(parser: Parser) -> None:
    extractor = make_extractor(parser)
    texts = [TEXT, "", SHORT, "   ", TEXT[:60]]

    together = list(extractor.extract_many(texts, batch_size=2))

    for text, phrases in zip(texts, together, strict=True):
        alone = extractor.extract(text)
        assert [phrase.stems for phrase in phrases] == [phrase.stems for phrase in alone]
        assert [phrase.spans for phrase in phrases] == [phrase.spans for phrase in alone]


@pytest.mark.parametrize("text", ["", " \n\t", "...", "😀 😀", "\x00"])
def test_text_without_words_has_no_phrases(parser: Parser, text: str) -> None:
    assert make_extractor(parser).extract(text) == []


def test_windows_hold_every_token_once_and_the_title_in_each(parser: Parser) -> None:
    document = parse(parser, TEXT * 3, title="Dynamic graphs")

    windows = cut_windows(document, budget=15)

    assert len(windows) > 2
    body = [token for token in document.tokens() if token not in document.sentences[0].tokens]
    seen = []
    for window in windows:
        assert window.sentences[0].in_title
        assert sum(len(sentence.tokens) for sentence in window.sentences) <= 15
        for sentence in window.sentences:
            assert all(0 <= token.head < len(sentence.tokens) for token in sentence.tokens)
            if not sentence.in_title:
                seen += [(token.start, token.end) for token in sentence.tokens]
    assert seen == [(token.start, token.end) for token in body]


def test_a_long_document_is_searched_to_its_end(parser: Parser) -> None:
    long = (TEXT + "\n\n") * 4 + "Hydraulic turbines spin."

    phrases = make_extractor(parser, window=25).extract(long, top=40)

    assert any("turbin" in phrase.stems for phrase in phrases)
    for phrase in phrases:
        assert phrase.spans


def test_a_document_that_fits_is_one_window(parser: Parser) -> None:
    document = parse(parser, SHORT)

    assert cut_windows(document, budget=100) == [document]


def test_segments_end_at_sentences_and_punctuation(parser: Parser) -> None:
    document = parse(parser, "Fast graphs, sparse graphs. Trees")

    assert document_segments(document) == [[2, 3], [5, 3], [7]]


def test_bad_requests_name_the_fix(parser: Parser) -> None:
    with pytest.raises(PhraseloomError, match="top must be at least 1"):
        make_extractor(parser).extract(TEXT, top=0)
    with pytest.raises(PhraseloomError, match="unknown style 'poet'.*author, indexer"):
        make_extractor(parser, styles=("author", "indexer")).extract(TEXT, style="poet")


def test_the_style_reaches_the_network(parser: Parser) -> None:
    extractor = make_extractor(parser, styles=("author", "indexer"))

    author = extractor.extract(TEXT, style="author")

    assert author == extractor.extract(TEXT)
    assert author != extractor.extract(TEXT, style="indexer")


def test_another_search_shares_the_weights_and_leaves_the_first_as_it_was(parser: Parser) -> None:
    extractor = make_extractor(parser)
    before = extractor.extract(TEXT)

    short = extractor.with_search(max_words=1, max_phrases=2)

    assert all(len(phrase.stems) == 1 for phrase in short.extract(TEXT, top=9))
    assert len(short.extract(TEXT)) <= 2
    assert short.search.width == extractor.search.width
    assert short.model is extractor.model
    assert short.parser is extractor.parser
    assert extractor.extract(TEXT) == before


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"widht": 3}, "unknown setting search.widht; did you mean search.width?"),
        ({"stop": 2}, "setting search.stop = 2: .*less than or equal to 1"),
        ({"mode": "wild"}, "setting search.mode = 'wild'"),
    ],
)
def test_a_search_that_cannot_be_is_refused_in_one_line(
    parser: Parser, changes: dict[str, object], message: str
) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        make_extractor(parser).with_search(**changes)
    assert "\n" not in str(caught.value)


def test_a_parsed_document_gives_what_its_text_gives(parser: Parser) -> None:
    extractor = make_extractor(parser)
    documents = extractor.parser.parse_batch([Source(TEXT, "Graphs")])

    assert extractor.extract_parsed(documents, top=3) == [
        extractor.extract(TEXT, title="Graphs", top=3)
    ]
