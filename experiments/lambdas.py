"""Scores over the paper's grids of λ1 and λ2 on validation documents, and how alike phrases are.

As in the paper, each factor is varied alone, the other at zero, and the two best are put together:
for our list, and for the paper's, which is in the order of decoding.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from experiments import options
from experiments.figures import COLOURS, MARKERS, figure, legend_below
from experiments.results import Result, write_result
from experiments.sample import AT_5, AT_M, Sample, open_sample
from experiments.tables import Table, to_markdown
from phraseloom.config import SearchConfig

GRIDS = {
    "lambda1": (0.1, 0.2, 0.5, 0.8, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0, 10.0),
    "lambda2": (0.01, 0.05, 0.1, 0.2, 0.5, 0.8, 1.0, 1.5, 2.0),
}
"""The paper's search spaces; zero, which is no factor at all, is measured beside them."""
_SYMBOLS = {"lambda1": "λ1", "lambda2": "λ2"}
_SCORES = {"F1@5": AT_5, "F1@M": AT_M}
_NESTED = "nested"
_VALUES = {**_SCORES, _NESTED: "present.nested_rate"}
_LISTS = {"expected": "our list", "decoding": "the paper's list"}
"""Orders of the search that are measured, ours first: what is chosen is for that one."""


def run(
    model: options.Model,
    corpus: options.Corpus = options.DEFAULT_CORPUS,
    documents: options.Documents = 300,
    sets: options.Sets = None,
    seed: options.Seed = 0,
    every: Annotated[int, typer.Option(min=1, help="1: all of the grids, 2: half of them")] = 1,
    settings: options.Settings = None,
    chosen: options.Chosen = None,
    results: options.Results = options.DEFAULT_RESULTS,
    pictures: options.Pictures = options.DEFAULT_PICTURES,
) -> None:
    """Draw the curves of the two diversity factors, and choose the best of each."""
    sample = open_sample(model, corpus, documents=documents, seed=seed, sets=sets)
    search = options.change_search(sample.config.search, settings, chosen)
    grids = {name: grid[::every] for name, grid in GRIDS.items()}
    lists = {
        title: measure(sample, search.model_copy(update={"order": order}), grids)
        for order, title in _LISTS.items()
    }
    content = {**sample.about, "chosen": next(iter(lists.values()))["chosen"], "lists": lists}
    written = write_result(results / "lambda.json", content)
    typer.echo(to_markdown(*draw(written, pictures)))


def measure(sample: Sample, search: SearchConfig, grids: Mapping[str, Sequence[float]]) -> Result:
    """Scores with each factor alone, and the settings with the best of both."""
    plain = search.model_copy(update={"lambda1": 0.0, "lambda2": 0.0})
    none = {"value": 0.0, **_measure_one(sample, plain)}
    curves = {
        name: [
            {"value": value, **_measure_one(sample, plain.model_copy(update={name: value}))}
            for value in grid
        ]
        for name, grid in grids.items()
    }
    best = {name: _best([none, *curve]) for name, curve in curves.items()}
    together = search.model_copy(update=best)
    return {
        "search": plain.model_dump(),
        "none": none,
        "curves": curves,
        "together": _measure_one(sample, together),
        "chosen": together.model_dump(),
    }


def _measure_one(sample: Sample, search: SearchConfig) -> dict[str, float]:
    title = f"λ1 {search.lambda1}, λ2 {search.lambda2}"
    values = sample.score(sample.decode(search, title=title))
    return {name: values[key] for name, key in _VALUES.items()}


def _best(curve: Sequence[dict[str, float]]) -> float:
    """Value with the best mean of the two scores; of equals, the smallest."""
    return max(curve, key=lambda point: sum(point[name] for name in _SCORES))["value"]


def draw(content: Result, pictures: Path, name: str = "lambda") -> list[Table]:
    """A table for each kind of list; a panel for each, with a curve for each factor and score."""
    _draw_curves(name, pictures, content)
    return [_table(title, measured, content) for title, measured in content["lists"].items()]


def _table(title: str, measured: Result, content: Result) -> Table:
    chosen = measured["chosen"]
    both = f"{chosen['lambda1']}, {chosen['lambda2']}"
    lines = [["none", "0", *_cells(measured["none"])]]
    for factor, curve in measured["curves"].items():
        lines += [[_SYMBOLS[factor], f"{point['value']}", *_cells(point)] for point in curve]
    lines.append(["both", both, *_cells(measured["together"])])
    note = (
        "Each factor alone, the other zero; last, the two with the best mean of both scores."
        " Nested: share of phrases that are part of another of their list."
    )
    caption = f"Diversity factors, {title}: {content['documents']} documents of {content['corpus']}"
    return Table(caption, ["factor", "value", *_VALUES], lines, [note])


def _cells(point: Mapping[str, float]) -> list[str]:
    return [f"{point[score]:.3f}" for score in _VALUES]


def _draw_curves(name: str, pictures: Path, content: Result) -> None:
    lists = content["lists"]
    with figure(name, pictures, panels=len(lists), height=3.2) as axes:
        for axis, (title, measured) in zip(axes, lists.items(), strict=True):
            for i, (factor, curve) in enumerate(measured["curves"].items()):
                points = [measured["none"], *curve]
                nested = [point[_NESTED] for point in points]
                for score, style in zip(_SCORES, ("-", ":"), strict=True):
                    look = {"color": COLOURS[i], "marker": MARKERS[i], "linestyle": style}
                    heights = [point[score] for point in points]
                    axis.plot(nested, heights, label=f"{score} over {_SYMBOLS[factor]}", **look)
                    for x, y, point in zip(nested, heights, points, strict=True):
                        axis.annotate(f"{point['value']:g}", (x, y), fontsize=6)
            axis.set(xlabel="share of nested phrases", ylabel="F1")
            axis.set_title(title, fontsize=9)
        legend_below(axes, columns=4)
