"""Learn word vectors from corpora, or convert official ones."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from phraseloom.cli import arguments
from phraseloom.cli.console import document_progress, say
from phraseloom.errors import ConfigError
from phraseloom.io.atomic import check_output
from phraseloom.train.corpus.fasttext import (
    OFFICIAL_ENDINGS,
    FastTextSettings,
    read_official,
    read_sentences,
    train_vectors,
)

if TYPE_CHECKING:
    from phraseloom.train.corpus.vectors import Vectors

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
    strict: arguments.Strict = False,
) -> None:
    """Learn word vectors with subwords from corpora, or convert an official FastText file."""
    check_output(out)
    official = [path for path in corpora if path.name.endswith(OFFICIAL_ENDINGS)]
    if official:
        if len(corpora) > 1:
            raise ConfigError(f"convert {official[0]} by itself, without other files")
        learned = read_official(official[0], keep=keep)
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
        learned = _learn(corpora, settings, scratch=out.parent, strict=strict)
    learned.save(out)
    say(
        f"{out}: {len(learned):,} words and {len(learned.subwords):,} subword buckets,"
        f" {learned.width} numbers each"
    )


def _learn(
    corpora: list[Path], settings: FastTextSettings, *, scratch: Path, strict: bool
) -> "Vectors":
    with document_progress("learning vectors, words") as progress:
        sentences = read_sentences(corpora, strict=strict)
        return train_vectors(sentences, settings, scratch=scratch, on_progress=progress)
