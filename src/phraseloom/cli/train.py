"""Train a network, or go on training it."""

import os
from pathlib import Path
from typing import Annotated

import typer

from phraseloom.cli import arguments
from phraseloom.cli.console import say
from phraseloom.errors import import_extra


def train(
    config: Annotated[Path, typer.Argument(metavar="CONFIG", help="a TOML file, see configs/")],
    settings: arguments.Settings = None,
    out: Annotated[
        Path | None, typer.Option(help="directory of the run; default: runs/ and CONFIG's name")
    ] = None,
    minutes: Annotated[
        float | None, typer.Option(help="time limit, over all resumes; sets train.minutes")
    ] = None,
    restart: Annotated[
        bool, typer.Option("--restart", help="throw away the run in the directory")
    ] = False,
) -> None:
    """Train a network; the same command again goes on where it was stopped or killed."""
    # torch asks for large pages then: a fifth faster (docs/training.md)
    os.environ.setdefault("THP_MEM_ALLOC_ENABLE", "1")
    from phraseloom.config import load_config

    given = list(settings or [])
    if minutes is not None:
        given.append(f"train.minutes={minutes}")
    resolved = load_config(config, given)
    place = out if out is not None else Path("runs") / config.stem
    import_extra("torch", "training", "train")
    from phraseloom.train.display import show_run  # here: start-up time
    from phraseloom.train.distributed import process_group
    from phraseloom.train.setup import open_run

    with process_group() as share:
        is_first = share.rank == 0
        with show_run(f"phraseloom train {config}") as report:
            trainer = open_run(resolved, place, share, is_restarted=restart)
            if is_first:
                _greet(place, trainer.state.step, len(trainer.loader.pool))
            reason = trainer.fit(report)
        if is_first:
            say(f"{reason} after step {trainer.state.step:,}")
            typer.echo(place / "best")


def _greet(place: Path, step: int, documents: int) -> None:
    begin = f"going on after step {step:,}" if step else "a new run"
    say(f"{place}: {begin}, {documents:,} documents to learn from")
    say("Ctrl-C stops it with a checkpoint; the same command goes on from there")
