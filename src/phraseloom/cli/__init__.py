"""The command line: one module per command, each loading what it needs only when it runs."""

import atexit
import errno
import gc
import io
import logging
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from phraseloom import __version__
from phraseloom.cli.console import say
from phraseloom.cli.evaluate import evaluate
from phraseloom.cli.export import export
from phraseloom.cli.extract import extract
from phraseloom.cli.fit import fit
from phraseloom.cli.glossary import glossary
from phraseloom.cli.graph import graph
from phraseloom.cli.models import models
from phraseloom.cli.prepare import prepare
from phraseloom.cli.ranking import ranking
from phraseloom.cli.score import score
from phraseloom.cli.serve import serve
from phraseloom.cli.show import show
from phraseloom.cli.stats import stats
from phraseloom.cli.train import train
from phraseloom.cli.vectors import vectors
from phraseloom.errors import PhraseloomError

_INTERRUPTED = 130
_GO_ON = {"fit", "prepare", "train"}
"""Commands that find what an earlier run has done; so does ``extract`` in a folder."""
_FEW_COLLECTIONS = 100_000  # new objects between two; Python's own is 700

app = typer.Typer(
    name="phraseloom",
    help="Keyphrases from text, read off its dependency graph.",
    no_args_is_help=True,
    rich_markup_mode=None,  # plain help: loading rich would take a third of the start-up time
    pretty_exceptions_enable=False,
)
_COMMANDS: tuple[Callable[..., None], ...] = (
    *(extract, models, show, graph, serve, score, evaluate),
    *(fit, prepare, stats, vectors, glossary, train, export, ranking),
)


class _Command(TyperCommand):
    """A command that can be stopped, and then says what running it again will do."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            out = ctx.params.get("out")
            goes_on = self.name in _GO_ON or (self.name == "extract" and out and os.path.isdir(out))
            what = "go on" if goes_on else "start anew"
            say(f"phraseloom: stopped; run the same command again to {what}")
            raise typer.Exit(_INTERRUPTED) from None


class _ExtractCommand(_Command):
    """Its option --cluster may stand without an address."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if "--cluster" in args:
            place = args.index("--cluster") + 1
            if args[place : place + 1] == [] or args[place].startswith("-"):
                args.insert(place, "local")
        return super().parse_args(ctx, args)


for _command in _COMMANDS:
    app.command(cls=_ExtractCommand if _command is extract else _Command)(_command)


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


def main() -> None:
    """Run the command line; a caller's mistake is one line on stderr and exit status 2."""
    _spare_the_collector()
    _end_in_order()
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # what it cannot read we say ourselves
    if sys.stdout is None:  # closed by who started it: to write there is an error like others
        sys.stdout = open(os.devnull, encoding="utf-8")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # not every terminal has every letter
    try:
        app()
    except PhraseloomError as error:
        say(f"phraseloom: {error}")
        sys.exit(2)
    except OSError as error:
        _drop_output()
        if error.errno != errno.EPIPE:
            what = error.filename or "cannot write to standard output"
            say(f"phraseloom: {what}: {error.strerror or error}")
        sys.exit(1)


def _end_in_order() -> None:
    """Let whoever ends us, or closes the terminal, interrupt us as a control-C does.

    Processes that work for us and what they share are then cleared away, and it is said in a line.
    """
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:  # under nohup it is ignored
            signal.signal(number, signal.default_int_handler)


def _drop_output() -> None:
    """Throw away what could not be written; else Python would try it again when it ends."""
    with suppress(OSError):  # there may be no descriptor behind it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _spare_the_collector() -> None:
    """Look seldom for dead objects.

    Loading spaCy makes many that live to the end; looking among them, above all when the process
    ends, takes a good part of the time of a short command.
    """
    gc.set_threshold(_FEW_COLLECTIONS)
    atexit.register(gc.freeze)
