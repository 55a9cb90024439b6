"""List the models that are installed."""

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from phraseloom.model.catalogue import InstalledModel


def models(
    as_json: Annotated[bool, typer.Option("--json", help="everything kept with them")] = False,
) -> None:
    """List the models that are installed: size, scores, licence of the training data."""
    from phraseloom.model.catalogue import installed_models  # here: torch takes seconds to load

    found = installed_models()
    if as_json:
        typer.echo(json.dumps([_record(model) for model in found], ensure_ascii=False, indent=1))
    elif found:
        _print_table(found)
    else:
        typer.echo(
            "no models are installed; train one with 'phraseloom train' and give its directory"
            " to extract with --model",
            err=True,
        )


def _record(model: "InstalledModel") -> dict[str, Any]:
    return {
        "name": model.name,
        "path": str(model.path),
        "size_bytes": model.size_bytes,
        "notes": model.notes,
    }


def _print_table(found: list["InstalledModel"]) -> None:
    from rich.console import Console  # here: start-up time
    from rich.table import Table
    from rich.text import Text

    table = Table("name", "size", "scores", "training data and licence")
    for model in found:
        size = f"{model.size_bytes / 1e6:.1f} MB"
        table.add_row(*map(Text, (model.name, size, _scores(model.notes), _licence(model.notes))))
    console = Console()
    console.print(table, soft_wrap=not console.is_terminal)


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
