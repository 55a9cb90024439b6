"""Learn word vectors from corpora, or convert official ones."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from phraseloom.cli.progress import document_progress
from phraseloom.data.fasttext import (
    OFFICIAL_ENDINGS,
    FastTextSettings,
    read_official,
    train_vectors,
)
from phraseloom.errors import ConfigError

if TYPE_CHECKING:
    from phraseloom.data.vectors import Vectors

_DEFAULT = FastTextSettings()


def vectors(
    corpora: Annotated[
        list[Path],
        typer.Argument(
            metavar="CORPUS...", help="prepared or raw corpora; or one FastText .vec or .bin file"
        ),
    ],
    out: Annotated[Path, typer.Option(help="file to write (.safetensors)")],
    width: Annotated[int, typer.Option(min=1, help="numbers in a vector")] = _DEFAULT.width,
    epochs: Annotated[int, typer.Option(min=1, help="passes over the text")] = _DEFAULT.epochs,
    skip_gram: Annotated[
        bool, typer.Option("--skip-gram/--cbow", help="which of FastText's two models to train")
    ] = _DEFAULT.skip_gram,
    min_count: Annotated[
        int, typer.Option(min=1, help="rarer words get a vector from their subwords only")
    ] = _DEFAULT.min_count,
    buckets: Annotated[
        int, typer.Option(min=0, help="vectors that all subwords share; 0: no subwords")
    ] = _DEFAULT.buckets,
    threads: Annotated[
        int, typer.Option(min=1, help="with more than one, repeated runs differ slightly")
    ] = _DEFAULT.threads,
    seed: Annotated[int, typer.Option(min=0)] = _DEFAULT.seed,
    keep: Annotated[
        int | None, typer.Option(min=1, help="words kept, most frequent first; default: all")
    ] = None,
    strict: Annotated[bool, typer.Option(help="refuse bad lines instead of skipping them")] = False,
) -> None:
    """Learn word vectors with subwords from corpora, or convert an official FastText file."""
    if not out.parent.is_dir():
        raise ConfigError(f"there is no directory {out.parent} to write {out.name} into; make it")
    if out.is_dir():
        raise ConfigError(f"{out} is a directory; give the name of a file in it")
    official = [path for path in corpora if path.name.endswith(OFFICIAL_ENDINGS)]
    if official:
        if len(corpora) > 1:
            raise ConfigError(f"convert {official[0]} by itself, without other files")
        found = read_official(official[0], keep=keep)
    else:
        settings = FastTextSettings(
            width=width,
            epochs=epochs,
            skip_gram=skip_gram,
            min_count=min_count,
            buckets=buckets,
            seed=seed,
            threads=threads,
            keep=keep,
        )
        found = _learn(corpora, settings, scratch=out.parent, strict=strict)
    found.save(out)
    typer.echo(
        f"{out}: {len(found):,} words and {len(found.subwords):,} subword buckets,"
        f" {found.width} numbers each",
        err=True,
    )


def _learn(
    corpora: list[Path], settings: FastTextSettings, *, scratch: Path, strict: bool
) -> "Vectors":
    from phraseloom.data.sentences import read_sentences  # here: loads numpy

    with document_progress("learning vectors, words") as progress:
        sentences = read_sentences(corpora, strict=strict)
        return train_vectors(sentences, settings, scratch=scratch, progress=progress)
