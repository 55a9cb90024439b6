"""Parse corpora once, into a cache that training maps into memory."""

from pathlib import Path
from typing import Annotated

import typer


def prepare(
    corpora: Annotated[list[Path], typer.Argument(help="corpus files or directories")],
    out: Annotated[Path, typer.Option(help="directory of the prepared corpus")],
    parser: Annotated[str, typer.Option(help="spacy, stanza or conllu")] = "spacy",
    processes: Annotated[int, typer.Option(min=1, help="worker processes")] = 2,
    strict: Annotated[bool, typer.Option("--strict", help="refuse bad lines")] = False,
    lower_case: Annotated[
        float, typer.Option(min=0, max=1, help="share of documents to lower-case first")
    ] = 0.0,
) -> None:
    """Parse corpora once; killed at any moment, the same command goes on where it was."""
    from phraseloom.cli.progress import document_progress  # here: start-up time
    from phraseloom.data.prepare import PrepareOptions, prepare_corpus

    options = PrepareOptions(
        parser=parser, lower_case=lower_case, processes=processes, strict=strict
    )
    with document_progress("Preparing") as on_progress:
        outcome = prepare_corpus(corpora, out, options, on_progress=on_progress)
    skipped = f", {outcome.skipped} skipped" if outcome.skipped else ""
    typer.echo(f"{outcome.documents} documents in {out}{skipped}")
