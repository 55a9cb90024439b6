"""Learning curve of a run, or of several that start from each other: F1 against documents seen."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from experiments import options
from experiments.figures import COLOURS, MARKERS, figure, legend_below
from experiments.results import provenance, read_result, write_result
from experiments.tables import Table, to_markdown, write_tables
from phraseloom.errors import PhraseloomError
from phraseloom.train.checkpoint import METRICS
from phraseloom.train.journal import read_entries

_KEYS = {"perplexity": "perplexity", "f1@5": "F1@5", "f1@M": "F1@M"}


def run(
    runs: Annotated[list[Path] | None, typer.Argument(help="runs, the first one first")] = None,
    after: Annotated[
        str | None,
        typer.Option(help="measured before: count on from this run, and keep what was measured"),
    ] = None,
    results: options.Results = options.DEFAULT_RESULTS,
    draw_only: options.DrawOnly = False,
) -> None:
    """Draw what runs measured on validation documents while they learned."""
    if not draw_only:
        if not runs:
            raise PhraseloomError("name directories of runs, or give --draw-only")
        path = results / "curve.json"
        known = [] if after is None else read_result(path)["rows"]
        write_result(path, {"rows": collect(runs, known, after)})
    typer.echo(draw(results))


def collect(
    runs: Sequence[Path], known: Sequence[dict[str, Any]] = (), after: str | None = None
) -> list[dict[str, Any]]:
    """Validations of all runs; each run counts on from the documents of the ones before it.

    Args:
        runs: directories; those of known runs may be gone.
        known: what was measured before, to be kept but for that of the same runs.
        after: the known run that the first one started from.
    """
    seen = [row["documents"] for row in known if row["run"] == after]
    if after is not None and not seen:
        raise PhraseloomError(f"--after {after}: that run was not measured; name one that was")
    names = {run.name for run in runs}
    rows = [row for row in known if row["run"] not in names]
    before = max(seen, default=0)
    command = provenance()["command"]
    for run in runs:
        entries = [entry for entry in read_entries(run / METRICS) if "perplexity" in entry]
        if not entries:
            raise PhraseloomError(f"{run} has measured nothing yet; let it end")
        for entry in entries:
            scores = {key: entry[key] for key in _KEYS}
            about = {"run": run.name, "documents": before + entry["documents"]}
            rows.append({**about, **scores, "command": command})
        before = rows[-1]["documents"]
    return rows


def draw(results: Path) -> str:
    """Write the table and the figure; give the table as Markdown."""
    points = read_result(results / "curve.json")["rows"]
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
