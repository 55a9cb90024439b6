"""Put measured tables and figures into the read-me and the pages of docs/, between their marks.

``<!-- table: peers -->`` … ``<!-- end -->`` holds the tables that are drawn from
``results/peers.json``; ``<!-- figure: curve -->`` … ``<!-- end -->`` a figure drawn with them.
"""

import re
from pathlib import Path
from typing import Annotated

import typer

from experiments import options
from experiments.draw import draw
from experiments.figures import picture_name
from experiments.results import ROOT, Result, read_result
from experiments.tables import to_markdown
from phraseloom.errors import PhraseloomError
from phraseloom.io.atomic import write_text

DOCS = ROOT / "docs"
_MARKED = re.compile(r"<!-- (table|figure): ([\w-]+) -->\n.*?<!-- end -->", re.DOTALL)


def run(
    pages: Annotated[
        list[Path] | None, typer.Argument(help="default: docs/ and the read-me")
    ] = None,
    results: options.Results = options.DEFAULT_RESULTS,
    pictures: options.Pictures = options.DEFAULT_PICTURES,
) -> None:
    """Refresh every marked place; the rest of a page is left as it is."""
    for page in pages or [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]:
        text = page.read_text(encoding="utf-8")
        filled = fill(text, results, pictures)
        if filled != text:
            write_text(page, [filled])
            typer.echo(page, err=True)


def fill(text: str, results: Path, pictures: Path) -> str:
    """The page with what was measured in its marked places."""

    def replace(match: re.Match[str]) -> str:
        kind, name = match.groups()
        body = _table(name, results, pictures) if kind == "table" else _figure(name, pictures)
        return f"<!-- {kind}: {name} -->\n{body}\n<!-- end -->"

    return _MARKED.sub(replace, text)


def _table(name: str, results: Path, pictures: Path) -> str:
    """Tables one heading lower, with the commands that measured them."""
    tables = to_markdown(*draw(name, results, pictures))
    lowered = re.sub("^## ", "### ", tables, flags=re.MULTILINE)
    path = results / f"{name}.json"
    if not path.exists():  # drawn from what another experiment measured
        return lowered
    commands = [f"`{command}`" for command in _commands(read_result(path))]
    return "\n\n".join([lowered, "Measured by", *commands])


def _commands(content: Result) -> list[str]:
    of_rows = [row["command"] for row in content.get("rows", []) if "command" in row]
    return list(dict.fromkeys(of_rows or [content["command"]]))


def _figure(name: str, pictures: Path) -> str:
    if not (pictures / picture_name(name)).exists():
        raise PhraseloomError(
            f"there is no figure {picture_name(name)} in {pictures}; put its table before it"
        )
    return f"![{name}](pictures/{picture_name(name)})"
