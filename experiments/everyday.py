"""Everyday text: our lists beside those of other extractors, set by set.

Ours are cross-validated: the ranking of a list is fitted to every second document, science
included, and measured on the others. Rows of peers that were measured before are kept.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from experiments import options
from experiments.corpora import score_lists
from experiments.peers import PEERS, find_python, how_to_install, predict
from experiments.results import Result, Row, read_rows, write_result
from experiments.tables import Table, to_markdown
from phraseloom.evaluate.files import write_predictions
from phraseloom.evaluate.phrases import Split
from phraseloom.extractor import Extractor
from phraseloom.io.records import CorpusDocument, CorpusReader, corpus_name
from phraseloom.train.ranking import RankingPlan, fit_styles, load_plan

SCIENCE = ("author", "indexer")
"""Kinds of text, in the plan, that are scientific."""
READERS = "news-annotated"
"""The set whose phrases were picked by readers; all others are publishers' and authors' tags."""
METRICS = {"F1@5": "present.filled.macro.f1@5", "F1@10": "present.filled.macro.f1@10"}
_RIVALS = ("yake", "textrank", "positionrank", "keybert-vectorizers")
_TOP = 10


def run(
    corpus: Annotated[Path, typer.Argument(help="validation documents, with their sets")],
    plan: Annotated[Path, typer.Option(help="what styles are fitted to")] = Path(
        "configs/recipe/8-ranking.toml"
    ),
    model: Annotated[Path | None, typer.Option(help="ours; none: peers only")] = None,
    peers: Annotated[list[str] | None, typer.Option("--peer", help="default: four")] = None,
    environments: Annotated[Path, typer.Option(help="folder of their environments")] = Path(
        "runs/peers"
    ),
    predictions: options.Predictions = options.DEFAULT_PREDICTIONS,
    results: options.Results = options.DEFAULT_RESULTS,
    pictures: options.Pictures = options.DEFAULT_PICTURES,
) -> None:
    """Compare lists of everyday text with those of peers."""
    path, wanted = results / "everyday.json", load_plan(plan)
    documents = list(CorpusReader([corpus]))
    rows = read_rows(path)
    everyday = [d for d in documents if wanted.kind_of(d.origin) not in SCIENCE]
    for name in peers if peers is not None else _RIVALS:
        python = find_python(name, environments)
        if python is None:
            typer.echo(how_to_install(name, environments), err=True)
            continue
        typer.echo(f"{PEERS[name].title} …", err=True)
        lists, _ = predict(name, python, everyday, _TOP, None)
        kept = predictions / name / f"{corpus_name(corpus)}.predictions.jsonl"
        write_predictions(kept, everyday, lists)
        rows = _replace(read_rows(path), _score_by_set(name, everyday, lists))
        write_result(path, {"rows": rows})
    if model is not None:
        ours = _measure_ours(model, documents, wanted)
        rows = _replace(read_rows(path), ours)
        write_result(path, {"rows": rows})
    typer.echo(to_markdown(*draw({"rows": rows}, pictures)))


def _replace(rows: Sequence[Row], new: Sequence[Row]) -> list[Row]:
    measured = {row["system"] for row in new}
    return [row for row in rows if row["system"] not in measured] + list(new)


def _score_by_set(
    name: str, documents: Sequence[CorpusDocument], lists: Sequence[Sequence[str]]
) -> list[Row]:
    rows = []
    for origin in sorted({document.origin for document in documents}):
        of_set = [i for i, document in enumerate(documents) if document.origin == origin]
        values = score_lists(
            [documents[i] for i in of_set],
            [lists[i] for i in of_set],
            Split.words,
            METRICS.values(),
        )
        scores = {title: values[key] for title, key in METRICS.items()}
        rows.append({"system": name, "set": origin, "documents": len(of_set), **scores})
    return rows


def _measure_ours(model: Path, documents: Sequence[CorpusDocument], plan: RankingPlan) -> list[Row]:
    _, reports = fit_styles(Extractor.load(model), documents, plan)
    return [
        {
            "system": f"phraseloom, {style}",
            **{"set": origin, "documents": report.documents},
            **{"F1@5": round(report.f1_at_5, 6), "F1@10": round(report.f1_at_10, 6)},
        }
        for style, by_set in reports.items()
        for origin, report in by_set.items()
        if plan.kind_of(origin) not in SCIENCE
    ]


def draw(content: Result, pictures: Path, name: str = "everyday") -> list[Table]:
    """A table of all systems on the two kinds of sets, and one of ratios set by set."""
    rows = content["rows"]
    values = {(row["system"], row["set"]): (row["F1@5"], row["F1@10"]) for row in rows}
    sizes = {row["set"]: row["documents"] for row in rows}
    tags = [origin for origin in sorted(sizes) if origin != READERS]
    lines = []
    for system in dict.fromkeys(row["system"] for row in rows):
        cells = [_pair(values.get((system, READERS)))]
        of_tags = [values[system, origin] for origin in tags if (system, origin) in values]
        cells += [_pair(_mean(of_tags)) if of_tags else "–", str(len(of_tags))]
        lines.append([PEERS[system].title if system in PEERS else system, *cells])
    heads = ["extractor", f"readers' phrases ({sizes.get(READERS, 0)} stories)"]
    heads += ["tags, mean of sets", "sets"]
    both = Table("Everyday text, F1@5 and F1@10 of lists of ten", heads, lines)
    return [both, _ratios(values, sizes)]


def _ratios(values: dict[tuple[str, str], tuple[float, float]], sizes: dict[str, int]) -> Table:
    """Set by set, the best peer, our lists, and how many times its score ours is."""
    lines = []
    for origin in sorted(sizes, key=lambda origin: (origin != READERS, origin)):
        peers = {s: value for (s, of), value in values.items() if of == origin and s in PEERS}
        ours = "reader" if origin == READERS else "editor"
        cells = []
        for style in ("auto", ours):
            own = values.get((f"phraseloom, {style}", origin))
            cells.append(_pair(own))
            best = [max((value[i] for value in peers.values()), default=0.0) for i in (0, 1)]
            cells.append(
                " / ".join(f"{a / b:.2f}" for a, b in zip(own, best, strict=True))
                if own and all(best)
                else "–"
            )
        best_name = max(peers, key=lambda system: peers[system], default="")
        title = PEERS[best_name].title if best_name else "–"
        lines.append([origin, str(sizes[origin]), title, _pair(peers.get(best_name)), *cells])
    heads = ["set", "documents", "best peer", "its F1@5 / F1@10", "ours, no option", "times"]
    return Table(
        "Set by set: ours against the best peer of each metric",
        [*heads, "ours, reader or editor", "times"],
        lines,
        ["Ours are cross-validated. The peer named is the best by F1@5."],
    )


def _mean(pairs: Sequence[tuple[float, float]]) -> tuple[float, float]:
    first, second = zip(*pairs, strict=True)
    return sum(first) / len(pairs), sum(second) / len(pairs)


def _pair(pair: tuple[float, float] | None) -> str:
    return "–" if pair is None else f"{pair[0]:.3f} / {pair[1]:.3f}"
