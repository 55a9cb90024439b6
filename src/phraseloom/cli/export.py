"""Make a trained model small and put it where it can be shipped."""

import json
from pathlib import Path
from typing import Annotated

import typer

from phraseloom.cli import arguments
from phraseloom.cli.console import say


def export(
    models: Annotated[
        list[Path],
        typer.Argument(
            metavar="MODEL...",
            help="a training run or model directory; of several, the mean of their weights",
        ),
    ],
    out: Annotated[Path, typer.Option(help="directory to make or replace")],
    settings: arguments.Settings = None,
    notes: Annotated[
        Path | None, typer.Option(help="JSON object to keep with it: scores, data, licence")
    ] = None,
    card: Annotated[Path | None, typer.Option(help="model card to put beside it, Markdown")] = None,
) -> None:
    """Round a model's weights to 8 and 16 bits and write it as a directory of its own."""
    from phraseloom.config import override  # here: start-up time
    from phraseloom.errors import CheckpointError, ConfigError
    from phraseloom.io.compressed import read_bytes
    from phraseloom.io.files import decode
    from phraseloom.network.weights import find_model, read_notes, save_model
    from phraseloom.train.weight_average import load_mean

    model, config = load_mean(models)
    kept = (read_notes(find_model(models[0])) if len(models) == 1 else None) or {}
    if notes is not None:
        try:
            kept |= json.loads(decode(read_bytes(notes), str(notes)))
        except (ValueError, TypeError, RecursionError) as error:
            raise ConfigError(f"{notes} is no JSON object: {error}") from None
    out = out.resolve()  # "." has no name
    text = None if card is None else decode(read_bytes(card), str(card))
    config = override(config, settings or [])
    try:
        save_model(out, model, config, notes=kept, card=text, is_quantized=True)
    except OSError as error:
        raise CheckpointError(f"cannot write {out}: {error.strerror}") from None
    size = sum(file.stat().st_size for file in out.iterdir())
    say(f"{out}: {size / 1e6:.1f} MB")
