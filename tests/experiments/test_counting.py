"""Ways of counting nodes and edges."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from experiments.counting import EDGES, INSIDE, NODES, Forest, count, distance
from experiments.published import GRAPHS

# a , b a: the first a governs all; b is in
FOREST = Forest(
    heads=np.array([0, 0, 0, 0]),
    stems=np.array([7, 8, 9, 7]),
    is_word=np.array([True, False, True, True]),
    inside={"present": np.array([False, False, True, False])},
)


def test_a_way_is_what_it_says() -> None:
    counted = {
        (nodes, edges): count(FOREST, nodes, edges, "present") for nodes in NODES for edges in EDGES
    }
    assert counted["tokens", "arcs"] == (4, 3, 0, 1)
    assert counted["tokens", "both ways"] == (4, 6, 0, 2)
    assert counted["tokens", "both ways and loops"] == (4, 10, 1, 2)
    assert counted["tokens", EDGES[3]] == (4, 10, 0, 2)
    assert counted["words", "arcs"] == (3, 2, 0, 1)
    assert counted["stems", "arcs"] == (2, 1, 0, 1)  # from a to itself there is no arc


def test_the_papers_own_numbers_are_at_no_distance() -> None:
    rows = [{"corpus": name, "counts": list(counts)} for name, counts in GRAPHS.items()]
    assert distance(rows) == 0


def test_every_way_is_counted_and_ours_is_what_the_corpus_statistics_say(
    experiment: Callable[..., Any], result: Callable[[str], Any], prepared: Path, tmp_path: Path
) -> None:
    from phraseloom.train.corpus.prepared import PreparedCorpus
    from phraseloom.train.corpus.stats import describe_corpus

    place = tmp_path / "inspec"
    place.symlink_to(prepared)
    outcome = experiment("counting", place)

    assert outcome.status == 0, outcome.err
    rows = result("counting")["rows"]
    assert len(rows) == len(NODES) * len(EDGES) * len(INSIDE)
    [ours] = [
        row
        for row in rows
        if (row["nodes"], row["edges"], row["inside"])
        == ("tokens", "both ways and loops", "present")
    ]
    stats = describe_corpus(PreparedCorpus.open(prepared), "own")
    wanted = (stats.nodes, stats.edges, stats.in_in_edges, stats.in_out_edges)
    np.testing.assert_allclose(ours["counts"], wanted, atol=0.01)
