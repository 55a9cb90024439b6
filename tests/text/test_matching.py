"""Present keyphrases are those that a plain search over all places finds."""

from hypothesis import given
from hypothesis import strategies as st

from phraseloom.text.document import Document
from phraseloom.text.matching import Occurrence, split_keywords, unit_stems
from phraseloom.text.parsers.conllu import parse_conllu
from tests.train.corpus.chains import chain

WORDS = ["graph", "Graphs", "node", "nodes", "c++", "10.5", "2021", "a", "+"]
sentences = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=8), max_size=4)
phrases = st.lists(st.lists(st.sampled_from([*WORDS, "c", "."]), max_size=4), max_size=6)


def parse(text: str) -> Document:
    return parse_conllu(chain(text))


def first_occurrence(document: Document, phrase: str) -> tuple[int, int] | None:
    """Try every run of tokens in every sentence, in order of its first token."""
    wanted = unit_stems(phrase)
    offset = 0
    for sentence in document.sentences:
        words = [token.word for token in sentence.tokens]
        for start in range(len(words)):
            for end in range(start + 1, len(words) + 1):
                found = tuple(unit for word in words[start:end] for unit in unit_stems(word))
                if found == wanted:
                    return offset + start, end - start
        offset += len(words)
    return None


@given(sentences, phrases)
def test_equals_a_naive_loop(body: list[list[str]], keywords: list[list[str]]) -> None:
    document = parse(" . ".join(map(" ".join, body)))
    given_phrases = [" ".join(words) for words in keywords]
    split = split_keywords(document, given_phrases)

    distinct = {unit_stems(p): p for p in reversed(given_phrases) if any(map(str.isalnum, p))}
    found = {p: first_occurrence(document, p) for p in distinct.values()}
    present = [Occurrence(p, *place) for p, place in found.items() if place]
    assert set(split.present) == set(present)
    assert set(split.absent) == {p for p, place in found.items() if not place}
    assert list(split.present) == sorted(split.present, key=lambda o: (o.start, -o.length))
    assert len(split.present) + len(split.absent) == len(distinct)


def test_a_phrase_does_not_run_over_the_end_of_a_sentence() -> None:
    split = split_keywords(parse("we draw graph . networks are drawn"), ["graph networks"])

    assert split.absent == ("graph networks",)


def test_inflection_case_hyphens_and_digits_do_not_matter() -> None:
    document = parse("the object oriented graph network of 1999")
    split = split_keywords(document, ["Object-Oriented", "Graphs  networks", "2021", "oriented"])

    assert split.present == (
        Occurrence("Object-Oriented", 1, 2),
        Occurrence("oriented", 2, 1),
        Occurrence("Graphs networks", 3, 2),
        Occurrence("2021", 6, 1),
    )


def test_of_two_phrases_that_begin_together_the_longer_comes_first() -> None:
    split = split_keywords(parse("graph neural network"), ["graph", "graph neural network"])

    assert [occurrence.length for occurrence in split.present] == [3, 1]


def test_a_phrase_inside_a_token_is_absent() -> None:
    assert split_keywords(parse("a .net program"), ["net"]).absent == ("net",)
    assert split_keywords(parse("a .net program"), [".net"]).present[0].start == 1


def test_repeated_and_empty_phrases_are_dropped() -> None:
    split = split_keywords(parse("graphs"), ["graph", "Graphs", "tree", "trees", "", " ", "-", "."])

    assert [occurrence.phrase for occurrence in split.present] == ["graph"]
    assert split.absent == ("tree",)


def test_an_empty_document_has_no_present_phrase() -> None:
    assert split_keywords(Document("", "", ()), ["graph"]).absent == ("graph",)
