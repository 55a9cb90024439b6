"""What edges the graphs have, and their weight while phrase after phrase is decoded.

An edge is in–in if both its ends are words of reference phrases, in–out if one is, else other; see
`phraseloom.train.corpus.stats`. All documents are decoded up to the last phrase shown, past their
end if need be, so that each point of a curve is a mean over the same edges.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray

from experiments import options, published
from experiments.figures import COLOURS, MARKERS, figure, legend_below
from experiments.results import Result, Row, write_result
from experiments.sample import Sample, choose_rows
from experiments.tables import Table, to_markdown
from phraseloom.config import SearchConfig
from phraseloom.io.records import corpus_name
from phraseloom.network.example import Example
from phraseloom.network.graph import build_edges
from phraseloom.network.weights import load_model
from phraseloom.search.decode import Trace
from phraseloom.train.corpus.prepare import PrepareOptions, prepare_corpus
from phraseloom.train.corpus.prepared import META, PreparedCorpus
from phraseloom.train.corpus.stats import describe_corpus

KINDS = ("in–in", "in–out", "other")
PHRASES = 7
"""As many as the paper shows."""
_STATISTICS = ("nodes", "edges", "in_in_edges", "in_out_edges")


def run(
    model: options.Model,
    corpora: Annotated[list[Path], typer.Argument(help="corpora, prepared or not")],
    documents: Annotated[int | None, typer.Option(min=1, help="of each; default: all")] = None,
    seed: options.Seed = 0,
    settings: options.Settings = None,
    chosen: options.Chosen = None,
    label: options.Label = "",
    results: options.Results = options.DEFAULT_RESULTS,
    pictures: options.Pictures = options.DEFAULT_PICTURES,
) -> None:
    """Measure the graphs of corpora, and how a model's edge weights change while it decodes."""
    loaded, config = load_model(model)
    search = options.change_search(config.search, settings, chosen)
    search = search.model_copy(update={"order": "decoding"})  # one phrase a reading of the graph
    rows = []
    for path in corpora:
        with open_corpus(path) as corpus:
            drawn = choose_rows(corpus, documents=documents, seed=seed)
            sample = Sample(loaded, config, corpus, drawn)
            rows.append(measure(corpus, sample, search, corpus_name(path)))
    about = {"model": str(model), "seed": seed, "search": search.model_dump()}
    about["network"] = config.model.model_dump(mode="json")
    name = options.labelled("graph", label)
    written = write_result(results / f"{name}.json", {**about, "corpora": rows})
    typer.echo(to_markdown(*draw(written, pictures, name)))


@contextmanager
def open_corpus(path: Path) -> Iterator[PreparedCorpus]:
    """A prepared corpus, or any other, parsed for as long as it is used."""
    if (path / META).is_file():
        yield PreparedCorpus.open(path)
        return
    with TemporaryDirectory(prefix="phraseloom-") as directory:
        out = Path(directory) / "corpus"
        prepare_corpus([path], out, PrepareOptions(processes=1))
        yield PreparedCorpus.open(out)


def measure(corpus: PreparedCorpus, sample: Sample, search: SearchConfig, name: str) -> Row:
    """Statistics of a corpus, and mean weights of edges while its documents are decoded."""
    stats = asdict(describe_corpus(corpus, name))
    trace = Trace(runners_up=0)
    sample.decode(search, limit=PHRASES, trace=trace, title=name)
    sums, counts = np.zeros((len(KINDS), PHRASES)), np.zeros((len(KINDS), PHRASES))
    decoded = 0
    for number, example in enumerate(sample.examples):
        phrases = trace.phrases.get(number, [])
        if len(phrases) < PHRASES:
            continue  # a text too short to hold so many phrases
        decoded += 1
        kinds = classify_edges(example, len(sample.model.lexicon.relations))
        for p, phrase in enumerate(phrases[:PHRASES]):
            weights = phrase.edge_weights.astype(np.float64)
            sums[:, p] += np.bincount(kinds, weights, minlength=len(KINDS))
            counts[:, p] += np.bincount(kinds, minlength=len(KINDS))
    means = np.divide(sums, counts, out=np.zeros_like(sums), where=counts > 0)
    return {
        "name": name,
        "statistics": {key: stats[key] for key in ("documents", *_STATISTICS)},
        "decoded": decoded,
        "edges": dict(zip(KINDS, counts[:, 0].astype(int).tolist(), strict=True)),
        "weights": dict(zip(KINDS, means.round(6).tolist(), strict=True)),
    }


def classify_edges(example: Example, relation_count: int) -> NDArray[np.int64]:
    """Which of `KINDS` each edge of a document is, in the order of its edges in any batch."""
    edges, _ = build_edges(example.heads, example.relation_ids, relation_count=relation_count)
    gold = np.concatenate([*example.phrases, np.zeros(0, dtype=np.int64)])
    is_in = np.isin(example.stem_ids, gold)
    ends_in = is_in[edges.sources].astype(np.int64) + is_in[edges.targets]
    return 2 - ends_in


def draw(content: Result, pictures: Path, name: str = "graph") -> list[Table]:
    """A table of sizes and one of weights, and the paper's figure."""
    corpora = content["corpora"]
    _draw_trends(name, pictures, corpora)
    return [_statistics_table(corpora), _weights_table(corpora)]


def _statistics_table(corpora: Sequence[Row]) -> Table:
    lines = []
    for corpus in corpora:
        name, numbers = corpus["name"], corpus["statistics"]
        values = [f"{numbers[key]:.2f}" for key in _STATISTICS]
        lines.append([_title(name), "run here", f"{numbers['documents']:,}", *values])
        if name in published.GRAPHS:
            theirs = [f"{value:.2f}" for value in published.GRAPHS[name]]
            lines.append([_title(name), published.MARK, f"{published.DOCUMENTS[name]:,}", *theirs])
    columns = ["corpus", "origin", "documents", "nodes", "edges", "in–in", "in–out"]
    note = (
        "Means per document. Here both directions of an arc and each node's self-loop are counted;"
        " the paper does not say what it counts."
    )
    return Table("Nodes and edges", columns, lines, [note])


def _weights_table(corpora: Sequence[Row]) -> Table:
    lines = [
        [
            _title(corpus["name"]),
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
    return Table("Edge weights while decoding", columns, lines, [note])


def _title(name: str) -> str:
    return published.SETS.get(name, name)


def _draw_trends(name: str, pictures: Path, corpora: Sequence[Row]) -> None:
    numbers = range(1, PHRASES + 1)
    panels = len(corpora)
    with figure(name, pictures, panels=panels, stacked=True, width=3.6, height=2.3) as axes:
        for axis, corpus in zip(axes, corpora, strict=True):
            for i, kind in enumerate(KINDS):
                look = {"color": COLOURS[i], "marker": MARKERS[i], "label": kind}
                axis.plot(numbers, corpus["weights"][kind], **look)
            axis.set_title(_title(corpus["name"]))
            axis.set(ylabel="mean edge weight", xticks=list(numbers))
        axes[-1].set_xlabel("phrase being decoded")
        legend_below(axes, columns=len(KINDS))
