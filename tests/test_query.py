"""What the options ask of a document, as slots: against definitions written as loops."""

from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from phraseloom.config import SearchConfig
from phraseloom.errors import OptionsError
from phraseloom.options import Options
from phraseloom.query import adapt_search, build_queries, cut_windows
from phraseloom.search.decode import Query
from phraseloom.slots import FIRST_WORD, Phrase
from phraseloom.text.document import Document, Sentence, Token
from phraseloom.text.matching import unit_stems
from phraseloom.text.words import as_word, is_word, stem

WORDS = ["graph", "Graphs", "tree", "c++", "c", "+", "web2.0", "3d", ",", ".", "…", "A"]
sentences = st.lists(st.lists(st.sampled_from(WORDS), max_size=8), max_size=4)
phrases = st.lists(
    st.lists(st.sampled_from([*WORDS, "node"]), min_size=1, max_size=3).map(" ".join), max_size=4
)


def make_document(texts: Sequence[Sequence[str]], *, title: int = 0) -> Document:
    """Sentences of tokens, each token hanging on the one before."""
    text, made = "", []
    for number, words in enumerate(texts):
        tokens = []
        for i, token in enumerate(words):
            word = as_word(token)
            place = (len(text), len(text) + len(token))
            tokens.append(Token(token, *place, "NN", max(i - 1, 0), "dep", word, stem(word)))
            text += f"{token} "
        made.append(Sentence(tuple(tokens), in_title=number < title))
    return Document(text, "", tuple(made))


def ask(document: Document, options: Options) -> Query:
    [query] = build_queries(document, [document], options)
    return query


def slots_of(document: Document) -> dict[str, int]:
    stems = dict.fromkeys(token.stem for token in document.tokens())
    return {stem: slot for slot, stem in enumerate(stems, FIRST_WORD)}


def runs(document: Document) -> list[tuple[Phrase, tuple[str, ...]]]:
    """Every run of tokens inside a sentence, as slots and as units."""
    slots = slots_of(document)
    return [
        (
            tuple(slots[token.stem] for token in sentence.tokens[start:end]),
            tuple(unit for t in sentence.tokens[start:end] for unit in unit_stems(t.word)),
        )
        for sentence in document.sentences
        for start in range(len(sentence.tokens))
        for end in range(start + 1, len(sentence.tokens) + 1)
    ]


@given(sentences)
def test_segments_are_runs_of_words_inside_sentences(texts: list[list[str]]) -> None:
    document = make_document(texts)
    slots, expected = slots_of(document), []
    for sentence in document.sentences:
        segment: list[int] = []
        for token in sentence.tokens:
            if any(character.isalnum() for character in token.word):
                segment.append(slots[token.stem])
            else:
                expected.append(segment)
                segment = []
        expected.append(segment)

    assert ask(document, Options()).segments == [segment for segment in expected if segment]


@given(sentences, phrases)
@example([["web2.0"]], ["web2.0", *"abcdefghijklmnop"])
def test_every_run_that_reads_like_an_excluded_phrase_is_excluded(
    texts: list[list[str]], exclude: list[str]
) -> None:
    document = make_document(texts)
    units = {unit_stems(phrase) for phrase in exclude} - {()}
    slots = slots_of(document)
    joined = {
        tuple(slots[unit] for unit in of_phrase)
        for of_phrase in units
        if all(unit in slots for unit in of_phrase)
    }

    excluded = ask(document, Options(exclude=exclude)).excluded

    assert excluded == {run for run, of_run in runs(document) if of_run in units} | joined


@given(sentences, phrases, st.integers(1, 2), st.integers(2, 3))
def test_candidates_are_the_runs_that_read_like_one_of_them(
    texts: list[list[str]], candidates: list[str], least: int, most: int
) -> None:
    document = make_document(texts)
    wanted = {unit_stems(phrase) for phrase in candidates if any(map(str.isalnum, phrase))}

    options = Options(candidates=candidates, min_words=least, max_words=most)
    segments = [tuple(segment) for segment in ask(document, options).segments]

    readings = {run: of_run for run, of_run in runs(document) if of_run in wanted}
    assert len(set(segments)) == len(segments)
    assert set(segments) <= {run for run in readings if least <= len(run) <= most}
    unbounded = [tuple(s) for s in ask(document, Options(candidates=candidates)).segments]
    assert {readings[run] for run in unbounded} == set(readings.values())


def test_seeds_are_counted_by_all_their_words_and_known_by_those_in_the_text() -> None:
    document = make_document([["Graph", "trees", "grow"]])

    query = ask(document, Options(seeds=["graph network", "TREE tree", "..."]))

    slots = slots_of(document)
    assert [(set(seed.slots), seed.words) for seed in query.seeds] == [
        ({slots["graph"]}, 2),
        ({slots["tree"]}, 1),
    ]
    assert ask(document, Options(seeds=["turbine"])).seeds == []


@given(sentences, st.integers(1, 10), st.integers(0, 1))
def test_windows_hold_every_token_and_their_heads_stay_inside(
    texts: list[list[str]], budget: int, title: int
) -> None:
    document = make_document(texts, title=title)

    windows = cut_windows(document, budget)

    assert sorted({token.start for window in windows for token in window.tokens()}) == [
        token.start for token in document.tokens()
    ]
    for window in windows:
        assert sum(len(sentence.tokens) for sentence in window.sentences) <= budget
        for sentence in window.sentences:
            assert all(0 <= token.head < len(sentence.tokens) for token in sentence.tokens)
            for i, token in enumerate(sentence.tokens):
                assert token.relation == "root" or i == 0 or token.head == i - 1


def test_a_document_that_fits_is_its_own_window_and_an_empty_one_has_none() -> None:
    document = make_document([["graph", "tree"], ["node"]])

    assert cut_windows(document, 3) == [document]
    assert cut_windows(make_document([]), 3) == []
    assert cut_windows(make_document([[]]), 3) == []


@pytest.mark.parametrize(
    ("options", "changes"),
    [
        (Options(), {}),
        (Options(max_words=2), {"max_words": 2}),
        (Options(min_words=5), {"max_words": 5}),
        (Options(min_score=0.4), {"min_score": 0.4}),
        (Options(diversity=0.5), {"lambda1": 1.0}),
        (Options(diversity=0), {"lambda1": 0.0}),
    ],
)
def test_a_search_is_changed_only_as_the_options_ask(
    options: Options, changes: dict[str, float]
) -> None:
    search = SearchConfig(max_words=3, min_score=0.2, lambda1=0.7)

    assert adapt_search(search, options, []) == search.model_copy(update=changes)


def test_the_most_diverse_search_is_still_a_search() -> None:
    assert 100 < adapt_search(SearchConfig(), Options(diversity=1), []).lambda1 < 10_000


def test_candidates_may_be_of_any_length() -> None:
    queries = [Query([[2, 3, 4, 5]]), Query([])]
    search, options = SearchConfig(max_words=2), Options(candidates=["four of these words"])

    assert adapt_search(search, options, queries).max_words == 4
    assert adapt_search(search, options, []).max_words == 1


def test_a_free_search_has_no_seeds() -> None:
    with pytest.raises(OptionsError, match=r"with_search\(mode='extractive'\)"):
        adapt_search(SearchConfig(mode="free"), Options(seeds=["graph"]), [])


@pytest.mark.parametrize(
    ("word", "expected"), [("graph", True), ("3", True), ("c++", True), ("...", False), ("", False)]
)
def test_a_word_has_a_letter_or_a_digit(word: str, expected: bool) -> None:
    assert is_word(word) is expected
