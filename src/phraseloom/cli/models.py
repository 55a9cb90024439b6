"""List the models that are installed."""

import json
from typing import TYPE_CHECKING, Any

import typer

from phraseloom.cli import arguments
from phraseloom.cli.console import print_table, say

if TYPE_CHECKING:
    from rich.table import Table

    from phraseloom.network.registry import InstalledModel


def models(
    as_json: arguments.AsJson = False,
) -> None:
    """List the models that are installed: size, scores, licence of the training data."""
    from phraseloom.network.registry import installed_models  # here: start-up time

    installed = installed_models()
    if as_json:
        rows = [_record(model) for model in installed]
        typer.echo(json.dumps(rows, ensure_ascii=False, indent=1))
    elif installed:
        print_table(_table(installed))
    else:
        say(
            "no models are installed; train one with 'phraseloom train' and give its directory"
            " to extract with --model"
        )


def _record(model: "InstalledModel") -> dict[str, Any]:
    return {
        "name": model.name,
        "path": str(model.path),
        "size_bytes": model.size_bytes,
        "notes": model.notes,
    }


def _table(models: list["InstalledModel"]) -> "Table":
    from rich.table import Table  # here: start-up time
    from rich.text import Text

    table = Table("name", "size", "scores", "training data and licence")
    for model in models:
        size = f"{model.size_bytes / 1e6:.1f} MB"
        table.add_row(*map(Text, (model.name, size, _scores(model.notes), _licence(model.notes))))
    return table


def _scores(notes: dict[str, Any]) -> str:
    """The figures kept with a model: those under ``scores``, else every number of the notes."""
    scores = notes.get("scores", notes)
    if not isinstance(scores, dict):
        return str(scores)
    return "\n".join(_flat_scores(scores, ""))


def _flat_scores(scores: dict[str, Any], before: str) -> list[str]:
    lines = []
    for name, value in scores.items():
        if isinstance(value, dict):
            lines += _flat_scores(value, f"{before}{name} ")
        elif isinstance(value, float):
            lines.append(f"{before}{name} {value:.3f}")
    return lines


def _licence(notes: dict[str, Any]) -> str:
    known = [str(notes[key]) for key in ("data", "licence") if key in notes]
    return "\n".join(known) or "not recorded"
