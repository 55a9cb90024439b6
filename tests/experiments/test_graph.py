"""Edges told apart, and their weights followed from phrase to phrase."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments.graph import KINDS, PHRASES, classify_edges, measure
from experiments.sample import Sample, open_sample
from phraseloom.config import SearchConfig
from phraseloom.network.graph import collate
from phraseloom.train.corpus.prepared import PreparedCorpus
from phraseloom.train.corpus.stats import describe_corpus
from tests.builders import make_example, make_lexicon

SEARCH = SearchConfig(beam_width=2, max_words=2, order="decoding")


def test_edges_are_told_apart_in_the_order_of_a_batch() -> None:
    lexicon = make_lexicon()
    examples = [make_example(seed, tokens=9 + seed) for seed in range(4)]
    batch = collate(examples, lexicon)
    expected = []
    edges = batch.edges
    for source, target in zip(edges.sources.tolist(), edges.targets.tolist(), strict=True):
        document = int((batch.node_offsets <= target).sum()) - 1
        example, first = examples[document], int(batch.node_offsets[document])
        gold = {int(stem) for phrase in example.phrases for stem in phrase}
        ends = [int(example.stem_ids[node - first]) in gold for node in (source, target)]
        expected.append({2: "in–in", 1: "in–out", 0: "other"}[sum(ends)])

    kinds = [classify_edges(example, len(lexicon.relations)) for example in examples]

    assert [KINDS[kind] for kind in np.concatenate(kinds)] == expected
    assert set(expected) == set(KINDS), "or the law would say less"


@pytest.fixture(scope="module")
def sample(model_directory: Path, prepared: Path) -> Sample:
    return open_sample(model_directory, prepared, documents=None)


def test_counts_agree_with_the_statistics_of_the_corpus(sample: Sample, prepared: Path) -> None:
    corpus = PreparedCorpus.open(prepared)
    measured = measure(corpus, sample, SEARCH, "own")
    stats = describe_corpus(corpus, "own")

    assert measured["decoded"] == len(corpus)
    assert measured["edges"]["in–in"] == round(stats.in_in_edges * len(corpus))
    assert measured["edges"]["in–out"] == round(stats.in_out_edges * len(corpus))
    assert sum(measured["edges"].values()) == round(stats.edges * len(corpus))


def test_weights_change_from_phrase_to_phrase_only_if_the_graph_is_dynamic(
    sample: Sample,
    prepared: Path,
    make_model_directory: Callable[..., Path],
    tmp_path: Path,
) -> None:
    corpus = PreparedCorpus.open(prepared)
    dynamic = measure(corpus, sample, SEARCH, "own")["weights"]
    static_sample = open_sample(
        make_model_directory(tmp_path / "gcn", variant="gcn"), prepared, documents=None
    )
    static = measure(corpus, static_sample, SEARCH, "own")["weights"]
    for kind in KINDS:
        assert len(dynamic[kind]) == len(static[kind]) == PHRASES
        assert np.ptp(dynamic[kind]) > 1e-4
        assert np.ptp(static[kind]) < 1e-6
        assert all(0 < weight < 1 for weight in dynamic[kind] + static[kind])


def test_the_command_reads_any_corpus_and_draws_again(
    experiment: Callable[..., Any],
    result: Callable[..., Any],
    model_directory: Path,
    corpus_file: Path,
    tmp_path: Path,
) -> None:
    outcome = experiment("graph", model_directory, corpus_file, "--documents", 3)

    assert outcome.status == 0, outcome.err
    assert [corpus["decoded"] for corpus in result("graph")["corpora"]] == [3]
    assert result("graph")["network"]["edge_scorer"] == "interaction"
    assert experiment("draw", "graph").out == outcome.out
    assert (tmp_path / "pictures" / "result-graph.svg").stat().st_size
    before = (tmp_path / "pictures" / "result-graph.svg").read_bytes()
    experiment("graph", model_directory, corpus_file, "--documents", 2, "--label", "two")
    assert (tmp_path / "pictures" / "result-graph-two.svg").stat().st_size
    assert (tmp_path / "pictures" / "result-graph.svg").read_bytes() == before
    assert experiment("graph", model_directory).status == 2
