"""Options that several experiments share, and search settings given on the command line."""

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from experiments.results import RESULTS, read_result
from phraseloom.config import SearchConfig, parse_config
from phraseloom.errors import ConfigError

Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="search otherwise: width=20"),
]
Chosen = Annotated[
    Path | None, typer.Option("--settings", help="search as this result of tune or lambda chose")
]
Results = Annotated[
    Path,
    typer.Option(help="folder of what is measured and drawn", show_default="experiments/results"),
]
DrawOnly = Annotated[
    bool, typer.Option("--draw-only", help="draw again from what was measured before")
]

DEFAULT_RESULTS = RESULTS


def change_search(
    search: SearchConfig, settings: Sequence[str] | None = None, chosen: Path | None = None
) -> SearchConfig:
    """Search settings with what a result chose, and then what the caller says, put over them."""
    values = search.model_dump()
    if chosen is not None:
        found = read_result(chosen).get("chosen")
        if not isinstance(found, dict):
            raise ConfigError(f"{chosen} chose no search settings; give a result of tune or lambda")
        values |= found
    for setting in settings or []:
        key, equals, text = setting.partition("=")
        if not equals:
            raise ConfigError(f"--set {setting}: write it as key=value, such as width=20")
        values[key.strip().removeprefix("search.")] = _value(text)
    return parse_config({"search": values}).search


def _value(text: str) -> object:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text.strip()  # a bare word is a string
