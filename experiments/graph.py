"""What edges the graphs have, and their weight while phrase after phrase is decoded.

An edge is in–in if both its ends are words of reference phrases, in–out if one is, else other; see
`phraseloom.data.stats`. All documents are decoded up to the last phrase shown, past their end if
need be, so that each point of a curve is a mean over the same edges.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from experiments import options, published
from experiments.figures import COLOURS, MARKERS, figure, legend_below
from experiments.results import read_result, write_result
from experiments.sample import Sample, choose_rows
from experiments.tables import Table, to_markdown, write_tables
from phraseloom.cli.progress import document_progress
from phraseloom.config import SearchConfig
from phraseloom.data.cache import META, Corpus
from phraseloom.data.corpus import corpus_name
from phraseloom.data.example import Example
from phraseloom.data.graph import build_edges
from phraseloom.data.prepare import PrepareOptions, prepare_corpus
from phraseloom.data.stats import describe_corpus
from phraseloom.errors import PhraseloomError
from phraseloom.model.checkpoint import load_model
from phraseloom.search.settings import Count
from phraseloom.search.trace import Trace

KINDS = ("in–in", "in–out", "other")
PHRASES = 7
"""As many as the paper shows."""
_STATISTICS = ("nodes", "edges", "in_in_edges", "in_out_edges")


def run(
    model: Annotated[Path | None, typer.Argument(help="model directory")] = None,
    corpora: Annotated[list[Path] | None, typer.Argument(help="corpora, prepared or not")] = None,
    documents: Annotated[int | None, typer.Option(min=1, help="of each; default: all")] = None,
    seed: Annotated[int, typer.Option(min=0, help="of the draw")] = 0,
    settings: options.Settings = None,
    chosen: options.Chosen = None,
    results: options.Results = options.DEFAULT_RESULTS,
    draw_only: options.DrawOnly = False,
) -> None:
    """Measure the graphs of corpora, and how a model's edge weights change while it decodes."""
    if not draw_only:
        if model is None or not corpora:
            raise PhraseloomError("name a model directory and corpora, or give --draw-only")
        network, lexicon, config = load_model(model)
        search = options.change_search(config.search, settings, chosen)
        search = search.model_copy(
            update={"order": "decoding"}
        )  # one phrase a reading of the graph
        rows = []
        for path in corpora:
            with open_corpus(path) as corpus:
                drawn = choose_rows(corpus, documents=documents, seed=seed, sets=[])
                sample = Sample(network, lexicon, config, corpus, drawn)
                rows.append(measure(corpus, sample, search, corpus_name(path)))
        about = {"model": str(model), "seed": seed, "search": search.model_dump()}
        network_settings = config.model.model_dump(mode="json")
        write_result(
            results / "graph.json", {**about, "network": network_settings, "corpora": rows}
        )
    typer.echo(draw(results))


@contextmanager
def open_corpus(path: Path) -> Iterator[Corpus]:
    """A prepared corpus, or any other, parsed for as long as it is used."""
    if (path / META).is_file():
        yield Corpus.open(path)
        return
    with (
        TemporaryDirectory(prefix="phraseloom-") as directory,
        document_progress(f"parsing {corpus_name(path)}") as on_progress,
    ):
        out = Path(directory) / "corpus"
        prepare_corpus([path], out, PrepareOptions(processes=1), on_progress=on_progress)
        yield Corpus.open(out)


def measure(corpus: Corpus, sample: Sample, search: SearchConfig, name: str) -> dict[str, Any]:
    """Statistics of a corpus, and mean weights of edges while its documents are decoded."""
    stats = asdict(describe_corpus(corpus, name))
    trace = Trace(runners_up=0)
    with document_progress(name) as on_progress:
        sample.decode(search, Count.exactly(PHRASES), trace=trace, on_progress=on_progress)
    sums, counts = np.zeros((len(KINDS), PHRASES)), np.zeros((len(KINDS), PHRASES))
    decoded = 0
    for number, example in enumerate(sample.examples):
        traced = trace.phrases.get(number, [])
        if len(traced) < PHRASES:
            continue  # a text too short to hold so many phrases
        decoded += 1
        kinds = classify_edges(example, len(sample.lexicon.relations))
        for p, phrase in enumerate(traced[:PHRASES]):
            weights = phrase.edge_weights.numpy().astype(np.float64)
            sums[:, p] += np.bincount(kinds, weights, minlength=len(KINDS))
            counts[:, p] += np.bincount(kinds, minlength=len(KINDS))
    means = np.divide(sums, counts, out=np.zeros_like(sums), where=counts > 0)
    return {
        "name": name,
        "statistics": {key: stats[key] for key in ("documents", *_STATISTICS)},
        "decoded": decoded,
        "edges": dict(zip(KINDS, counts[:, 0].astype(int).tolist(), strict=True)),
        "weights": dict(zip(KINDS, means.tolist(), strict=True)),
    }


def classify_edges(example: Example, relation_count: int) -> NDArray[np.int64]:
    """Which of `KINDS` each edge of a document is, in the order of its edges in any batch."""
    edges = build_edges(example.heads, example.relation_ids, relation_count=relation_count)
    gold = np.concatenate([*example.phrases, np.zeros(0, dtype=np.int64)])
    is_in = np.isin(example.stem_ids, gold)
    ends_in = is_in[edges.sources].astype(np.int64) + is_in[edges.targets]
    return 2 - ends_in


def draw(results: Path) -> str:
    """Write the tables and the figure; give the tables as Markdown."""
    content = read_result(results / "graph.json")
    tables = [_statistics_table(content["corpora"]), _weights_table(content["corpora"])]
    write_tables(results / "graph", tables)
    _draw_trends(results / "graph", content["corpora"])
    return "\n\n".join(to_markdown(table) for table in tables)


def _statistics_table(corpora: Sequence[dict[str, Any]]) -> Table:
    rows = []
    for corpus in corpora:
        numbers = corpus["statistics"]
        title = published.SETS.get(corpus["name"], corpus["name"])
        values = [f"{numbers[key]:.2f}" for key in _STATISTICS]
        rows.append([title, "run here", f"{numbers['documents']:,}", *values])
        if corpus["name"] in published.GRAPHS:
            theirs = [f"{value:.2f}" for value in published.GRAPHS[corpus["name"]]]
            size = f"{published.DOCUMENTS[corpus['name']]:,}"
            rows.append([title, published.MARK, size, *theirs])
    columns = ["corpus", "origin", "documents", "nodes", "edges", "in–in", "in–out"]
    note = (
        "Means per document. Here both directions of an arc and each node's self-loop are counted;"
        " the paper does not say what it counts."
    )
    return Table("Nodes and edges", columns, rows, [note])


def _weights_table(corpora: Sequence[dict[str, Any]]) -> Table:
    rows = [
        [
            published.SETS.get(corpus["name"], corpus["name"]),
            kind,
            f"{corpus['edges'][kind]:,}",
            *(f"{weight:.4f}" for weight in corpus["weights"][kind]),
        ]
        for corpus in corpora
        for kind in KINDS
    ]
    columns = ["corpus", "edges", "how many", *(f"phrase {p + 1}" for p in range(PHRASES))]
    decoded = ", ".join(f"{corpus['name']} {corpus['decoded']:,}" for corpus in corpora)
    note = f"Mean weight while the phrase is decoded, over the same documents: {decoded}."
    return Table("Edge weights while decoding", columns, rows, [note])


def _draw_trends(path: Path, corpora: Sequence[dict[str, Any]]) -> None:
    numbers = range(1, PHRASES + 1)
    with figure(path, panels=len(corpora), stacked=True, width=3.6, height=2.3) as axes:
        for axis, corpus in zip(axes, corpora, strict=True):
            for i, kind in enumerate(KINDS):
                look = {"color": COLOURS[i], "marker": MARKERS[i], "label": kind}
                axis.plot(numbers, corpus["weights"][kind], **look)
            axis.set_title(published.SETS.get(corpus["name"], corpus["name"]))
            axis.set(ylabel="mean edge weight", xticks=list(numbers))
        axes[-1].set_xlabel("phrase being decoded")
        legend_below(axes, columns=len(KINDS))
