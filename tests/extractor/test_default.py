"""The model that comes with the package: the same list whatever a text is searched with."""

import pytest

from phraseloom.extractor import Extractor

ABSTRACT = (
    "Graph convolutional networks read dependency trees. We weigh the edges of such a tree anew for"
    " each keyphrase, so that what was said before is not said again. Experiments on five data sets"
    " show that dynamic graphs find more of the keyphrases that authors chose, and that a small"
    " network of three layers, trained on two cores, is enough for abstracts and for news."
)
TEXTS = [
    ABSTRACT,
    "",
    "Cold!",
    "The council closed the old swimming pool; the swimming club is looking for another pool.",
    "(((.",
    f"{ABSTRACT} {ABSTRACT[::-1]}",
    ABSTRACT.upper(),
]


@pytest.fixture(scope="module")
def default() -> Extractor:
    return Extractor.load()


@pytest.mark.filterwarnings("ignore::phraseloom.errors.LanguageWarning")
@pytest.mark.parametrize("window_tokens", [40, 600])
def test_a_batch_changes_neither_phrases_nor_scores(
    default: Extractor, monkeypatch: pytest.MonkeyPatch, window_tokens: int
) -> None:
    monkeypatch.setattr("phraseloom.keyphrase.round_score", lambda score: score)  # every bit
    searching = default.with_search(window_tokens=window_tokens)
    alone = [searching.extract(text) for text in TEXTS]

    for batch_size in (2, 7):
        assert list(searching.extract_many(TEXTS, batch_size=batch_size)) == alone


def test_candidates_are_worth_the_same_alone_and_in_a_batch() -> None:
    extractor = Extractor.load()
    texts = [
        "Graph networks read whole sentences, and a decoder copies phrases from parse trees.",
        "Lentil soup with lemon and cumin keeps for days; it freezes well, and garlic, olive oil,"
        " onions, pepper, salt and bread go with it.",
    ]
    candidates = ["networks", "sentences", "decoder", "phrases", "trees", "soup", "lemon", "cumin"]
    candidates += ["days", "garlic", "oil", "onions", "pepper", "salt", "bread"]

    alone = [extractor.extract(text, candidates=candidates) for text in texts]

    assert extractor.extract(texts, candidates=candidates) == alone
