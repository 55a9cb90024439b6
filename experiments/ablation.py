"""Scores of the network's variants, with and without diversified inference, beside the paper's.

Every run is decoded twice with the same weights. A row that was measured before under the same
settings, weights and documents is not measured again, so the experiment can be stopped and go on.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean, stdev
from typing import Annotated, Any

import typer

from experiments import options, published
from experiments.corpora import ParsedCorpus, parse_corpora, score_lists
from experiments.results import Result, Row, read_rows, write_result
from experiments.runs import INFERENCES, PATTERN, VARIANTS, Run, find_runs
from experiments.tables import Table, to_markdown
from phraseloom.config import SearchConfig
from phraseloom.errors import PhraseloomError
from phraseloom.evaluate.files import write_predictions
from phraseloom.evaluate.phrases import Split
from phraseloom.extractor import Extractor
from phraseloom.network.weights import MANIFEST, WEIGHTS, find_model, load_model
from phraseloom.text.parsers import load_parser


@dataclass(frozen=True, slots=True)
class Measurement:
    """Scores of one network under one inference on one corpus, and what they depend on."""

    variant: str
    seed: int
    inference: str
    corpus: str
    documents: int
    search: dict[str, Any]
    style: str | None
    split: str
    weights: str
    """Checksum."""
    texts: str
    """Checksum."""
    values: dict[str, float]

    def is_of(self, other: "Measurement") -> bool:
        """Whether both measure the same thing."""
        return asdict(self) | {"values": {}} == asdict(other) | {"values": {}}

    def replaces(self, other: "Measurement") -> bool:
        """Whether both have the same place in the tables."""
        keys = ("variant", "seed", "inference", "corpus")
        return all(getattr(self, key) == getattr(other, key) for key in keys)


@dataclass(frozen=True, slots=True)
class Kind:
    """A table of the paper: its columns, and its published rows."""

    title: str
    keys: dict[str, str]
    """Column and key of docs/metrics.md."""
    theirs: dict[str, published.Row]
    deviations: dict[str, published.Row]


KINDS = (
    Kind(
        "F1@M and F1@5",
        {"F1@M": "present.macro.f1@M", "F1@5": "present.filled.macro.f1@5"},
        published.F1,
        published.F1_DEVIATION,
    ),
    Kind("NDCG@10", {"NDCG@10": "present.ndcg@10"}, published.NDCG, published.NDCG_DEVIATION),
    Kind(
        "Unfilled F1@5 and F1@10",
        {"F1@5": "present.unfilled.macro.f1@5", "F1@10": "present.unfilled.macro.f1@10"},
        published.UNFILLED,
        {},
    ),
)
DIVERSITY = {
    "Avg. #": ("present.predicted", 2),
    "Corr. #": ("present.correct", 2),
    "duplicates": ("all.duplicate_rate", 3),
    "nested": ("present.nested_rate", 3),
    "repeated words": ("present.repeated_word_rate", 3),
}
"""Key of docs/metrics.md and decimals of each column of the tables in `diversity`."""
KEPT = [
    "present.targets",
    *(key for kind in KINDS for key in kind.keys.values()),
    *(key for key, _ in DIVERSITY.values()),
]
"""What is kept of hundreds of values: what is drawn."""


def run(
    corpora: Annotated[list[Path], typer.Argument(help="test corpora")],
    runs: Annotated[str, typer.Option(help="where the runs are")] = PATTERN,
    seeds: Annotated[list[int] | None, typer.Option("--seed", help="default: 1, 2, 3")] = None,
    config: Annotated[Path, typer.Option(help="named when a run is missing")] = Path(
        "configs/default.toml"
    ),
    settings: options.Settings = None,
    chosen: options.Chosen = None,
    style: Annotated[str | None, typer.Option(help="kind of annotator")] = None,
    split: Annotated[Split, typer.Option(help="how the corpora part words")] = Split.spaces,
    predictions: options.Predictions = options.DEFAULT_PREDICTIONS,
    results: options.Results = options.DEFAULT_RESULTS,
    pictures: options.Pictures = options.DEFAULT_PICTURES,
) -> None:
    """Score all variants on test corpora, each with several seeds."""
    trained, missing = find_runs(runs, seeds or [1, 2, 3])
    for absent in missing:
        typer.echo(f"missing: {absent.train_command(config)}", err=True)
    if not trained:
        raise PhraseloomError(f"there is no run {runs}; train one of those above")
    parser = load_parser()
    parsed = parse_corpora(corpora, parser)
    path = results / "ablation.json"
    rows = [Measurement(**row) for row in read_rows(path)]
    for present in trained:
        model, own = load_model(present.path)
        search = options.change_search(own.search, settings, chosen)
        extractor = Extractor(model, search, parser)
        for row, lists, corpus in measure(present, extractor, parsed, rows, style, split):
            rows = [old for old in rows if not row.replaces(old)] + [row]
            name = f"{row.variant}-seed{row.seed}-{row.inference}"
            path_of_lists = predictions / name / f"{corpus.name}.predictions.jsonl"
            write_predictions(path_of_lists, corpus.documents, lists)
            write_result(path, {"rows": [asdict(row) for row in rows]})
    typer.echo(to_markdown(*draw({"rows": read_rows(path)}, pictures)))


def measure(
    run: Run,
    extractor: Extractor,
    corpora: Sequence[ParsedCorpus],
    known: Sequence[Measurement],
    style: str | None,
    split: Split,
) -> Iterable[tuple[Measurement, list[list[str]], ParsedCorpus]]:
    """What is not known yet of a run: each row with the phrases behind it."""
    weights = _weights_checksum(run.path)
    for corpus in corpora:
        for inference, search in inference_settings(extractor.search).items():
            row = Measurement(
                variant=run.variant.name,
                seed=run.seed,
                inference=inference,
                corpus=corpus.name,
                documents=len(corpus.documents),
                search=search.model_dump(),
                style=style,
                split=split.value,
                weights=weights,
                texts=corpus.checksum,
                values={},
            )
            if any(row.is_of(old) for old in known):
                continue
            changed = extractor.with_search(**search.model_dump())
            title = f"{run.variant.title_of(inference)} {run.seed}"
            lists = corpus.predict(changed, title=title, style=style)
            row.values.update(score_lists(corpus.documents, lists, split, KEPT))
            yield row, lists, corpus


def inference_settings(search: SearchConfig) -> dict[str, SearchConfig]:
    """The two inferences: the same settings without and with the diversity terms."""
    if search.lambda1 == 0 and search.lambda2 == 0:
        raise PhraseloomError(
            "diversified inference needs a factor above 0; give --set lambda1=1 --set lambda2=0.1"
        )
    plain = search.model_copy(update={"lambda1": 0.0, "lambda2": 0.0})
    return dict(zip(INFERENCES, (plain, search), strict=True))


def _weights_checksum(path: Path) -> str:
    manifest = json.loads((find_model(path) / MANIFEST).read_text(encoding="utf-8"))
    return str(manifest["files"][WEIGHTS])


def draw(content: Result, pictures: Path, name: str = "ablation") -> list[Table]:
    """A table for each of the paper's."""
    rows = content["rows"]
    return [_table(kind, rows, measured_sets(rows)) for kind in KINDS]


def measured_sets(rows: Sequence[Row]) -> dict[str, str]:
    """Names and titles of the corpora that were measured: the paper's first, in its order."""
    seen = dict.fromkeys(row["corpus"] for row in rows)
    known = {name: title for name, title in published.SETS.items() if name in seen}
    return known | {name: name for name in seen if name not in known}


def _table(kind: Kind, rows: Sequence[Row], sets: dict[str, str]) -> Table:
    """One table: our variants, then the published rows."""
    columns = [f"{title} {key}" for title in sets.values() for key in kind.keys]
    lines = []
    for name, ours in group_rows(rows):
        cells = [_ours(ours, corpus, key) for corpus in sets for key in kind.keys.values()]
        lines.append([name, "run here", str(len({row["seed"] for row in ours})), *cells])
    for name, of_sets in kind.theirs.items():
        deviation = kind.deviations.get(name, {})
        cells = [
            _paper(of_sets.get(corpus), deviation.get(corpus), i)
            for corpus in sets
            for i in range(len(kind.keys))
        ]
        seeds = "3" if name in published.F1_DEVIATION else "–"
        lines.append([name, published.MARK, seeds, *cells])
    return Table(kind.title, ["model", "origin", "seeds", *columns], lines, _notes(rows, sets))


def group_rows(rows: Sequence[Row]) -> list[tuple[str, list[Row]]]:
    """Rows of each variant and inference, in the order of the paper, with its name."""
    groups = []
    for variant in VARIANTS:
        for inference in INFERENCES:
            own = [r for r in rows if (r["variant"], r["inference"]) == (variant.name, inference)]
            if own:
                groups.append((variant.title_of(inference), own))
    return groups


def _ours(rows: Sequence[Row], corpus: str, key: str) -> str:
    return spread([row["values"][key] for row in rows if row["corpus"] == corpus])


def spread(values: Sequence[float], digits: int = 3) -> str:
    """Mean and standard deviation over seeds, as far as there are any.

    >>> spread([0.30, 0.32]), spread([0.3]), spread([])
    ('0.310 ± 0.014', '0.300', '–')
    """
    if not values:
        return "–"
    if len(values) == 1:
        return f"{values[0]:.{digits}f}"
    return f"{mean(values):.{digits}f} ± {stdev(values):.{digits}f}"


def _paper(values: tuple[float, ...] | None, deviations: tuple[float, ...] | None, i: int) -> str:
    if values is None:
        return "–"
    return f"{values[i]:.3f}" + (f" ± {deviations[i]:.3f}" if deviations else "")


def _notes(rows: Sequence[Row], sets: dict[str, str]) -> list[str]:
    documents = {row["corpus"]: row["documents"] for row in rows}
    sizes = [f"{title} {documents[name]:,}" for name, title in sets.items()]
    theirs = [f"{title} {published.DOCUMENTS[name]:,}" for name, title in published.SETS.items()]
    searches = {json.dumps(row["search"], sort_keys=True) for row in rows}
    return [
        "Mean ± sample standard deviation over seeds; macro averages of present phrases."
        f" Documents here: {', '.join(sizes)}; in the paper: {', '.join(theirs)}.",
        *(f"Search: `{search}`" for search in sorted(searches)),
    ]
