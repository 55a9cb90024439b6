"""What a score means: of the phrases with about this score, how many are reference phrases.

By kind of text and with what users may ask for: seeds and diversity choose other phrases, and
must leave scores what they are.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Annotated, NamedTuple

import numpy as np
import typer

from experiments import options
from experiments.figures import COLOURS, MARKERS, figure
from experiments.results import Result, Row, write_result
from experiments.tables import Table, to_markdown
from phraseloom.extractor import Extractor
from phraseloom.io.records import CorpusDocument, CorpusReader
from phraseloom.options import Options
from phraseloom.parallel import in_batches
from phraseloom.text.document import Document
from phraseloom.text.matching import split_keywords, unit_stems
from phraseloom.train.ranking import RankingPlan, expected_calibration_error, load_plan

PHRASES = 10
"""Looked at per document, whatever their scores."""
BOUNDS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 1.0)
_TOGETHER = 32
_ASKED = ("nothing", "diversity 0.5", "a seed")


class Point(NamedTuple):
    """A phrase of a list."""

    kind: str
    asked: str
    score: float
    is_right: bool


def run(
    model: Annotated[str, typer.Argument(help="name or directory of a model")],
    corpora: Annotated[list[Path], typer.Argument(help="validation documents, with their sets")],
    plan: Annotated[Path, typer.Option(help="says of what kind a set is")] = Path(
        "configs/recipe/8-ranking.toml"
    ),
    documents: Annotated[int, typer.Option(min=1, help="drawn of each kind")] = 200,
    seed: options.Seed = 0,
    results: options.Results = options.DEFAULT_RESULTS,
    pictures: options.Pictures = options.DEFAULT_PICTURES,
) -> None:
    """Compare scores with the share of phrases that are reference phrases."""
    drawn = draw_documents(list(CorpusReader(corpora)), load_plan(plan), documents, seed)
    points = list(measure(Extractor.load(model), drawn))
    content = {
        "documents": {kind: len(of_kind) for kind, of_kind in drawn.items()},
        "seed": seed,
        "errors": _errors(points),
        "bins": make_bins([point for point in points if point.asked == _ASKED[0]]),
    }
    written = write_result(results / "calibration.json", content)
    typer.echo(to_markdown(*draw(written, pictures)))


def draw_documents(
    documents: Sequence[CorpusDocument], plan: RankingPlan, count: int, seed: int
) -> dict[str, list[CorpusDocument]]:
    """Some documents of each kind of text; sets that no style is fitted to are left out."""
    chance = np.random.default_rng(seed)
    default = next(iter(plan.styles.values()))
    drawn: dict[str, list[CorpusDocument]] = {}
    for number in chance.permutation(len(documents)):
        document = documents[number]
        of_kind = drawn.setdefault(plan.kind_of(document.origin), [])
        if default.share(document.origin) and len(of_kind) < count:
            of_kind.append(document)
    return drawn


def measure(extractor: Extractor, drawn: dict[str, list[CorpusDocument]]) -> Iterator[Point]:
    """The phrases of lists of ten, whatever is asked for beside that."""
    for kind, documents in drawn.items():
        for batch in in_batches(documents, _TOGETHER):
            parsed = extractor.parse([document.source for document in batch])
            for record, document in zip(batch, parsed, strict=True):
                right = {
                    unit_stems(place.phrase)
                    for place in split_keywords(document, record.keywords).present
                }
                for asked, wanted in zip(_ASKED, _options(document), strict=True):
                    [phrases] = extractor.extract_parsed([document], wanted)
                    for phrase in phrases:
                        is_right = unit_stems(phrase.text) in right
                        yield Point(kind, asked, phrase.score, is_right)


def _options(document: Document) -> list[Options]:
    """One for each of `_ASKED`; the seed is the word in the middle of the text."""
    words = [token.word for token in document.tokens() if token.word.isalpha()]
    seeds = (words[len(words) // 2],) if words else ()
    return [Options(top=PHRASES, **more) for more in ({}, {"diversity": 0.5}, {"seeds": seeds})]


def _errors(points: Sequence[Point]) -> list[Row]:
    rows = []
    for kind in dict.fromkeys(point.kind for point in points):
        for asked in _ASKED:
            own = [point for point in points if (point.kind, point.asked) == (kind, asked)]
            scores, right = (np.array([point[i] for point in own], dtype=float) for i in (2, 3))
            error = expected_calibration_error(scores, right)
            rows.append({"kind": kind, "asked": asked, "phrases": len(own), "error": error})
    return rows


def make_bins(points: Sequence[Point]) -> list[Row]:
    """Phrases between each two bounds: how many, their mean score, the share that is right."""
    return [_bin(points, low, high) for low, high in pairwise(BOUNDS)]


def _bin(points: Sequence[Point], low: float, high: float) -> Row:
    inside = [point for point in points if low < point.score <= high]
    mean_score = fmean(point.score for point in inside) if inside else 0.0
    right = fmean(point.is_right for point in inside) if inside else 0.0
    return {"low": low, "high": high, "phrases": len(inside), "score": mean_score, "right": right}


def draw(content: Result, pictures: Path, name: str = "calibration") -> list[Table]:
    """Tables of errors and of bins, and a figure of the bins."""
    errors = {(row["kind"], row["asked"]): row["error"] for row in content["errors"]}
    kinds = list(content["documents"])
    by_kind = [[k, *(f"{errors[k, asked]:.3f}" for asked in _ASKED)] for k in kinds]
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
    title = f"Scores of {PHRASES} phrases of {sum(content['documents'].values())} documents"
    return [
        Table("Calibration error by kind of text and what is asked", ["kind", *_ASKED], by_kind),
        Table(title, ["score", "phrases", "mean score", "are reference phrases"], lines),
    ]
