"""What a score means: of the phrases with about this score, how many are reference phrases."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import typer

from experiments import options
from experiments.figures import COLOURS, MARKERS, figure
from experiments.results import read_result, write_result
from experiments.sample import Sample, open_sample
from experiments.tables import Table, to_markdown, write_tables
from phraseloom.cli.progress import document_progress
from phraseloom.config import SearchConfig
from phraseloom.errors import PhraseloomError
from phraseloom.search.settings import Count

PHRASES = 10
"""Looked at per document, whatever their scores."""
BOUNDS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 1.0)


def run(
    model: Annotated[Path | None, typer.Argument(help="model directory")] = None,
    corpus: Annotated[Path, typer.Option(help="prepared corpus")] = Path("runs/data/valid"),
    documents: Annotated[int, typer.Option(min=1, help="drawn from it")] = 1000,
    sets: Annotated[list[str] | None, typer.Option("--from", help="only from this set")] = None,
    seed: Annotated[int, typer.Option(min=0, help="of the draw")] = 0,
    settings: options.Settings = None,
    results: options.Results = options.DEFAULT_RESULTS,
    draw_only: options.DrawOnly = False,
) -> None:
    """Compare scores with the share of phrases that are reference phrases."""
    if not draw_only:
        if model is None:
            raise PhraseloomError("name a model directory, or give --draw-only")
        sample, config = open_sample(model, corpus, documents=documents, seed=seed, sets=sets or [])
        search = options.change_search(config.search, settings)
        content = {"model": str(model), "corpus": str(corpus), "seed": seed, "sets": sets or []}
        content |= {"documents": len(sample), "search": search.model_dump()}
        write_result(results / "calibration.json", {**content, "bins": measure(sample, search)})
    typer.echo(draw(results))


def measure(sample: Sample, search: SearchConfig) -> list[dict[str, Any]]:
    """Phrases between each two bounds: how many, their mean score, the share that is right."""
    with document_progress("decoding") as on_progress:
        lists = sample.decode(search, Count.exactly(PHRASES), on_progress=on_progress)
    judged = sample.judge(lists)
    points = [
        (found.score, stems in document.targets)
        for phrases, document in zip(lists, judged, strict=True)
        for found, stems in zip(phrases, document.predictions, strict=True)
    ]
    return [_bin(points, low, high) for low, high in pairwise(BOUNDS)]


def _bin(points: Sequence[tuple[float, bool]], low: float, high: float) -> dict[str, Any]:
    inside = [each for each in points if low < each[0] <= high]
    count = len(inside)
    score, right = (
        (sum(column) / count for column in zip(*inside, strict=True)) if count else (0, 0)
    )
    return {"low": low, "high": high, "phrases": count, "score": score, "right": right}


def draw(results: Path) -> str:
    """Write the table and the figure; give the table as Markdown."""
    content = read_result(results / "calibration.json")
    bins = [each for each in content["bins"] if each["phrases"]]
    rows = [
        [
            f"{each['low']:.2f}–{each['high']:.2f}",
            f"{each['phrases']:,}",
            f"{each['score']:.3f}",
            f"{each['right']:.3f}",
        ]
        for each in bins
    ]
    title = f"Scores of {PHRASES} phrases of {content['documents']} documents"
    columns = ["score", "phrases", "mean score", "are reference phrases"]
    table = Table(title, columns, rows)
    write_tables(results / "calibration", [table])
    with figure(results / "calibration") as (axis,):
        points = [[each[key] for each in bins] for key in ("score", "right")]
        axis.plot([0, 1], [0, 1], color="#999999", linestyle=":", linewidth=1)
        axis.plot(*points, color=COLOURS[0], marker=MARKERS[0])
        axis.set(xlabel="score", ylabel="share of reference phrases", xlim=(0, 1), ylim=(0, 1))
    return to_markdown(table)
