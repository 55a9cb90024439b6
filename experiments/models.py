"""Models beside each other on validation documents: which weights, or which setting, to ship.

Perplexity is of the model's own validation sample; scores are of the documents drawn.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from experiments import options
from experiments.results import read_result, write_result
from experiments.sample import Sample, open_sample
from experiments.tables import Table, to_markdown, write_tables
from phraseloom.cli.progress import document_progress
from phraseloom.config import Config, SearchConfig
from phraseloom.data.cache import Corpus
from phraseloom.errors import PhraseloomError
from phraseloom.model.checkpoint import load_model
from phraseloom.search.settings import Count
from phraseloom.train.setup import make_pool
from phraseloom.train.validate import Validator

TOP = 10
"""Phrases in the longer lists."""
_OWN = {"F1@M": "present.macro.f1@M", "phrases": "present.predicted"}
_TOP = {
    "F1@5": "present.filled.macro.f1@5",
    "F1@10": "present.filled.macro.f1@10",
    "nested": "present.nested_rate",
}


def run(
    models: Annotated[list[Path] | None, typer.Argument(help="models, or runs")] = None,
    corpus: Annotated[Path, typer.Option(help="prepared corpus")] = Path("runs/data/valid"),
    documents: Annotated[int, typer.Option(min=1, help="drawn from it")] = 600,
    sets: Annotated[list[str] | None, typer.Option("--from", help="only from this set")] = None,
    seed: Annotated[int, typer.Option(min=0, help="of the draw")] = 0,
    settings: options.Settings = None,
    vary: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="a row for each of these settings")
    ] = None,
    label: Annotated[str, typer.Option(help="result file: models-LABEL.json")] = "",
    results: options.Results = options.DEFAULT_RESULTS,
    draw_only: options.DrawOnly = False,
) -> None:
    """Measure models on the same documents, each with one or several settings of the search."""
    name = f"models-{label}" if label else "models"
    if not draw_only:
        if not models:
            raise PhraseloomError("name model directories, or give --draw-only")
        about = {"corpus": str(corpus), "documents": documents, "seed": seed, "sets": sets or []}
        rows: list[dict[str, Any]] = []
        for model in models:
            perplexity = measure_perplexity(model, corpus)
            sample, config = open_sample(
                model, corpus, documents=documents, seed=seed, sets=sets or []
            )
            for varied in vary or [""]:
                given = [*(settings or []), *filter(None, [varied])]
                search = options.change_search(config.search, given)
                measured = {"perplexity": perplexity, **measure(sample, search)}
                row = {"model": str(model), "varied": varied, "search": search.model_dump()}
                rows.append({**row, "values": measured})
        write_result(results / f"{name}.json", {**about, "measured": rows})
    typer.echo(draw(results, name))


def measure_perplexity(path: Path, corpus: Path) -> float:
    """Of the documents that training would validate on."""
    model, lexicon, config = load_model(path)
    pool = make_pool([Corpus.open(corpus)], lexicon, config.data, is_repeated=False)
    return Validator(pool, lexicon, _without_scores(config)).measure(model).perplexity


def _without_scores(config: Config) -> Config:
    train = config.train.model_copy(update={"score_documents": 0})
    return config.model_copy(update={"train": train})


def measure(sample: Sample, search: SearchConfig) -> dict[str, float]:
    """Scores of the model's own lists, and of lists of ten."""
    values: dict[str, float] = {}
    for keys, count in ((_OWN, Count.by_model()), (_TOP, Count.exactly(TOP))):
        with document_progress("decoding") as on_progress:
            scored = sample.score(sample.decode(search, count, on_progress=on_progress))
        values |= {title: scored[key] for title, key in keys.items()}
    return values


def draw(results: Path, name: str) -> str:
    """Write the table; give it as Markdown."""
    content = read_result(results / f"{name}.json")
    columns = ["F1@5", "F1@10", "nested", "F1@M", "phrases"]
    rows = [
        [
            f"`{row['model']}`",
            *([f"`{row['varied']}`"] if _varies(content["measured"]) else []),
            f"{row['values']['perplexity']:.3f}",
            *(f"{row['values'][column]:.3f}" for column in columns),
        ]
        for row in content["measured"]
    ]
    of_sets = f" of {', '.join(content['sets'])}" if content["sets"] else ""
    table = Table(
        f"Models on {content['documents']} documents{of_sets} of {content['corpus']}",
        [
            "model",
            *(["setting"] if _varies(content["measured"]) else []),
            "perplexity",
            *(f"{column} of ten" if column in _TOP else column for column in columns),
        ],
        rows,
    )
    write_tables(results / name, [table])
    return to_markdown(table)


def _varies(rows: Sequence[dict[str, Any]]) -> bool:
    return any(row["varied"] for row in rows)
