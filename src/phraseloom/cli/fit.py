"""Fit a model to a collection of tagged documents."""

from pathlib import Path
from typing import Annotated

import typer

from phraseloom.cli import arguments
from phraseloom.cli.console import say, stage_progress


def fit(
    documents: Annotated[
        list[Path],
        typer.Argument(
            readable=False,
            help="tagged documents: .csv, .jsonl, .parquet, src/trg pairs, folders of texts with"
            " a file of keywords beside each",
        ),
    ],
    out: Annotated[Path, typer.Option(help="directory of the model to make")],
    text: Annotated[str | None, typer.Option(help="column of the texts; default: guessed")] = None,
    title: Annotated[str | None, typer.Option(help="column of the titles")] = None,
    keywords: Annotated[str | None, typer.Option(help="column of the keywords")] = None,
    model: arguments.Model = None,
    vocabulary: arguments.Vocabulary = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="processes at work; default: all cores, 8 at most")
    ] = None,
    network: Annotated[
        bool, typer.Option(help="whether the network may learn too, if documents are many")
    ] = True,
    minutes: Annotated[
        float | None,
        typer.Option(min=0.1, help="for that, at most; default: by how many documents"),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="replace what is there, better or stopped or not")
    ] = False,
) -> None:
    """Fit a model to documents with keywords; the same command goes on where it was stopped."""
    from phraseloom.io.tagged import ColumnNames, read_tagged  # here: start-up time
    from phraseloom.train.fit.pipeline import FitOptions, fit_collection

    names = ColumnNames(text, title, keywords)
    with stage_progress("fitting", {"training": "steps"}) as on_stage:
        tagged = read_tagged(documents, names)
        for remark in tagged.remarks:
            say(remark)
        processes = jobs or arguments.usual_jobs()
        terms = None if vocabulary is None else arguments.read_terms(vocabulary)
        options = FitOptions(model, terms, network, minutes, processes, force)
        report = fit_collection(tagged.documents, out, options, on_stage=on_stage, on_remark=say)
    say(report)
    typer.echo(out)
