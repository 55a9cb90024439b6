"""Count which phrases documents list as their own."""

from pathlib import Path
from typing import Annotated

import typer

from phraseloom.cli.console import document_progress, say
from phraseloom.errors import PhraseloomError


def glossary(
    out: Annotated[Path, typer.Option(help="file to write (.json)")],
    corpora: Annotated[
        list[Path] | None, typer.Argument(metavar="CORPUS...", help="prepared corpora")
    ] = None,
    model: Annotated[
        Path | None, typer.Option(help="add to what this model, a name or a directory, knows")
    ] = None,
    counted: Annotated[
        list[Path] | None,
        typer.Option(help="prepared corpus whose documents the model has counted; repeatable"),
    ] = None,
) -> None:
    """Count how many documents list each phrase, of those in which it stands."""
    from phraseloom.io.atomic import check_output  # here: start-up time
    from phraseloom.network.registry import find_installed
    from phraseloom.network.weights import load_lexicon
    from phraseloom.train.corpus.glossary import count_glossary, save_glossary
    from phraseloom.train.corpus.prepared import PreparedCorpus

    if not corpora and not (model and counted):
        raise PhraseloomError("nothing to count: name prepared corpora, or --model and --counted")
    check_output(out)
    opened = [PreparedCorpus.open(path) for path in corpora or ()]
    with document_progress("counting") as on_progress:
        known = count_glossary(
            opened,
            base=None if model is None else load_lexicon(find_installed(model)).glossary,
            counted=[PreparedCorpus.open(path) for path in counted or ()],
            on_progress=on_progress,
        )
    save_glossary(known, out)
    say(f"{out}: {len(known.counts):,} phrases")
