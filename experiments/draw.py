"""Tables and figures again, from result files alone: no model, no corpus."""

import importlib
from pathlib import Path
from typing import Annotated

import typer

from experiments import MODULES, options
from experiments.results import read_result
from experiments.tables import Table, to_markdown
from phraseloom.errors import PhraseloomError

_MEASURED_BY = {"diversity": "ablation", "peers-means": "peers", "peers-aims": "peers"}
"""Tables that are drawn from what another experiment measured."""


def run(
    names: Annotated[
        list[str] | None, typer.Argument(help="of results, such as peers or tune-open; none: all")
    ] = None,
    results: options.Results = options.DEFAULT_RESULTS,
    pictures: options.Pictures = options.DEFAULT_PICTURES,
) -> None:
    """Print tables, and write the figures that belong to them."""
    for name in names or sorted({*_MEASURED_BY, *(path.stem for path in results.glob("*.json"))}):
        typer.echo(to_markdown(*draw(name, results, pictures)))


def draw(name: str, results: Path, pictures: Path) -> list[Table]:
    """The tables of a result; its figures are written."""
    experiment = name.partition("-")[0]
    if experiment not in (*MODULES, *_MEASURED_BY):
        raise PhraseloomError(f"no experiment draws {name!r}; there are: {', '.join(MODULES)}")
    content = read_result(results / f"{_MEASURED_BY.get(name, name)}.json")
    module = importlib.import_module(MODULES.get(experiment, f"experiments.{experiment}"))
    tables: list[Table] = module.draw(content, pictures, name)
    return tables
