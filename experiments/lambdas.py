"""Scores over the paper's grids of λ1 and λ2 on validation documents.

As in the paper, each factor is varied alone, the other at zero, and the two best are put together.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from experiments import options
from experiments.figures import COLOURS, MARKERS, figure, legend_below
from experiments.results import read_result, write_result
from experiments.sample import Sample, open_sample
from experiments.tables import Table, to_markdown, write_tables
from experiments.tune import AT_5, AT_M
from phraseloom.cli.progress import document_progress
from phraseloom.config import SearchConfig
from phraseloom.errors import PhraseloomError

LAMBDA1 = (0.1, 0.2, 0.5, 0.8, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0, 10.0)
LAMBDA2 = (0.01, 0.05, 0.1, 0.2, 0.5, 0.8, 1.0, 1.5, 2.0)
"""The paper's search spaces; zero, which is no factor at all, is measured beside them."""
GRIDS = {"lambda1": LAMBDA1, "lambda2": LAMBDA2}
_SYMBOLS = {"lambda1": "λ1", "lambda2": "λ2"}
_SCORES = {"f1@5": "F1@5", "f1@M": "F1@M"}


def run(
    model: Annotated[Path | None, typer.Argument(help="model directory")] = None,
    corpus: Annotated[Path, typer.Option(help="prepared corpus")] = Path("runs/data/valid"),
    documents: Annotated[int, typer.Option(min=1, help="drawn from it")] = 300,
    sets: Annotated[list[str] | None, typer.Option("--from", help="only from this set")] = None,
    seed: Annotated[int, typer.Option(min=0, help="of the draw")] = 0,
    settings: options.Settings = None,
    chosen: options.Chosen = None,
    results: options.Results = options.DEFAULT_RESULTS,
    draw_only: options.DrawOnly = False,
) -> None:
    """Draw the curves of the two diversity factors, and choose the best of each."""
    if not draw_only:
        if model is None:
            raise PhraseloomError("name a model directory, or give --draw-only")
        sample, config = open_sample(model, corpus, documents=documents, seed=seed, sets=sets or [])
        search = options.change_search(config.search, settings, chosen)
        content = {"model": str(model), "corpus": str(corpus), "seed": seed, "sets": sets or []}
        measured = measure(sample, search, GRIDS)
        write_result(results / "lambda.json", {**content, "documents": len(sample), **measured})
    typer.echo(draw(results))


def measure(
    sample: Sample, search: SearchConfig, grids: Mapping[str, Sequence[float]]
) -> dict[str, Any]:
    """Scores with each factor alone, and the settings with the best of both."""
    plain = search.model_copy(update={"lambda1": 0.0, "lambda2": 0.0})
    none = _measure_one(sample, plain)
    curves = {
        name: [
            {"value": value, **_measure_one(sample, plain.model_copy(update={name: value}))}
            for value in grid
        ]
        for name, grid in grids.items()
    }
    best = {name: _best([{"value": 0.0, **none}, *curve]) for name, curve in curves.items()}
    together = search.model_copy(update=best)
    return {
        "search": plain.model_dump(),
        "none": none,
        "curves": curves,
        "pair": best,
        "together": _measure_one(sample, together),
        "chosen": together.model_dump(),
    }


def _measure_one(sample: Sample, search: SearchConfig) -> dict[str, float]:
    with document_progress(f"λ1 {search.lambda1}, λ2 {search.lambda2}") as on_progress:
        values = sample.score(sample.decode(search, on_progress=on_progress))
    return {"f1@5": values[AT_5], "f1@M": values[AT_M]}


def _best(curve: Sequence[dict[str, float]]) -> float:
    """Value with the best mean of the two scores; of equals, the smallest."""
    return max(curve, key=lambda point: point["f1@5"] + point["f1@M"])["value"]


def draw(results: Path) -> str:
    """Write the table and the figure; give the table."""
    content = read_result(results / "lambda.json")
    rows = [["none", "0", *_cells(content["none"])]]
    for name, curve in content["curves"].items():
        rows += [[_SYMBOLS[name], f"{point['value']}", *_cells(point)] for point in curve]
    pair = content["pair"]
    rows.append(["both", f"{pair['lambda1']}, {pair['lambda2']}", *_cells(content["together"])])
    notes = [
        "Each factor alone, the other zero; last, the best of each by the mean of the two scores."
    ]
    title = f"Diversity factors on {content['documents']} documents of {content['corpus']}"
    table = Table(title, ["factor", "value", *_SCORES.values()], rows, notes)
    write_tables(results / "lambda", [table])
    _draw_curves(results / "lambda", content)
    return to_markdown(table)


def _cells(point: dict[str, float]) -> list[str]:
    return [f"{point[score]:.3f}" for score in _SCORES]


def _draw_curves(path: Path, content: dict[str, Any]) -> None:
    with figure(path, panels=2) as axes:
        for axis, (name, curve) in zip(axes, content["curves"].items(), strict=True):
            values = [point["value"] for point in curve]
            for i, (score, title) in enumerate(_SCORES.items()):
                look = {"color": COLOURS[i], "label": title}
                axis.plot(values, [point[score] for point in curve], marker=MARKERS[i], **look)
                axis.axhline(content["none"][score], color=COLOURS[i], linestyle=":", linewidth=1)
            axis.set(xscale="log", xlabel=f"{_SYMBOLS[name]} (log scale)", ylabel="F1")
            axis.set_xticks(values, [f"{value:g}" for value in values], rotation=60, fontsize=7)
            axis.minorticks_off()
            axis.set_title(f"{_SYMBOLS[name]} alone; dotted: none", fontsize=9)
        legend_below(axes, columns=2)
