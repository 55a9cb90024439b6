"""Edges told apart, and their weights followed from phrase to phrase."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments.graph import KINDS, PHRASES, classify_edges, measure
from experiments.sample import Sample, open_sample
from phraseloom.config import SearchConfig
from phraseloom.data.batch import collate
from phraseloom.data.cache import Corpus
from phraseloom.data.stats import describe_corpus
from tests.builders import make_example, make_lexicon

SEARCH = SearchConfig(width=2, max_words=2, order="decoding")


def test_edges_are_told_apart_in_the_order_of_a_batch() -> None:
    lexicon = make_lexicon()
    examples = [make_example(seed, tokens=9 + seed) for seed in range(4)]
    batch = collate(examples, lexicon)
    expected = []
    for source, target in zip(
        batch.edge_sources.tolist(), batch.edge_targets.tolist(), strict=True
    ):
        document = int((batch.node_offsets <= target).sum()) - 1
        example, first = examples[document], int(batch.node_offsets[document])
        gold = {int(stem) for phrase in example.phrases for stem in phrase}
        ends = [int(example.stem_ids[node - first]) in gold for node in (source, target)]
        expected.append({2: "in–in", 1: "in–out", 0: "other"}[sum(ends)])

    found = [classify_edges(example, len(lexicon.relations)) for example in examples]

    assert [KINDS[kind] for kind in np.concatenate(found)] == expected
    assert set(expected) == set(KINDS), "or the law would say less"


@pytest.fixture(scope="module")
def sample(model_directory: Path, prepared: Path) -> Sample:
    return open_sample(model_directory, prepared, documents=None)[0]


def test_counts_agree_with_the_statistics_of_the_corpus(sample: Sample, prepared: Path) -> None:
    corpus = Corpus.open(prepared)
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
    corpus = Corpus.open(prepared)
    dynamic = measure(corpus, sample, SEARCH, "own")["weights"]
    static_sample, _ = open_sample(
        make_model_directory(tmp_path / "gcn", variant="gcn"), prepared, documents=None
    )
    static = measure(corpus, static_sample, SEARCH, "own")["weights"]
    for kind in KINDS:
        assert len(dynamic[kind]) == len(static[kind]) == PHRASES
        assert np.ptp(dynamic[kind]) > 1e-4
        assert np.ptp(static[kind]) < 1e-6
        assert all(0 < weight < 1 for weight in dynamic[kind] + static[kind])


def test_the_command_reads_any_corpus_and_draws_again(
    run: Callable[..., Any], model_directory: Path, corpus_file: Path, tmp_path: Path
) -> None:
    common = ("experiment", "graph", "--results", tmp_path)
    outcome = run(*common, model_directory, corpus_file, "--documents", 3)

    assert outcome.status == 0, outcome.err
    content = json.loads((tmp_path / "graph.json").read_text())
    assert [corpus["decoded"] for corpus in content["corpora"]] == [3]
    assert content["network"]["edge_scorer"] == "interaction"
    assert run(*common, "--draw-only").out == outcome.out
    assert (tmp_path / "graph.png").stat().st_size
    refused = run("experiment", "graph", "--results", tmp_path, model_directory)
    assert (refused.status, refused.err.count("\n")) == (2, 1)
