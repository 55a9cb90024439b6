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
from experiments.parsed import ParsedCorpus, parse_corpora
from experiments.results import read_result, write_result
from experiments.runs import INFERENCES, PATTERN, VARIANTS, Run, find_runs, train_command
from experiments.tables import Table, to_markdown, write_tables
from phraseloom.cli.evaluate import write_predictions
from phraseloom.cli.score import Split
from phraseloom.config import SearchConfig
from phraseloom.errors import PhraseloomError
from phraseloom.extractor import Extractor
from phraseloom.model.checkpoint import MANIFEST, WEIGHTS, find_model, load_model
from phraseloom.text.parse import Parser, load_parser


@dataclass(frozen=True, slots=True)
class Row:
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

    def is_of(self, other: "Row") -> bool:
        """Whether both measure the same thing."""
        return asdict(self) | {"values": {}} == asdict(other) | {"values": {}}


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


def run(
    corpora: Annotated[list[Path] | None, typer.Argument(help="test corpora")] = None,
    runs: Annotated[str, typer.Option(help="where the runs are")] = PATTERN,
    seeds: Annotated[list[int] | None, typer.Option("--seed", help="default: 1, 2, 3")] = None,
    config: Annotated[Path, typer.Option(help="named when a run is missing")] = Path(
        "configs/base.toml"
    ),
    settings: options.Settings = None,
    chosen: options.Chosen = None,
    style: Annotated[str | None, typer.Option(help="kind of annotator")] = None,
    split: Annotated[Split, typer.Option(help="how the corpora part words")] = Split.spaces,
    predictions: Annotated[Path, typer.Option(help="folder for what was found")] = Path(
        "runs/predictions"
    ),
    results: options.Results = options.DEFAULT_RESULTS,
    draw_only: options.DrawOnly = False,
) -> None:
    """Score all variants on test corpora, each with several seeds."""
    if not draw_only:
        found, missing = find_runs(runs, seeds or [1, 2, 3])
        for each in missing:
            typer.echo(f"missing: {train_command(each, config)}", err=True)
        if not corpora or not found:
            raise PhraseloomError("name test corpora and have a run, or give --draw-only")
        parser = load_parser()
        parsed = parse_corpora(corpora, parser)
        rows = [Row(**row) for row in _known(results / "ablation.json")]
        for each in found:
            extractor = _load(each, parser)
            extractor.search = options.change_search(extractor.search, settings, chosen)
            for row, lists, corpus in measure(each, extractor, parsed, rows, style, split):
                rows = [old for old in rows if not _replaces(row, old)] + [row]
                name = f"{row.variant}-seed{row.seed}-{row.inference}"
                path = predictions / name / f"{row.corpus}.predictions.jsonl"
                write_predictions(path, corpus.documents, lists)
                write_result(results / "ablation.json", {"rows": [asdict(row) for row in rows]})
    typer.echo(draw(results))


def measure(
    run: Run,
    extractor: Extractor,
    corpora: Sequence[ParsedCorpus],
    known: Sequence[Row],
    style: str | None,
    split: Split,
) -> Iterable[tuple[Row, list[list[str]], ParsedCorpus]]:
    """What is not known yet of a run: each row with the phrases behind it."""
    searches = inference_settings(extractor.search)
    weights = _weights_checksum(run.path)
    for corpus in corpora:
        for inference, search in searches.items():
            row = Row(
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
            extractor.search = search
            title = f"{run.variant.title_of(inference)} {run.seed}"
            lists = corpus.predict(extractor, title=title, style=style)
            row.values.update(corpus.score(lists, split).values)
            yield row, lists, corpus


def inference_settings(search: SearchConfig) -> dict[str, SearchConfig]:
    """The two inferences: the same settings without and with the diversity terms."""
    if search.lambda1 == 0 and search.lambda2 == 0:
        raise PhraseloomError(
            "diversified inference needs a factor above 0; give --set lambda1=1 --set lambda2=0.1"
        )
    plain = search.model_copy(update={"lambda1": 0.0, "lambda2": 0.0})
    return dict(zip(INFERENCES, (plain, search), strict=True))


def _replaces(new: Row, old: Row) -> bool:
    keys = ("variant", "seed", "inference", "corpus")
    return all(getattr(new, key) == getattr(old, key) for key in keys)


def _known(path: Path) -> list[dict[str, Any]]:
    return list(read_result(path)["rows"]) if path.exists() else []


def _load(run: Run, parser: Parser) -> Extractor:
    model, lexicon, config = load_model(run.path)
    return Extractor(model, lexicon, config.search, parser)


def _weights_checksum(path: Path) -> str:
    manifest = json.loads((find_model(path) / MANIFEST).read_text(encoding="utf-8"))
    return str(manifest["files"][WEIGHTS])


def draw(results: Path) -> str:
    """Write the tables; give them as Markdown."""
    rows = read_result(results / "ablation.json")["rows"]
    sets = measured_sets(rows)
    tables = [_table(kind, rows, sets) for kind in KINDS]
    write_tables(results / "ablation", tables)
    return "\n\n".join(to_markdown(table) for table in tables)


def measured_sets(rows: Sequence[dict[str, Any]]) -> dict[str, str]:
    """Names and titles of the corpora that were measured: the paper's first, in its order."""
    seen = dict.fromkeys(row["corpus"] for row in rows)
    known = {name: title for name, title in published.SETS.items() if name in seen}
    return known | {name: name for name in seen if name not in known}


def _table(kind: Kind, rows: Sequence[dict[str, Any]], sets: dict[str, str]) -> Table:
    """One table: our variants, then the published rows."""
    columns = [f"{each} {key}" for each in sets.values() for key in kind.keys]
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


def group_rows(
    rows: Sequence[dict[str, Any]],
) -> list[tuple[str, list[dict[str, Any]]]]:
    """Rows of each variant and inference, in the order of the paper, with its name."""
    groups = []
    for variant in VARIANTS:
        for inference in INFERENCES:
            own = [r for r in rows if (r["variant"], r["inference"]) == (variant.name, inference)]
            if own:
                groups.append((variant.title_of(inference), own))
    return groups


def _ours(rows: Sequence[dict[str, Any]], corpus: str, key: str) -> str:
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


def _notes(rows: Sequence[dict[str, Any]], sets: dict[str, str]) -> list[str]:
    documents = {row["corpus"]: row["documents"] for row in rows}
    sizes = [f"{title} {documents[name]:,}" for name, title in sets.items()]
    theirs = [f"{title} {published.DOCUMENTS[name]:,}" for name, title in published.SETS.items()]
    searches = {json.dumps(row["search"], sort_keys=True) for row in rows}
    return [
        "Mean ± sample standard deviation over seeds; macro averages of present phrases."
        f" Documents here: {', '.join(sizes)}; in the paper: {', '.join(theirs)}.",
        *(f"Search: `{search}`" for search in sorted(searches)),
    ]
