"""Scores over the paper's grids of λ1 and λ2 on validation documents.

As in the paper, each factor is varied alone, the other at zero, and the two best are put together.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

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


def run(
    model: options.Model,
    corpus: options.Corpus = options.DEFAULT_CORPUS,
    documents: options.Documents = 300,
    sets: options.Sets = None,
    seed: options.Seed = 0,
    settings: options.Settings = None,
    chosen: options.Chosen = None,
    results: options.Results = options.DEFAULT_RESULTS,
    pictures: options.Pictures = options.DEFAULT_PICTURES,
) -> None:
    """Draw the curves of the two diversity factors, and choose the best of each."""
    sample = open_sample(model, corpus, documents=documents, seed=seed, sets=sets)
    search = options.change_search(sample.config.search, settings, chosen)
    content = {**sample.about, **measure(sample, search, GRIDS)}
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
    return {name: values[key] for name, key in _SCORES.items()}


def _best(curve: Sequence[dict[str, float]]) -> float:
    """Value with the best mean of the two scores; of equals, the smallest."""
    return max(curve, key=lambda point: sum(point[name] for name in _SCORES))["value"]


def draw(content: Result, pictures: Path, name: str = "lambda") -> list[Table]:
    """A table, and a curve a factor."""
    chosen = content["chosen"]
    both = f"{chosen['lambda1']}, {chosen['lambda2']}"
    lines = [["none", "0", *_cells(content["none"])]]
    for factor, curve in content["curves"].items():
        lines += [[_SYMBOLS[factor], f"{point['value']}", *_cells(point)] for point in curve]
    lines.append(["both", both, *_cells(content["together"])])
    _draw_curves(name, pictures, content)
    note = "Each factor alone, the other zero; last, the two with the best mean of both scores."
    title = f"Diversity factors on {content['documents']} documents of {content['corpus']}"
    return [Table(title, ["factor", "value", *_SCORES], lines, [note])]


def _cells(point: Mapping[str, float]) -> list[str]:
    return [f"{point[score]:.3f}" for score in _SCORES]


def _draw_curves(name: str, pictures: Path, content: Result) -> None:
    with figure(name, pictures, panels=2) as axes:
        for axis, (factor, curve) in zip(axes, content["curves"].items(), strict=True):
            values = [point["value"] for point in curve]
            for i, score in enumerate(_SCORES):
                look = {"color": COLOURS[i], "marker": MARKERS[i], "label": score}
                axis.plot(values, [point[score] for point in curve], **look)
                axis.axhline(content["none"][score], color=COLOURS[i], linestyle=":", linewidth=1)
            axis.set(xscale="log", xlabel=f"{_SYMBOLS[factor]} (log scale)", ylabel="F1")
            axis.set_xticks(values, [f"{value:g}" for value in values], rotation=60, fontsize=7)
            axis.minorticks_off()
            axis.set_title(f"{_SYMBOLS[factor]} alone; dotted: none", fontsize=9)
        legend_below(axes, columns=2)
