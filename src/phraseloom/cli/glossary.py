"""Count which phrases documents list as their own."""

from pathlib import Path
from typing import Annotated

import typer

from phraseloom.cli.progress import document_progress


def glossary(
    corpora: Annotated[list[Path], typer.Argument(metavar="CORPUS...", help="prepared corpora")],
    out: Annotated[Path, typer.Option(help="file to write (.json)")],
) -> None:
    """Count how many documents list each phrase, of those in which it stands."""
    from phraseloom.data.cache import Corpus  # here: loads numpy
    from phraseloom.data.glossary import count_glossary
    from phraseloom.errors import ConfigError

    if not out.parent.is_dir():
        raise ConfigError(f"there is no directory {out.parent} to write {out.name} into; make it")
    if out.is_dir():
        raise ConfigError(f"{out} is a directory; give the name of a file in it")
    opened = [Corpus.open(path) for path in corpora]
    with document_progress("counting") as on_progress:
        found = count_glossary(opened, on_progress=on_progress)
    found.save(out)
    typer.echo(f"{out}: {len(found.counts):,} phrases", err=True)
