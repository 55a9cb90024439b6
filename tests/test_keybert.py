"""``extract_keywords`` takes what KeyBERT's users write, and gives what `extract` gives."""

from collections.abc import Iterator
from typing import Any

import pytest

from phraseloom.errors import OptionsError, PhraseloomError
from phraseloom.extractor import Extractor
from phraseloom.text.parsers import load_parser
from tests.builders import make_styled_model

TEXT = (
    "Graph-based neural networks find keyphrases. The graph is dynamic; it is re-scored after each"
    " phrase, and the Graph based networks say what is left."
)
OTHER = "Sparse matrices are fast."


@pytest.fixture(scope="module")
def extractor() -> Extractor:
    model, config = make_styled_model()
    return Extractor(model, config.search, load_parser("spacy"))


def test_one_text_gives_pairs_and_several_give_lists_of_pairs(extractor: Extractor) -> None:
    pairs = extractor.extract_keywords(TEXT)

    assert pairs == [(phrase.text, phrase.score) for phrase in extractor.extract(TEXT, top=5)]
    several: Any = extractor.extract_keywords([TEXT, OTHER, ""], top_n=3)
    assert [len(pairs) for pairs in several] == [3, 3, 0]
    assert [text for text, _ in several[0]] == [p.text for p in extractor.extract(TEXT, top=3)]
    assert len(extractor.extract_keywords([OTHER])) == 1
    assert extractor.extract_keywords([]) == []


def test_a_call_from_keyberts_own_page_works(extractor: Extractor) -> None:
    pairs: Any = extractor.extract_keywords(
        TEXT, keyphrase_ngram_range=(2, 3), stop_words="english", use_mmr=True, diversity=0.7
    )

    assert len(pairs) == 5
    assert {len(text.replace("-", " ").split()) for text, _ in pairs} <= {2, 3}


@pytest.mark.parametrize("lengths", [(1, 1), (2, 2), (3, 3), (1, 2), (5, 5)])
def test_phrases_are_as_long_as_asked_for(extractor: Extractor, lengths: tuple[int, int]) -> None:
    pairs: Any = extractor.extract_keywords(TEXT, None, lengths, top_n=8)

    assert len(pairs) == 8
    words = {len(text.replace("-", " ").split()) for text, _ in pairs}
    assert words <= set(range(lengths[0], lengths[1] + 1))


def test_candidates_and_seeds_are_those_of_extract(extractor: Extractor) -> None:
    wanted = ["neural networks", "keyphrases", "turbine", "graph"]

    pairs = extractor.extract_keywords(TEXT, wanted, top_n=2)
    assert pairs == [
        (phrase.text, phrase.score) for phrase in extractor.extract(TEXT, candidates=wanted, top=2)
    ]
    short: Any = extractor.extract_keywords(TEXT, wanted, (1, 1))
    assert {text.lower() for text, _ in short} == {"keyphrases", "graph"}
    steered = extractor.extract_keywords(TEXT, seed_keywords=["left"])
    expected = extractor.extract(TEXT, top=5, seeds=["left"])
    assert steered == [(phrase.text, phrase.score) for phrase in expected]


def test_mmr_alone_means_keyberts_own_diversity(extractor: Extractor) -> None:
    half = extractor.extract_keywords(TEXT, diversity=0.5)

    assert extractor.extract_keywords(TEXT, use_mmr=True) == half
    off = extractor.extract_keywords(TEXT, use_mmr=False, diversity=0.9)
    assert off == extractor.extract_keywords(TEXT)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"stop_words": "german"}, "stop_words can only be 'english'.*exclude"),
        ({"keyphrase_ngram_range": (3, 1)}, "max_words must be at least min_words, 3, not 1"),
        ({"keyphrase_ngram_range": 5}, r"such as \(1, 3\), not 5"),
        ({"keyphrase_ngram_range": 10**5000}, r"such as \(1, 3\), not such a int"),
        ({"keyphrase_ngram_range": (1,)}, r"such as \(1, 3\), not \(1,\)"),
        ({"keyphrase_ngram_range": (1, 10**9)}, "max_words must be at most 20, not 1000000000"),
        ({"top_n": 0}, "top must be at least 1"),
        ({"docs": [TEXT, None]}, "a text must be a string, not NoneType"),
        ({"docs": None}, "docs must be a text or a list of texts, not NoneType"),
        ({"highlight": True}, "highlight means nothing here.*spans"),
        ({"use_maxsum": True}, "use_maxsum means nothing here: ask for diversity"),
        ({"nr_candidates": 20}, "nr_candidates means nothing here.*diversity"),
        ({"threshold": 0.5}, "threshold means nothing here.*min_score"),
        ({"vectorizer": object()}, "vectorizer means nothing here.*candidates"),
        ({"min_df": 2}, "min_df means nothing here.*KeyphraseVectorizer"),
        ({"doc_embeddings": [1.0]}, "doc_embeddings means nothing here.*leave it out"),
        ({"word_embeddings": [1.0]}, "word_embeddings means nothing here.*leave it out"),
        ({"colour": "red"}, "extract_keywords has no argument colour"),
    ],
)
def test_what_has_no_meaning_here_is_refused_in_a_line_that_says_what_to_do(
    extractor: Extractor, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(PhraseloomError, match=message) as caught:
        extractor.extract_keywords(**{"docs": TEXT, **arguments})
    assert "\n" not in str(caught.value)


def test_what_asks_for_nothing_is_let_through(extractor: Extractor) -> None:
    plain = extractor.extract_keywords(TEXT)

    assert extractor.extract_keywords(TEXT, vectorizer=None, highlight=False) == plain


def test_a_refusal_comes_before_any_text_is_read(extractor: Extractor) -> None:
    def read() -> Iterator[str]:
        raise AssertionError("a text was read")
        yield

    with pytest.raises(OptionsError):
        extractor.extract_keywords(read(), keyphrase_ngram_range=(1, 10**9))
