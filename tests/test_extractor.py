"""Laws of the extractor, whatever its weights: every phrase stands in the text it came from."""

from typing import Any

import pytest

from phraseloom.config import ModelConfig, SearchConfig
from phraseloom.errors import ConfigError, PhraseloomError
from phraseloom.extractor import Extractor
from phraseloom.network.model import KeyphraseModel
from phraseloom.text.document import Document, Source
from phraseloom.text.parsers import Parser, load_parser
from phraseloom.text.words import stem
from tests.builders import make_english_lexicon, make_weights

TEXT = (
    "Graph-based neural networks find keyphrases. The graph 😀 is dynamic; it is re-scored\n"
    "after each phrase, and the Graph based networks say what is left."
)
SHORT = "Sparse matrices are fast."


@pytest.fixture(scope="module")
def parser() -> Parser:
    return load_parser("spacy")


def make_extractor(parser: Parser, *, window: int = 600, styles: tuple[str, ...] = ()) -> Extractor:
    lexicon = make_english_lexicon(styles=styles)
    config = ModelConfig(
        word_width=8, width=12, layers=2, decoder_layers=1, attention="bilinear", styles=styles
    )
    model = KeyphraseModel(config, lexicon, make_weights(config, lexicon))
    search = SearchConfig(beam_width=3, max_words=3, max_phrases=5, window_tokens=window)
    return Extractor(model, search, parser)


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


def test_a_list_of_texts_gives_a_list_and_calling_is_extracting(parser: Parser) -> None:
    extractor = make_extractor(parser)

    assert extractor.extract([TEXT, SHORT], top=2) == list(
        extractor.extract_many([TEXT, SHORT], top=2)
    )
    assert extractor(TEXT, top=2) == extractor.extract(TEXT, top=2)
    with pytest.raises(PhraseloomError, match="as Source"):
        extractor.extract([TEXT], title="Graphs")  # type: ignore[call-overload]


@pytest.mark.parametrize("text", ["", " \n\t", "...", "😀 😀", "\x00"])
def test_text_without_words_has_no_phrases(parser: Parser, text: str) -> None:
    assert make_extractor(parser).extract(text) == []


def test_a_long_document_is_searched_to_its_end(parser: Parser) -> None:
    long = (TEXT + "\n\n") * 4 + "Hydraulic turbines spin."

    phrases = make_extractor(parser, window=25).extract(long, top=40)

    assert any("turbin" in phrase.stems for phrase in phrases)
    for phrase in phrases:
        assert phrase.spans


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
    assert short.search.beam_width == extractor.search.beam_width
    assert short.model is extractor.model
    assert short.parser is extractor.parser
    assert extractor.extract(TEXT) == before


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"beam_widht": 3}, "unknown setting search.beam_widht; did you mean search.beam_width?"),
        ({"min_score": 2}, "setting search.min_score = 2: .*less than or equal to 1"),
        ({"mode": "wild"}, "setting search.mode = 'wild'"),
        ({"lambda1": 10**5000}, "setting search.lambda1 = such a int"),
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


def test_only_candidates_that_stand_in_the_text_come_back_and_all_of_them(parser: Parser) -> None:
    extractor = make_extractor(parser)
    wanted = ["graph BASED network", "Graphs", "dynamic", "says what is left of", "turbines", "..."]

    phrases = extractor.extract(TEXT, candidates=iter(wanted))

    assert {phrase.text.lower() for phrase in phrases} == {
        *("graph-based networks", "graph based networks", "graph", "dynamic")
    } & {phrase.text.lower() for phrase in phrases}
    assert {phrase.stems for phrase in phrases} == {
        ("graph", "base", "network"),
        ("graph",),
        ("dynam",),
    }
    scores = [phrase.score for phrase in phrases]
    assert scores == sorted(scores, reverse=True)
    assert all(phrase.spans for phrase in phrases)
    best = extractor.extract(TEXT, candidates=wanted, top=2)
    assert [phrase.stems for phrase in best] == [phrase.stems for phrase in phrases[:2]]


def test_candidates_may_be_longer_than_the_search_looks_for(parser: Parser) -> None:
    extractor = make_extractor(parser).with_search(max_words=1)

    [phrase] = extractor.extract(TEXT, candidates=["networks say what is left"])

    assert phrase.text == "networks say what is left"


def test_candidates_are_looked_for_in_every_window(parser: Parser) -> None:
    long = (TEXT + "\n\n") * 4 + "Hydraulic turbines spin."
    words = {token.word for token in parse(parser, long).tokens() if token.word.isalpha()}

    phrases = make_extractor(parser, window=25).extract(long, candidates=sorted(words))

    assert {phrase.stems for phrase in phrases} == {(stem(word),) for word in words}


def test_no_candidate_no_phrase(parser: Parser) -> None:
    extractor = make_extractor(parser)

    assert extractor.extract(TEXT, candidates=[]) == []
    assert list(extractor.extract_many([TEXT, ""], candidates=["turbine"], top=3)) == [[], []]


def test_seeds_bring_their_phrases_to_the_top(parser: Parser) -> None:
    extractor = make_extractor(parser).with_search(beam_width=50)
    unlisted = {token.word for token in parse(parser, TEXT).tokens() if token.word.isalpha()}
    for phrase in extractor.extract(TEXT, top=4):
        unlisted = {word for word in unlisted if stem(word) not in phrase.stems}
    assert unlisted

    for word in sorted(unlisted):
        steered = extractor.extract(TEXT, top=4, seeds=[word.upper(), "turbine"])
        assert stem(word) in steered[0].stems


def test_seeds_that_stand_nowhere_change_nothing(parser: Parser) -> None:
    extractor = make_extractor(parser)

    assert extractor.extract(TEXT, seeds=["turbine", "", "..."]) == extractor.extract(TEXT)


def test_diversity_says_less_twice(parser: Parser) -> None:
    extractor = make_extractor(parser)

    def repetitions(diversity: float) -> int:
        stems = [
            stem
            for phrase in extractor.extract(TEXT, top=6, diversity=diversity)
            for stem in phrase.stems
        ]
        return len(stems) - len(set(stems))

    assert repetitions(1.0) <= repetitions(0.0)
    same = extractor.with_search(lambda1=1.0).extract(TEXT, top=6)
    assert extractor.extract(TEXT, top=6, diversity=0.5) == same


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"candidates": "graph"}, "candidates must be a list of phrases, not one string"),
        ({"candidates": ["graph", 3]}, "candidates must be strings, not int"),
        ({"seeds": "graph"}, "seeds must be a list"),
        ({"diversity": 1.5}, "diversity must be at most 1, not 1.5"),
        ({"title": 7}, "a title must be a string, not int"),
    ],
)
def test_options_that_cannot_be_meant_are_refused(
    parser: Parser, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(PhraseloomError, match=message):
        make_extractor(parser).extract(TEXT, **options)


def test_what_is_no_text_is_refused(parser: Parser) -> None:
    extractor = make_extractor(parser)

    with pytest.raises(PhraseloomError, match="a text must be a string, not float"):
        list(extractor.extract_many([TEXT, float("nan")]))  # type: ignore[list-item]
    with pytest.raises(PhraseloomError, match=r"with_search\(mode='extractive'\)"):
        extractor.with_search(mode="free").extract(TEXT, seeds=["graph"])
