"""Options that several experiments share, and search settings given on the command line."""

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from experiments.results import PICTURES, RESULTS, read_result
from phraseloom.config import SearchConfig, parse_config
from phraseloom.errors import ConfigError

Model = Annotated[Path, typer.Argument(help="model directory")]
Corpus = Annotated[Path, typer.Option(help="prepared corpus")]
Documents = Annotated[int, typer.Option(min=1, help="drawn from the corpus")]
Sets = Annotated[list[str] | None, typer.Option("--from", help="only from this set")]
Seed = Annotated[int, typer.Option(min=0, help="of the draw")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="search otherwise: beam_width=20"),
]
Chosen = Annotated[
    Path | None, typer.Option("--settings", help="search as this result of tune or lambda chose")
]
Label = Annotated[str, typer.Option(help="of the result file: NAME-LABEL.json")]
Predictions = Annotated[Path, typer.Option(help="folder for the phrases of each document")]
Results = Annotated[
    Path,
    typer.Option(help="folder of what is measured", show_default="experiments/results"),
]
Pictures = Annotated[Path, typer.Option(help="folder of figures", show_default="docs/pictures")]

DEFAULT_CORPUS = Path("runs/data/valid")
DEFAULT_PREDICTIONS = Path("runs/predictions")
DEFAULT_RESULTS = RESULTS
DEFAULT_PICTURES = PICTURES


def labelled(name: str, label: str) -> str:
    """Name of a result that may have a label."""
    return f"{name}-{label}" if label else name


def change_search(
    search: SearchConfig, settings: Sequence[str] | None = None, chosen: Path | None = None
) -> SearchConfig:
    """Search settings with what a result chose, and then what the caller says, put over them."""
    values = search.model_dump()
    if chosen is not None:
        of_result = read_result(chosen).get("chosen")
        if not isinstance(of_result, dict):
            raise ConfigError(f"{chosen} chose no search settings; give a result of tune or lambda")
        values |= of_result
    for setting in settings or []:
        key, equals, text = setting.partition("=")
        if not equals:
            raise ConfigError(f"--set {setting}: write it as key=value, such as beam_width=20")
        values[key.strip().removeprefix("search.")] = _value(text)
    return parse_config({"search": values}).search


def _value(text: str) -> object:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text.strip()  # a bare word is a string
