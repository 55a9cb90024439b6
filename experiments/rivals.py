"""The systems of the paper's tables, run here on one harness, and what was published of them.

Draws what ``python -m rivals measure`` has written; a system without a row stands with its
published numbers alone. Runs that differ in their seed only are one line, their mean.
"""

from collections.abc import Sequence
from pathlib import Path

import typer

from experiments import options, published
from experiments.figures import COLOURS, MARKERS, figure
from experiments.peers import PEERS
from experiments.results import RESULTS, Result, Row, read_rows
from experiments.tables import Table, to_markdown

_HERE = "run here"
_TABLES: list[tuple[str, tuple[str, ...], dict[str, published.Row]]] = [
    ("F1@M and F1@5 of one list", ("f1@M", "f1@5"), published.F1),
    ("F1@5 and F1@10, unfilled", ("unfilled f1@5", "unfilled f1@10"), published.UNFILLED),
    ("NDCG@10", ("ndcg@10",), published.NDCG),
]
_F1_AT_5 = "present.filled.macro.f1@5"


def run(
    results: options.Results = options.DEFAULT_RESULTS,
    pictures: options.Pictures = options.DEFAULT_PICTURES,
) -> None:
    """Draw the tables of all rivals, and quality against decoding speed."""
    content = {
        "rows": read_rows(results / "rivals.json"),
        "peers": read_rows(results / "peers.json"),
    }
    typer.echo(to_markdown(*draw(content, pictures)))


def draw(content: Result, pictures: Path, name: str = "rivals") -> list[Table]:
    """Tables of quality, one of lists, one of cost; and the figure if anything was run."""
    rows = content["rows"]
    if rows:
        peers = content["peers"] if "peers" in content else read_rows(RESULTS / "peers.json")
        _draw_speed(name, pictures, rows, peers)
    tables = [_quality(title, keys, theirs, rows) for title, keys, theirs in _TABLES]
    return [*tables, _lists(rows), _cost(rows)]


def titles_of(rows: Sequence[Row]) -> list[str]:
    """Systems that were run, in the order of their rows."""
    return list(dict.fromkeys(row["title"] for row in rows))


def corpora_of(rows: Sequence[Row]) -> list[str]:
    """The paper's sets, then other corpora that something was measured on."""
    seen = {row["corpus"] for row in rows}
    return [*published.SETS, *sorted(seen - published.SETS.keys())]


def mean_of(rows: Sequence[Row], title: str, corpus: str, key: str) -> float | None:
    """Mean over the runs of a system; none if there is no run."""
    values = [
        row["values"][key] for row in rows if (row["title"], row["corpus"]) == (title, corpus)
    ]
    return sum(values) / len(values) if values else None


def _quality(
    title: str, keys: Sequence[str], theirs: dict[str, published.Row], rows: Sequence[Row]
) -> Table:
    """One line a system that was run, then one a system that was published."""
    corpora = corpora_of(rows)
    lines = []
    for system in titles_of(rows):
        means = [[mean_of(rows, system, corpus, key) for key in keys] for corpus in corpora]
        lines.append([system, _HERE, *map(_cell, means)])
    for system, row in theirs.items():
        pairs = [row.get(corpus, (None,) * len(keys)) for corpus in corpora]
        lines.append([system, published.MARK, *map(_cell, pairs)])
    columns = ["system", "origin", *(published.SETS.get(corpus, corpus) for corpus in corpora)]
    return Table(title, columns, lines, [_note(rows)])


def _cell(values: Sequence[float | None]) -> str:
    return "/".join("–" if value is None else f"{value:.3f}" for value in values)


def _note(rows: Sequence[Row]) -> str:
    sizes = {row["corpus"]: row["documents"] for row in rows}
    counted = [f"{published.SETS.get(name, name)} {count:,}" for name, count in sizes.items()]
    if not counted:
        return "No system was run yet; docs/reproduce.md says how."
    return (
        "All that was run here learned from 60,000 documents of one corpus on one backbone; search"
        " settings were chosen on validation documents for each. Documents measured:"
        f" {', '.join(counted)}."
        " Published numbers come from other data and other budgets."
    )


def _lists(rows: Sequence[Row]) -> Table:
    lines = [
        [
            row["title"],
            published.SETS.get(row["corpus"], row["corpus"]),
            f"{row['values']['predicted']:.2f}",
            f"{row['values']['correct']:.2f}",
            f"{row['values']['nested']:.3f}",
            _search(row["search"]),
        ]
        for row in rows
    ]
    columns = ["system", "corpus", "Avg. #", "Corr. #", "nested", "search, chosen on valid"]
    return Table("Lists", columns, lines)


def _search(search: Row) -> str:
    threshold = "min_score" if search["order"] == "expected" else "eos_threshold"
    kind = f"{search['mode']}, {search['order']}, beam {search['beam_width']}"
    return f"{kind}, {threshold} {search[threshold]}"


def _cost(rows: Sequence[Row]) -> Table:
    lines = []
    for run in dict.fromkeys(row["run"] for row in rows):
        own = [row for row in rows if row["run"] == run]
        training = own[0]["training"]
        speed, perplexity = training["documents_per_second"], training["perplexity"]
        lines.append(
            [
                own[0]["title"],
                f"{own[0]['parameters'] / 1e6:.2f}",
                f"{training['documents']:,}",
                str(training["seed"]),
                "–" if perplexity is None else f"{perplexity:.2f}",
                "–" if speed is None else f"{speed:.1f}",
                f"{_decoded_per_second(own):.1f}",
            ]
        )
    columns = ["system", "million weights", "documents learned", "seed", "perplexity"]
    note = (
        "Weights without word vectors. Perplexity is of a target of the system's own kind: of lists"
        " or of single phrases, which cannot be compared. Training: documents per second of the"
        " clock, median of the log; decoding: per second of one processor thread, with the chosen"
        " search, encoding included, parsing not."
    )
    return Table("Size and speed", [*columns, "training", "decoding"], lines, [note])


def _decoded_per_second(rows: Sequence[Row]) -> float:
    return sum(row["documents"] for row in rows) / max(sum(row["seconds"] for row in rows), 1e-9)


def _draw_speed(name: str, pictures: Path, rows: Sequence[Row], peers: Sequence[Row]) -> None:
    """One point a system: decoding speed across, F1@5 up, means over corpora that all have."""
    corpora = sorted({row["corpus"] for row in rows})
    points = []
    for title in titles_of(rows):
        means = [mean_of(rows, title, corpus, "f1@5") for corpus in corpora]
        measured = [mean for mean in means if mean is not None]
        if len(measured) == len(corpora):
            own = [row for row in rows if row["title"] == title]
            points.append((title, _decoded_per_second(own), sum(measured) / len(measured)))
    for peer in PEERS:
        own = [row for row in peers if row["peer"] == peer and row["corpus"] in corpora]
        if len(own) == len(corpora):
            quality = sum(row["values"][_F1_AT_5] for row in own) / len(own)
            points.append((PEERS[peer].title, _decoded_per_second(own), quality))
    with figure(name, pictures, width=5.6, height=3.2) as (axis,):
        for i, (title, speed, quality) in enumerate(points):
            marker = MARKERS[(i // len(COLOURS)) % len(MARKERS)]
            look = {"color": COLOURS[i % len(COLOURS)], "marker": marker, "markersize": 7}
            axis.plot(speed, quality, linestyle="", label=title, **look)
        axis.set(xscale="log", xlabel="documents per CPU second, one thread (log scale)")
        axis.set(ylabel="F1@5, mean over corpora")
        axis.set_ylim(bottom=0)
        axis.margins(x=0.15, y=0.15)
        axis.figure.legend(loc="outside right upper", fontsize=7)
