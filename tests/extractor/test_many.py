"""Many texts in several processes: the same phrases, in order, holding little."""

import itertools
import multiprocessing
from collections.abc import Iterator
from typing import Any

import pytest

from phraseloom.errors import LanguageWarning, OptionsError
from phraseloom.extractor import Extractor
from phraseloom.text.document import Source

TEXTS = [f"Sparse graph {word} networks are fast, and trees grow." for word in "abcdefg"]
GERMAN = (
    "Wir stellen ein Verfahren vor, das die wichtigen Wörter eines Textes findet und nach dem Wert"
    " ordnet, den sie für einen Leser haben, der nicht viel Zeit hat."
)


def test_processes_give_what_one_gives_and_search_alike(extractor: Extractor) -> None:
    searching = extractor.with_search(max_words=2)
    sources = [Source(text, "Trees") for text in TEXTS]

    one = list(searching.extract_many(sources, top=3, candidates=["trees", "graph"], batch_size=2))
    two = list(
        searching.extract_many(
            sources, top=3, candidates=["trees", "graph"], batch_size=2, workers=2
        )
    )

    assert two == one
    assert all(len(phrases) == 2 for phrases in one)


def test_endless_texts_are_read_a_little_ahead(extractor: Extractor) -> None:
    numbers = itertools.count()

    def endless() -> Iterator[str]:
        for number in numbers:
            assert number < 100, "read far ahead"
            yield f"Tree {number} grows."

    stream = extractor.extract_many(endless(), top=1, batch_size=2, workers=2)
    for _ in range(5):
        next(stream)
    stream.close()  # type: ignore[attr-defined]  # it is a generator

    assert next(numbers) <= 2 * (3 + 3 * 2)
    assert not multiprocessing.active_children()


@pytest.mark.parametrize("value", [0, -1, 10**9, 1.5, "2", None])
@pytest.mark.parametrize("name", ["workers", "batch_size"])
def test_a_number_that_cannot_be_is_refused_at_once(
    extractor: Extractor, name: str, value: Any
) -> None:
    with pytest.raises(OptionsError, match=f"^{name} must be"):
        extractor.extract_many(TEXTS, **{name: value})


@pytest.mark.parametrize("sources", [None, 3, 1.5, object(), "one text", Source("one text")])
def test_what_is_no_list_of_texts_is_refused_at_once(extractor: Extractor, sources: Any) -> None:
    with pytest.raises(OptionsError, match="^give a list of texts"):
        extractor.extract_many(sources)


@pytest.mark.parametrize("threads", [0, 1.5, "2", 10**9])
def test_threads_that_cannot_be_are_refused(extractor: Extractor, threads: Any) -> None:
    with pytest.raises(OptionsError, match="^threads must be"):
        Extractor(extractor.model, extractor.search, extractor.parser, threads=threads)


def test_the_number_of_threads_changes_no_phrase(extractor: Extractor) -> None:
    lists = []
    for threads in (1, 2, 3):
        threaded = Extractor(extractor.model, extractor.search, extractor.parser, threads=threads)
        lists.append([threaded.extract(text) for text in TEXTS])
        lists.append(list(threaded.extract_many(TEXTS, batch_size=3)))

    phrases = [
        [[(phrase.text, phrase.spans) for phrase in of_text] for of_text in of_texts]
        for of_texts in lists
    ]
    assert all(other == phrases[0] for other in phrases)


def test_a_foreign_text_is_warned_of_wherever_it_is_read(extractor: Extractor) -> None:
    with pytest.warns(LanguageWarning, match="'Wir stellen ein.*…' is probably German") as caught:
        extractor.extract(GERMAN, top=1)
    assert caught[0].filename == __file__
    with pytest.warns(LanguageWarning) as caught:
        list(extractor.extract_many([*TEXTS, GERMAN], top=1))
    assert len(caught) == 1


def test_phrases_and_extractors_print_well(extractor: Extractor) -> None:
    [phrase] = extractor.extract("Trees grow.", title="Trees", top=1, candidates=["tree"])

    assert str(phrase) == f"Trees ({phrase.score:.3f})"
    assert repr(phrase) == (
        f"Keyphrase('Trees', score={phrase.score:.3f}, rank=1, spans=[(0, 5)],"
        " title_spans=[(0, 5)])"
    )
    assert repr(extractor).startswith(
        "<Extractor: dgcn of 3 words, styles author, indexer; extractive search; spacy:"
    )
