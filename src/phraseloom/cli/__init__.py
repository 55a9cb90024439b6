"""The command line: one module per command, each loading what it needs only when it runs."""

import atexit
import gc
import sys
from typing import Annotated

import typer

from phraseloom import __version__
from phraseloom.cli.evaluate import evaluate
from phraseloom.cli.experiment import experiment
from phraseloom.cli.export import export
from phraseloom.cli.extract import extract
from phraseloom.cli.glossary import glossary
from phraseloom.cli.graph import graph
from phraseloom.cli.models import models
from phraseloom.cli.prepare import prepare
from phraseloom.cli.score import score
from phraseloom.cli.serve import serve
from phraseloom.cli.show import show
from phraseloom.cli.stats import stats
from phraseloom.cli.train import train
from phraseloom.cli.vectors import vectors
from phraseloom.errors import PhraseloomError

_INTERRUPTED = 130
_FEW_COLLECTIONS = 100_000  # new objects between two; Python's own is 700

app = typer.Typer(
    name="phraseloom",
    help="Keyphrases from text, read off its dependency graph.",
    no_args_is_help=True,
    rich_markup_mode=None,  # plain help: loading rich would take a third of the start-up time
    pretty_exceptions_enable=False,
)
app.command()(extract)
app.command()(models)
app.command()(score)
app.command()(evaluate)
app.command()(export)
app.command()(graph)
app.command()(show)
app.command()(serve)


def _print_version(is_asked: bool) -> None:
    if is_asked:
        typer.echo(f"phraseloom {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="print the version"),
    ] = False,
) -> None:
    """Keyphrases from text, read off its dependency graph."""


app.command()(vectors)
app.command()(glossary)
app.command()(prepare)
app.command()(stats)
app.command()(train)
app.command(context_settings={"allow_interspersed_args": False})(experiment)


def main() -> None:
    """Run the command line; a caller's mistake is one line on stderr and exit status 2."""
    _spare_the_collector()
    try:
        app()
    except PhraseloomError as error:
        typer.echo(f"phraseloom: {error}", err=True)
        sys.exit(2)
    except SystemExit as end:
        if end.code == _INTERRUPTED:  # what Typer makes of a KeyboardInterrupt, in silence
            typer.echo("phraseloom: stopped; run the same command again to go on", err=True)
        raise


def _spare_the_collector() -> None:
    """Look seldom for dead objects.

    Loading torch makes a million that live to the end; looking among them, above all when the
    process ends, takes a quarter of the time of a short command.
    """
    gc.set_threshold(_FEW_COLLECTIONS)
    atexit.register(gc.freeze)
