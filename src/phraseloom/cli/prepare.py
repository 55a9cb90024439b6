"""Parse corpora once, into a corpus that training maps into memory."""

from pathlib import Path
from typing import Annotated

import typer

from phraseloom.cli import arguments
from phraseloom.cli.console import document_progress


def prepare(
    corpora: Annotated[list[Path], typer.Argument(help="corpus files or directories")],
    out: Annotated[Path, typer.Option(help="directory of the prepared corpus")],
    parser: arguments.ParserName = "spacy",
    jobs: arguments.Jobs = 2,
    strict: arguments.Strict = False,
    lower_case: Annotated[
        float, typer.Option(min=0, max=1, help="share of documents to lower-case first")
    ] = 0.0,
) -> None:
    """Parse corpora once; killed at any moment, the same command goes on where it was."""
    from phraseloom.train.corpus.prepare import PrepareOptions, prepare_corpus  # start-up time

    options = PrepareOptions(parser=parser, lower_case=lower_case, processes=jobs, strict=strict)
    with document_progress("Preparing") as on_progress:
        outcome = prepare_corpus(corpora, out, options, on_progress=on_progress)
    skipped = f", {outcome.skipped} skipped" if outcome.skipped else ""
    typer.echo(f"{outcome.documents} documents in {out}{skipped}")
