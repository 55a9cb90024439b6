"""``python -m experiments NAME …``: measure the method, and draw its tables and figures."""

import importlib
import sys
from typing import Annotated

import typer

from experiments import EXPERIMENTS, MODULES
from phraseloom.errors import PhraseloomError

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command(context_settings={"allow_interspersed_args": False})
def experiment(
    name: Annotated[str, typer.Argument(metavar="NAME", help="none: list them")] = "",
    arguments: Annotated[
        list[str] | None, typer.Argument(metavar="ARGUMENTS", help="NAME --help lists them")
    ] = None,
) -> None:
    """Measure the method and draw its tables and figures."""
    if not name:
        for known, subject in EXPERIMENTS.items():
            typer.echo(f"{known:13}{subject}")
        return
    if name not in MODULES:
        raise PhraseloomError(f"no experiment {name!r}; there are: {', '.join(MODULES)}")
    chosen = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    chosen.command()(importlib.import_module(MODULES[name]).run)
    chosen(list(arguments or []), prog_name=f"python -m experiments {name}")


def main() -> None:
    """Run an experiment; a caller's mistake is one line on stderr and exit status 2."""
    try:
        app(prog_name="python -m experiments")
    except PhraseloomError as error:
        typer.echo(f"experiments: {error}", err=True)
        sys.exit(2)


if __name__ == "__main__":
    main()
