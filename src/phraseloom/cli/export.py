"""Make a trained model small and put it where it can be shipped."""

import json
from pathlib import Path
from typing import Annotated

import typer

from phraseloom.cli.reading import read_text


def export(
    models: Annotated[
        list[Path],
        typer.Argument(
            metavar="MODEL...",
            help="a training run or model directory; of several, the mean of their weights",
        ),
    ],
    out: Annotated[Path, typer.Option(help="directory to make or replace")],
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="search settings to ship with"),
    ] = None,
    notes: Annotated[
        Path | None, typer.Option(help="JSON object to keep with it: scores, data, licence")
    ] = None,
    card: Annotated[Path | None, typer.Option(help="model card to put beside it, Markdown")] = None,
) -> None:
    """Round a model's weights to 8 and 16 bits and write it as a directory of its own."""
    from phraseloom.config import override  # here: torch takes seconds to load
    from phraseloom.errors import ConfigError
    from phraseloom.model.checkpoint import find_model, read_notes, save_model
    from phraseloom.model.mean import load_mean

    network, lexicon, config = load_mean(models)
    figures = read_notes(find_model(models[0])) if len(models) == 1 else None  # not of the mean
    kept = figures or {}
    if notes is not None:
        try:
            kept |= json.loads(notes.read_text(encoding="utf-8"))
        except (OSError, ValueError, TypeError) as error:
            raise ConfigError(f"{notes} is no JSON object: {error}") from None
    text = read_text(card) if card is not None else None
    config = override(config, settings or [])
    save_model(out, network, lexicon, config, notes=kept, is_packed=True, card=text)
    size = sum(file.stat().st_size for file in out.iterdir())
    typer.echo(f"{out}: {size / 1e6:.1f} MB", err=True)
