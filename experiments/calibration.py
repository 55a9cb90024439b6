"""What a score means: of the phrases with about this score, how many are reference phrases."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from statistics import fmean

import typer

from experiments import options
from experiments.figures import COLOURS, MARKERS, figure
from experiments.results import Result, Row, write_result
from experiments.sample import Sample, open_sample
from experiments.tables import Table, to_markdown
from phraseloom.config import SearchConfig

PHRASES = 10
"""Looked at per document, whatever their scores."""
BOUNDS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 1.0)


def run(
    model: options.Model,
    corpus: options.Corpus = options.DEFAULT_CORPUS,
    documents: options.Documents = 1000,
    sets: options.Sets = None,
    seed: options.Seed = 0,
    settings: options.Settings = None,
    results: options.Results = options.DEFAULT_RESULTS,
    pictures: options.Pictures = options.DEFAULT_PICTURES,
) -> None:
    """Compare scores with the share of phrases that are reference phrases."""
    sample = open_sample(model, corpus, documents=documents, seed=seed, sets=sets)
    search = options.change_search(sample.config.search, settings)
    content = {**sample.about, "search": search.model_dump(), "bins": measure(sample, search)}
    written = write_result(results / "calibration.json", content)
    typer.echo(to_markdown(*draw(written, pictures)))


def measure(sample: Sample, search: SearchConfig) -> list[Row]:
    """Phrases between each two bounds: how many, their mean score, the share that is right."""
    lists = sample.decode(search, limit=PHRASES)
    points = [
        (phrase.score, stems in document.targets)
        for phrases, document in zip(lists, sample.judge(lists), strict=True)
        for phrase, stems in zip(phrases, document.predictions, strict=True)
    ]
    return [_bin(points, low, high) for low, high in pairwise(BOUNDS)]


def _bin(points: Sequence[tuple[float, bool]], low: float, high: float) -> Row:
    inside = [(score, is_right) for score, is_right in points if low < score <= high]
    mean_score = fmean(score for score, _ in inside) if inside else 0.0
    right = fmean(is_right for _, is_right in inside) if inside else 0.0
    return {"low": low, "high": high, "phrases": len(inside), "score": mean_score, "right": right}


def draw(content: Result, pictures: Path, name: str = "calibration") -> list[Table]:
    """A table, and a figure of the same."""
    bins = [row for row in content["bins"] if row["phrases"]]
    lines = [
        [
            f"{row['low']:.2f}–{row['high']:.2f}",
            f"{row['phrases']:,}",
            f"{row['score']:.3f}",
            f"{row['right']:.3f}",
        ]
        for row in bins
    ]
    with figure(name, pictures) as (axis,):
        scores, shares = ([row[key] for row in bins] for key in ("score", "right"))
        axis.plot([0, 1], [0, 1], color="#999999", linestyle=":", linewidth=1)
        axis.plot(scores, shares, color=COLOURS[0], marker=MARKERS[0])
        axis.set(xlabel="score", ylabel="share of reference phrases", xlim=(0, 1), ylim=(0, 1))
    title = f"Scores of {PHRASES} phrases of {content['documents']} documents"
    return [Table(title, ["score", "phrases", "mean score", "are reference phrases"], lines)]
