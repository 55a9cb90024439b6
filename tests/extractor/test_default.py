"""The model that comes with the package: the same list whatever a text is searched with."""

import pytest

from phraseloom.extractor import Extractor
from phraseloom.keyphrase import Keyphrase

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
def test_a_batch_changes_neither_phrases_nor_scores(default: Extractor, window_tokens: int) -> None:
    searching = default.with_search(window_tokens=window_tokens)
    alone = [searching.extract(text) for text in TEXTS]

    for batch_size in (2, 7):
        together = list(searching.extract_many(TEXTS, batch_size=batch_size))

        assert [_places(phrases) for phrases in together] == [_places(phrases) for phrases in alone]
        pairs = [
            (one.score, other.score)
            for before, after in zip(alone, together, strict=True)
            for one, other in zip(before, after, strict=True)
        ]
        for one, other in pairs:
            assert one == pytest.approx(other, rel=1.1e-3), "more than the fourth digit"
        # on some machine one of them may lie where rounding turns
        assert sum(one != other for one, other in pairs) <= 1 < len(pairs) / 20


def _places(phrases: list[Keyphrase]) -> list[object]:
    return [(phrase.stems, phrase.rank, phrase.spans) for phrase in phrases]
