"""Put measured tables and figures into the read-me and the pages of docs/, between their marks.

``<!-- table: peers -->`` … ``<!-- end -->`` holds the tables of ``results/peers.md``;
``<!-- figure: curve -->`` … ``<!-- end -->`` a link to a copy of ``results/curve.svg``.
"""

import re
import shutil
from pathlib import Path
from typing import Annotated

import typer

from experiments import options
from experiments.results import ROOT, read_result
from experiments.tables import write_text
from phraseloom.errors import PhraseloomError

DOCS = ROOT / "docs"
_MARKED = re.compile(r"<!-- (table|figure): ([\w-]+) -->\n.*?<!-- end -->", re.DOTALL)


def run(
    pages: Annotated[
        list[Path] | None, typer.Argument(help="default: docs/ and the read-me")
    ] = None,
    results: options.Results = options.DEFAULT_RESULTS,
    pictures: Annotated[Path, typer.Option(help="folder for copies of figures")] = DOCS
    / "pictures",
) -> None:
    """Refresh every marked place; the rest of a page is left as it is."""
    for page in pages or [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]:
        text = page.read_text(encoding="utf-8")
        filled = fill(text, results, pictures)
        if filled != text:
            write_text(page, filled)
            typer.echo(page, err=True)


def fill(text: str, results: Path, pictures: Path) -> str:
    """The page with what was measured in its marked places."""

    def replace(match: re.Match[str]) -> str:
        kind, name = match.groups()
        body = _table(results, name) if kind == "table" else _figure(results, name, pictures)
        return f"<!-- {kind}: {name} -->\n{body}\n<!-- end -->"

    return _MARKED.sub(replace, text)


def _table(results: Path, name: str) -> str:
    """Tables as they were drawn, one heading lower, with the command that measured them."""
    try:
        drawn = (results / f"{name}.md").read_text(encoding="utf-8")
    except FileNotFoundError:
        raise PhraseloomError(
            f"there is no table {name} in {results}; run the experiment first"
        ) from None
    tables = re.sub("^## ", "### ", drawn, flags=re.MULTILINE).strip()
    measured = results / f"{name}.json"
    if not measured.exists():  # drawn from what another experiment measured
        return tables
    content = read_result(measured)
    of_rows = [row["command"] for row in content.get("rows", []) if "command" in row]
    commands = dict.fromkeys(of_rows or [content["command"]])
    return "\n\n".join([f"{tables}\n\nMeasured by", *(f"`{each}`" for each in commands)])


def _figure(results: Path, name: str, pictures: Path) -> str:
    source = results / f"{name}.svg"
    if not source.exists():
        raise PhraseloomError(f"there is no figure {source}; run the experiment first")
    pictures.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, pictures / f"result-{name}.svg")
    return f"![{name}](pictures/result-{name}.svg)"
