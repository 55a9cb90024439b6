"""Models beside each other on validation documents: which weights, or which setting, to ship.

Perplexity is of the model's own validation sample; scores are of the documents drawn.
"""

from pathlib import Path
from typing import Annotated

import torch
import typer

from experiments import options
from experiments.results import Result, Row, write_result
from experiments.sample import AT_5, AT_M, Sample, open_sample
from experiments.tables import Table, to_markdown
from phraseloom.config import SearchConfig
from phraseloom.network.model import KeyphraseModel
from phraseloom.network.weights import full_arrays
from phraseloom.train.corpus.prepared import PreparedCorpus
from phraseloom.train.setup import make_pool
from phraseloom.train.validate import Validator

TOP = 10
"""Phrases in the longer lists."""
_OWN = {"F1@M": AT_M, "phrases": "present.predicted"}
_TOP = {"F1@5": AT_5, "F1@10": "present.filled.macro.f1@10", "nested": "present.nested_rate"}


def run(
    models: Annotated[list[Path], typer.Argument(help="models, or runs")],
    corpus: options.Corpus = options.DEFAULT_CORPUS,
    documents: options.Documents = 600,
    sets: options.Sets = None,
    seed: options.Seed = 0,
    settings: options.Settings = None,
    vary: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="a row for each of these settings")
    ] = None,
    label: options.Label = "",
    results: options.Results = options.DEFAULT_RESULTS,
    pictures: options.Pictures = options.DEFAULT_PICTURES,
) -> None:
    """Measure models on the same documents, each with one or several settings of the search."""
    rows: list[Row] = []
    for model in models:
        sample = open_sample(model, corpus, documents=documents, seed=seed, sets=sets)
        perplexity = measure_perplexity(sample, corpus)
        for varied in vary or [""]:
            given = [*(settings or []), *filter(None, [varied])]
            search = options.change_search(sample.config.search, given)
            values = {"perplexity": perplexity, **measure(sample, search)}
            row = {"model": str(model), "varied": varied, "search": search.model_dump()}
            rows.append({**row, "values": values})
    about = {"corpus": str(corpus), "documents": documents, "seed": seed, "sets": sets or []}
    path = results / f"{options.labelled('models', label)}.json"
    written = write_result(path, {**about, "measured": rows})
    typer.echo(to_markdown(*draw(written, pictures)))


def measure_perplexity(sample: Sample, corpus: Path) -> float:
    """Of the documents that training would validate on."""
    model, config = sample.model, sample.config
    assert isinstance(model, KeyphraseModel)  # as `open_sample` loads it
    pool = make_pool([PreparedCorpus.open(corpus)], model.lexicon, config.data, is_repeated=False)
    arrays = full_arrays(model.weights)
    weights = {name: torch.from_numpy(array) for name, array in arrays.items()}
    return Validator(pool, model.lexicon, config).perplexity(weights)


def measure(sample: Sample, search: SearchConfig) -> dict[str, float]:
    """Scores of the model's own lists, and of lists of ten."""
    values: dict[str, float] = {}
    for keys, limit in ((_OWN, None), (_TOP, TOP)):
        scores = sample.score(sample.decode(search, limit=limit))
        values |= {title: scores[key] for title, key in keys.items()}
    return values


def draw(content: Result, pictures: Path, name: str = "models") -> list[Table]:
    """A table: a line a model and setting."""
    rows = content["measured"]
    is_varied = any(row["varied"] for row in rows)
    columns = [*_TOP, *_OWN]
    lines = [
        [
            f"`{row['model']}`",
            *([f"`{row['varied']}`"] if is_varied else []),
            f"{row['values']['perplexity']:.3f}",
            *(f"{row['values'][column]:.3f}" for column in columns),
        ]
        for row in rows
    ]
    headings = ["model", *(["setting"] if is_varied else []), "perplexity"]
    headings += [f"{column} of ten" if column in _TOP else column for column in columns]
    of_sets = f" of {', '.join(content['sets'])}" if content["sets"] else ""
    title = f"Models on {content['documents']} documents{of_sets} of {content['corpus']}"
    return [Table(title, headings, lines)]
