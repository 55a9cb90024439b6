"""Run an experiment of the source checkout; the installed package carries none."""

import importlib
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from phraseloom.errors import PhraseloomError

CHECKOUT = Path(__file__).parents[3]
"""Where ``experiments/`` lies if the package runs from its source."""


def experiment(
    name: Annotated[str, typer.Argument(metavar="NAME", help="none: list them")] = "",
    arguments: Annotated[
        list[str] | None, typer.Argument(metavar="ARGUMENTS", help="NAME --help lists them")
    ] = None,
) -> None:
    """Measure the method and draw its tables and figures; needs a source checkout."""
    index = _load("experiments", CHECKOUT)
    if not name:
        for each, subject in index.EXPERIMENTS.items():
            typer.echo(f"{each:13}{subject}")
        return
    if name not in index.MODULES:
        raise PhraseloomError(f"no experiment {name!r}; there are: {', '.join(index.MODULES)}")
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command()(importlib.import_module(index.MODULES[name]).run)
    app(list(arguments or []), prog_name=f"phraseloom experiment {name}")


def _load(package: str, checkout: Path) -> Any:
    """Import the experiments of a checkout; its folder need not be the current one."""
    if not (checkout / package / "__init__.py").is_file():
        raise PhraseloomError(
            "experiments are not part of the installed package; get the source, "
            "run: pip install -e '.[train]', and try again"
        )
    if str(checkout) not in sys.path:
        sys.path.insert(0, str(checkout))
    return importlib.import_module(package)
