"""The paper's table of nodes and edges, counted in every way that its text allows.

The paper says what in–in and in–out edges are, and neither what a node is, nor whether edges have a
direction, nor which words are "target phrase words". Each way of counting is a line.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray

from experiments import options, published
from experiments.graph import open_corpus
from experiments.results import Result, Row, write_result
from experiments.tables import Table, to_markdown
from phraseloom.io.records import corpus_name
from phraseloom.text.words import is_word, stem
from phraseloom.train.corpus.prepared import PreparedCorpus, PreparedDocument

NODES = ("tokens", "words", "stems")
"""All tokens; without punctuation; one node a stem, arcs between the same two stems once."""
EDGES = ("arcs", "both ways", "both ways and loops", "both ways, loops in the total alone")
INSIDE = ("standing", "present", "all")
"""Which nodes are in: those where a reference phrase stands; those with a stem of a present
reference phrase, wherever they stand; those with a stem of any reference phrase."""
COLUMNS = ("nodes", "edges", "in–in", "in–out")
_SHOWN = 8


@dataclass(frozen=True, slots=True)
class Forest:
    """A document's trees, and which of its tokens are in under each of `INSIDE`."""

    heads: NDArray[np.int64]
    stems: NDArray[np.int64]
    is_word: NDArray[np.bool_]
    inside: dict[str, NDArray[np.bool_]]


def run(
    corpora: Annotated[list[Path], typer.Argument(help="corpora, prepared or not")],
    results: options.Results = options.DEFAULT_RESULTS,
    pictures: options.Pictures = options.DEFAULT_PICTURES,
) -> None:
    """Count nodes and edges in every way, and put them beside the paper's numbers."""
    rows: list[Row] = []
    for path in corpora:
        with open_corpus(path) as corpus:
            known = {text: number for number, text in enumerate(corpus.stems)}
            documents = [read_forest(corpus, i, known) for i in range(len(corpus))]
        for way in product(NODES, EDGES, INSIDE):
            counts = np.mean([count(document, *way) for document in documents], axis=0)
            about = dict(zip(("nodes", "edges", "inside"), way, strict=True))
            row = {"corpus": corpus_name(path), "documents": len(documents), **about}
            rows.append({**row, "counts": counts.round(2).tolist()})
    written = write_result(results / "counting.json", {"rows": rows})
    typer.echo(to_markdown(*draw(written, pictures)))


def read_forest(corpus: PreparedCorpus, i: int, known: Mapping[str, int]) -> Forest:
    """The trees of one document of a corpus whose stems have these numbers."""
    document = corpus.document(i)
    stems = corpus.word_stems[document.word].astype(np.int64)
    absent = {known.get(stem(word)) for phrase in corpus.absent(i) for word in phrase.split()}
    present = _present_stems(document, stems)
    texts = [corpus.words[word] for word in document.word.tolist()]
    everything = np.array(sorted({*present.tolist(), *(s for s in absent if s is not None)}))
    return Forest(
        heads=document.head.astype(np.int64),
        stems=stems,
        is_word=np.array(list(map(is_word, texts)), dtype=np.bool_),
        inside={
            "standing": _standing(document, stems),
            "present": np.isin(stems, present),
            "all": np.isin(stems, everything),
        },
    )


def _present_stems(document: PreparedDocument, stems: NDArray[np.int64]) -> NDArray[np.int64]:
    spans = zip(document.phrase_start.tolist(), document.phrase_length.tolist(), strict=True)
    return np.unique(np.concatenate([stems[a : a + n] for a, n in spans] or [stems[:0]]))


def _standing(document: PreparedDocument, stems: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Tokens of any occurrence of a present phrase."""
    is_in = np.zeros(len(stems), dtype=np.bool_)
    for start, length in zip(document.phrase_start, document.phrase_length, strict=True):
        phrase = stems[start : start + length]
        for at in range(len(stems) - len(phrase) + 1):
            if (stems[at : at + len(phrase)] == phrase).all():
                is_in[at : at + len(phrase)] = True
    return is_in


def count(forest: Forest, nodes: str, edges: str, inside: str) -> tuple[float, ...]:
    """Nodes, edges, in–in and in–out edges of one document."""
    kept = np.ones_like(forest.is_word) if nodes == "tokens" else forest.is_word  # (N,)
    numbers = np.arange(len(kept))
    is_in = forest.inside[inside]
    if nodes == "stems":
        numbers = np.unique(forest.stems, return_inverse=True)[1]
    arcs = np.stack([numbers, numbers[forest.heads]])  # (2, N)
    is_arc = (forest.heads != np.arange(len(kept))) & kept & kept[forest.heads]
    arcs, of_node = arcs[:, is_arc], np.zeros(len(kept), dtype=np.bool_)
    np.logical_or.at(of_node, numbers, is_in)
    if nodes == "stems":
        arcs = np.unique(np.sort(arcs[:, arcs[0] != arcs[1]], axis=0), axis=1)
    node_ids = np.unique(numbers[kept])
    ends = of_node[arcs].sum(axis=0)  # (A,)
    ways = 1 if edges == "arcs" else 2
    loops = edges == EDGES[2]
    return (
        len(node_ids),
        ways * arcs.shape[1] + (loops or edges == EDGES[3]) * len(node_ids),
        ways * int((ends == 2).sum()) + loops * int(of_node[node_ids].sum()),
        ways * int((ends == 1).sum()),
    )


def distance(rows: Sequence[Row]) -> float:
    """How far a way of counting is from the paper: mean relative difference of all numbers."""
    differences = [
        abs(ours - theirs) / theirs
        for row in rows
        for ours, theirs in zip(row["counts"], published.GRAPHS[row["corpus"]], strict=True)
    ]
    return float(np.mean(differences))


def draw(content: Result, pictures: Path, name: str = "counting") -> list[Table]:
    """The ways that come nearest to the paper, and what we count, a line each."""
    rows = [row for row in content["rows"] if row["corpus"] in published.GRAPHS]
    corpora = list(dict.fromkeys(row["corpus"] for row in rows))
    ways: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        ways.setdefault((row["nodes"], row["edges"], row["inside"]), []).append(row)
    ours = (NODES[0], EDGES[2], INSIDE[1])
    ranked = sorted(ways, key=lambda way: distance(ways[way]))
    shown = ranked[:_SHOWN] + [ours] * (ours not in ranked[:_SHOWN] and ours in ways)
    lines = [
        [
            f"**{', '.join(way)}**" if way == ours else ", ".join(way),
            f"{distance(ways[way]):.0%}",
            *(_cell(row["counts"]) for row in ways[way]),
        ]
        for way in shown
    ]
    lines.append([published.MARK, "", *(_cell(published.GRAPHS[corpus]) for corpus in corpora)])
    columns = ["nodes, edges, what is in", "difference"]
    columns += [published.SETS[corpus] for corpus in corpora]
    note = (
        f"In each cell: {', '.join(COLUMNS)} per document. Bold: what this project counts. The"
        f" {_SHOWN} nearest of {len(ways)} ways, by mean relative difference."
    )
    return [Table("Ways of counting nodes and edges", columns, lines, [note])]


def _cell(counts: Sequence[float]) -> str:
    return " · ".join(f"{value:.1f}" for value in counts)
