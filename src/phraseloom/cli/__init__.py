"""The command line: one module per command, each loading what it needs only when it runs."""

import sys

import typer

from phraseloom.errors import PhraseloomError

app = typer.Typer(
    name="phraseloom",
    help="Keyphrases from text, read off its dependency graph.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def main() -> None:
    """Run the command line; a caller's mistake is one line on stderr and exit status 2."""
    try:
        app()
    except PhraseloomError as error:
        typer.echo(f"phraseloom: {error}", err=True)
        sys.exit(2)
    except KeyboardInterrupt:
        typer.echo("phraseloom: stopped; run the same command again to go on", err=True)
        sys.exit(130)
