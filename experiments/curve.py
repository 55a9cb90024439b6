"""Learning curve of a run, or of several that start from each other: F1 against documents seen."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from experiments import options
from experiments.compare import read_validations
from experiments.figures import COLOURS, MARKERS, figure, legend_below
from experiments.results import Result, Row, provenance, read_rows, write_result
from experiments.tables import Table, to_markdown
from phraseloom.errors import PhraseloomError

_KEYS = {"perplexity": "perplexity", "f1@5": "F1@5", "f1@M": "F1@M"}


def run(
    runs: Annotated[list[Path], typer.Argument(help="runs, the first one first")],
    after: Annotated[
        str | None,
        typer.Option(help="measured before: count on from this run, and keep what was measured"),
    ] = None,
    results: options.Results = options.DEFAULT_RESULTS,
    pictures: options.Pictures = options.DEFAULT_PICTURES,
) -> None:
    """Draw what runs measured on validation documents while they learned."""
    path = results / "curve.json"
    known = [] if after is None else read_rows(path)
    written = write_result(path, {"rows": collect(runs, known, after)})
    typer.echo(to_markdown(*draw(written, pictures)))


def collect(runs: Sequence[Path], known: Sequence[Row] = (), after: str | None = None) -> list[Row]:
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
        for entry in read_validations(run):
            scores = {key: entry[key] for key in _KEYS}
            about = {"run": run.name, "documents": before + entry["documents"]}
            rows.append({**about, **scores, "command": command})
        before = rows[-1]["documents"]
    return rows


def draw(content: Result, pictures: Path, name: str = "curve") -> list[Table]:
    """A table of all validations, and two curves."""
    points = content["rows"]
    lines = [
        [point["run"], f"{point['documents']:,}", f"{point['perplexity']:.2f}"]
        + ["–" if point[key] is None else f"{point[key]:.3f}" for key in ("f1@5", "f1@M")]
        for point in points
    ]
    with figure(name, pictures, panels=2) as axes:
        for i, run in enumerate(dict.fromkeys(point["run"] for point in points)):
            own = [point for point in points if point["run"] == run]
            seen = [point["documents"] / 1000 for point in own]
            look = {"color": COLOURS[i], "marker": MARKERS[i], "label": run}
            axes[0].plot(seen, [point["perplexity"] for point in own], **look)
            axes[1].plot(seen, [point["f1@M"] for point in own], **look)
        axes[0].set(title="perplexity", xlabel="thousand documents seen", yscale="log")
        axes[1].set(title="F1@M", xlabel="thousand documents seen")
        legend_below(axes, columns=3)
    return [Table("Learning curve", ["run", "documents seen", *_KEYS.values()], lines)]
