"""Stanza's output becomes our documents: recorded in shape, and for real where it is installed."""

import re
import sys
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phraseloom.errors import ParserError
from phraseloom.text.document import Document, Source
from phraseloom.text.parsers import load_parser
from phraseloom.text.parsers.stanza import FETCH, Entry, StanzaParser
from tests.text.laws import ODD_TEXTS, check_document, texts


class Parsed(NamedTuple):
    """Stands for ``stanza.Document``."""

    sentences: list[list[Entry]]

    def to_dict(self) -> list[list[Entry]]:
        return self.sentences


def word(number: int, text: str, tag: str, head: int, relation: str, start: int = -1) -> Entry:
    """A word as Stanza writes it; one inside a token of several words may lack its place."""
    entry: Entry = {"id": number, "text": text, "lemma": text.lower(), "xpos": tag}
    entry |= {"head": head, "deprel": relation}
    return entry if start < 0 else entry | {"start_char": start, "end_char": start + len(text)}


RECORDED = {
    "Graphs can't wait.  They run.": [
        [
            word(1, "Graphs", "NNS", 4, "nsubj", 0),
            {"id": (2, 3), "text": "can't", "start_char": 7, "end_char": 12},
            word(2, "ca", "MD", 4, "aux", 7),
            word(3, "n't", "RB", 4, "advmod", 9),
            word(4, "wait", "VB", 0, "root", 13),
            word(5, ".", ".", 4, "punct", 17),
        ],
        [
            word(1, "They", "PRP", 2, "nsubj", 20),
            word(2, "run", "VBP", 0, "root", 25),
            word(3, ".", ".", 2, "punct", 28),
        ],
    ],
    "The user's <digit> gonna's".replace("<digit>", "1000000"): [
        [
            word(1, "The", "DT", 2, "det", 0),
            {"id": (2, 3), "text": "user's", "start_char": 4, "end_char": 10},
            word(2, "user", "NN", 5, "nmod:poss"),  # older versions: no place
            word(3, "'s", "POS", 2, "case"),
            word(4, "1000000", "CD", 5, "nummod", 11),
            {"id": (5, 6), "text": "gonna's", "start_char": 19, "end_char": 26},
            word(5, "going", "NN", 0, "root"),  # not spelled so in the text
            word(6, "is", "POS", 5, "case"),
        ]
    ],
    "Deep nets": [[word(1, "Deep", "JJ", 2, "amod", 0), word(2, "nets", "NNS", 0, "root", 5)]],
}


class RecordedPipeline:
    def bulk_process(self, docs: list[str]) -> list[Parsed]:
        return [Parsed(RECORDED[text]) for text in docs]


class NaivePipeline:
    """Sentences end at a full stop, numbers are cut after three digits, heads are neighbours."""

    def bulk_process(self, docs: list[str]) -> list[Parsed]:
        return [
            Parsed([self._parse(m) for m in re.finditer(r"[^.]*\S[^.]*\.?|\.", doc)])
            for doc in docs
        ]

    def _parse(self, sentence: re.Match[str]) -> list[Entry]:
        found = re.finditer(r"\d{1,3}|[^\W\d]+|\S", sentence[0])
        return [
            word(i + 1, match[0], "NN", i, "Dep", sentence.start() + match.start())
            for i, match in enumerate(found)
        ]


def arcs(document: Document) -> list[tuple[str, str, int, str]]:
    return [(token.text, token.pos, token.head, token.relation) for token in document.tokens()]


def test_recorded_output() -> None:
    [document] = StanzaParser(RecordedPipeline()).parse_batch(
        [Source("Graphs can't wait.  They run.", title="Deep nets")]
    )

    check_document(document)
    assert [sentence.in_title for sentence in document.sentences] == [True, False, False]
    assert arcs(document) == [
        ("Deep", "JJ", 1, "amod"),
        ("nets", "NNS", 1, "root"),
        ("Graphs", "NNS", 3, "nsubj"),
        ("ca", "MD", 3, "aux"),
        ("n't", "RB", 3, "advmod"),
        ("wait", "VB", 3, "root"),
        (".", ".", 3, "punct"),
        ("They", "PRP", 1, "nsubj"),
        ("run", "VBP", 1, "root"),
        (".", ".", 1, "punct"),
    ]


def test_words_without_a_place_of_their_own() -> None:
    [document] = StanzaParser(RecordedPipeline()).parse_batch(
        [Source("The user's <digit> gonna's")]
    )

    check_document(document)
    assert arcs(document) == [
        ("The", "DT", 1, "det"),
        ("user", "NN", 4, "nmod:poss"),
        ("'s", "POS", 1, "case"),
        ("<digit>", "CD", 4, "nummod"),
        ("gonna's", "NN", 4, "root"),
    ]


@settings(max_examples=60)
@given(st.lists(st.builds(Source, texts(), texts(max_size=20)), max_size=3))
def test_any_text_keeps_the_laws(batch: list[Source]) -> None:
    parser = StanzaParser(NaivePipeline())
    documents = parser.parse_batch(batch)

    assert [(document.text, document.title) for document in documents] == batch
    for source, document in zip(batch, documents, strict=True):
        check_document(document)
        assert [document] == parser.parse_batch([source])


@pytest.mark.parametrize("text", ODD_TEXTS.values(), ids=ODD_TEXTS.keys())
def test_odd_text_keeps_the_laws(text: str) -> None:
    [document] = StanzaParser(NaivePipeline()).parse_batch([Source(text)])
    check_document(document)


def test_a_missing_package_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "stanza", None)  # as if it were not installed
    with pytest.raises(ParserError, match=re.escape('pip install ".[stanza]"')):
        load_parser("stanza")


def test_missing_models_name_the_command_and_nothing_is_fetched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: dict[str, Any] = {}

    def pipeline(language: str, **options: Any) -> None:
        asked.update(options)
        raise FileNotFoundError("Resources file not found")

    monkeypatch.setitem(sys.modules, "stanza", SimpleNamespace(Pipeline=pipeline))
    with pytest.raises(ParserError, match=re.escape(FETCH)):
        load_parser("stanza")
    assert asked["download_method"] is None


def test_for_real() -> None:
    pytest.importorskip("stanza", reason="Stanza is not installed")
    try:
        parser = load_parser("stanza")
    except ParserError as error:
        pytest.skip(str(error))
    batch = [
        Source(
            "We study object-oriented graphs. The <digit>-bit user's key can't move.", "Deep nets"
        ),
        Source("", ODD_TEXTS["emoji"]),
    ]
    documents = parser.parse_batch(batch)

    for document in documents:
        check_document(document)
    assert [token.text for token in documents[0].tokens()][:9] == [
        *("Deep", "nets", "We", "study", "object", "oriented", "graphs", ".", "The")
    ]
