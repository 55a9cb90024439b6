"""Statistics are those counted by hand."""

from pathlib import Path

import pytest

from phraseloom.train.corpus.prepare import PrepareOptions, prepare_corpus
from phraseloom.train.corpus.stats import CorpusStats, describe
from tests.train.corpus.chains import row, write_rows

OPTIONS = PrepareOptions(parser="conllu", processes=1)
ROWS = [
    # Arcs a->graph, graph->node, node->is | so->graphs: "graph" and "node" are in, three nodes.
    row("a graph node is . so graphs", ["graph nodes", "tree"]),
    row("b c", ["d"]),
]
EXPECTED = CorpusStats(
    name="hand",
    documents=2,
    present=0.5,
    absent=1.0,
    without_present=1,
    phrase_length=2.0,
    nodes=(6 + 2) / 2,
    edges=(6 + 2 * 4 + 2 + 2 * 1) / 2,
    in_in_edges=(3 + 2 * 1) / 2,
    in_out_edges=2 * 3 / 2,
)


def test_a_corpus_counted_by_hand_raw_and_prepared(tmp_path: Path) -> None:
    file = write_rows(tmp_path / "hand.jsonl", ROWS)
    prepare_corpus([file], tmp_path / "hand", OPTIONS)

    assert describe(file, OPTIONS) == EXPECTED
    assert describe(tmp_path / "hand", OPTIONS) == EXPECTED


def test_a_corpus_without_present_keyphrases_has_statistics(tmp_path: Path) -> None:
    stats = describe(write_rows(tmp_path / "none.jsonl", [row("b c")]), OPTIONS)

    assert stats.present == stats.phrase_length == stats.in_in_edges == 0
    assert stats.edges == pytest.approx(4)
