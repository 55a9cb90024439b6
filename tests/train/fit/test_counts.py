"""Counts of a collection, and a document's own vote in them."""

from pathlib import Path

from phraseloom.network.lexicon import PhraseCounts
from phraseloom.text.document import Source
from phraseloom.text.parsers import load_parser
from phraseloom.train.corpus.glossary import own_keyphrases
from phraseloom.train.corpus.prepare import PrepareOptions, prepare_corpus
from phraseloom.train.corpus.prepared import PreparedCorpus
from phraseloom.train.fit.counts import count_collection, parsed_document, without_document
from tests.train.corpus.chains import chain, row, write_rows

TEXTS = ("graph tree", "graph node", "tree node", "graph node leaf")
ROWS = [row(text, text.split()[:1]) for text in TEXTS]


def prepare(tmp_path: Path) -> PreparedCorpus:
    file = write_rows(tmp_path / "rows.jsonl", ROWS)
    prepare_corpus([file], tmp_path / "corpus", PrepareOptions(parser="conllu", processes=1))
    return PreparedCorpus.open(tmp_path / "corpus")


def test_listed_phrases_and_candidates_that_none_lists_are_counted(tmp_path: Path) -> None:
    counts = count_collection([prepare(tmp_path)], {"node", "leaf"}).counts

    assert counts == {
        "graph": PhraseCounts(3, 3),
        "tree": PhraseCounts(1, 2),
        "node": PhraseCounts(0, 3),  # but leaf is in one document only
    }


def test_without_a_document_counts_are_those_of_the_others(tmp_path: Path) -> None:
    corpus = prepare(tmp_path)
    everything = count_collection([corpus], {"node"})
    own = own_keyphrases(corpus, corpus.document(0))

    others = without_document(everything, parsed_document(corpus, 0), own)

    assert others.counts == {"graph": PhraseCounts(2, 2), "tree": PhraseCounts(1, 1)}


def test_a_document_comes_out_of_a_corpus_as_it_was_parsed(tmp_path: Path) -> None:
    corpus = prepare(tmp_path)
    sources = [Source(chain(text)) for text in TEXTS]

    parsed = load_parser("conllu").parse_batch(sources)

    assert [parsed_document(corpus, i) for i in range(len(corpus))] == parsed
