"""Learning curve of a run, or of several that start from each other: F1 against documents seen."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from experiments import options
from experiments.figures import COLOURS, MARKERS, figure, legend_below
from experiments.results import read_result, write_result
from experiments.tables import Table, to_markdown, write_tables
from phraseloom.errors import PhraseloomError
from phraseloom.train.checkpoint import METRICS
from phraseloom.train.journal import read_entries

_KEYS = {"perplexity": "perplexity", "f1@5": "F1@5", "f1@M": "F1@M"}


def run(
    runs: Annotated[list[Path] | None, typer.Argument(help="runs, the first one first")] = None,
    results: options.Results = options.DEFAULT_RESULTS,
    draw_only: options.DrawOnly = False,
) -> None:
    """Draw what runs measured on validation documents while they learned."""
    if not draw_only:
        if not runs:
            raise PhraseloomError("name directories of runs, or give --draw-only")
        write_result(results / "curve.json", {"points": collect(runs)})
    typer.echo(draw(results))


def collect(runs: Sequence[Path]) -> list[dict[str, Any]]:
    """Validations of all runs; each run counts on from the documents of the ones before it."""
    points: list[dict[str, Any]] = []
    before = 0
    for run in runs:
        entries = [entry for entry in read_entries(run / METRICS) if "perplexity" in entry]
        if not entries:
            raise PhraseloomError(f"{run} has measured nothing yet; let it end")
        for entry in entries:
            scores = {key: entry[key] for key in _KEYS}
            points.append({"run": run.name, "documents": before + entry["documents"], **scores})
        before = points[-1]["documents"]
    return points


def draw(results: Path) -> str:
    """Write the table and the figure; give the table as Markdown."""
    points = read_result(results / "curve.json")["points"]
    rows = [
        [point["run"], f"{point['documents']:,}", f"{point['perplexity']:.2f}"]
        + ["–" if point[key] is None else f"{point[key]:.3f}" for key in ("f1@5", "f1@M")]
        for point in points
    ]
    table = Table("Learning curve", ["run", "documents seen", *_KEYS.values()], rows)
    write_tables(results / "curve", [table])
    with figure(results / "curve", panels=2) as axes:
        for i, name in enumerate(dict.fromkeys(point["run"] for point in points)):
            own = [point for point in points if point["run"] == name]
            seen = [point["documents"] / 1000 for point in own]
            look = {"color": COLOURS[i], "marker": MARKERS[i], "label": name}
            axes[0].plot(seen, [point["perplexity"] for point in own], **look)
            axes[1].plot(seen, [point["f1@M"] for point in own], **look)
        axes[0].set(title="perplexity", xlabel="thousand documents seen", yscale="log")
        axes[1].set(title="F1@M", xlabel="thousand documents seen")
        legend_below(axes, columns=3)
    return to_markdown(table)
