"""Tables, each as Markdown to read and as JSON to compute with."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from phraseloom.data.parts import write_json


@dataclass(frozen=True, slots=True)
class Table:
    """A heading and rows of text; numbers are rounded by whoever makes the table."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()


def write_tables(path: Path, tables: Sequence[Table]) -> None:
    """Write tables to ``path.md`` and ``path.table.json``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "\n\n".join(to_markdown(table) for table in tables) + "\n"
    write_text(path.with_name(f"{path.name}.md"), text)
    content = [
        {
            "title": table.title,
            "rows": [dict(zip(table.columns, row, strict=True)) for row in table.rows],
            "notes": list(table.notes),
        }
        for table in tables
    ]
    write_json(path.with_name(f"{path.name}.table.json"), {"tables": content})


def to_markdown(table: Table) -> str:
    """One table; the first column is to the left, the others to the right.

    >>> print(to_markdown(Table("Sizes", ["corpus", "documents"], [["own", "3"]])))
    ## Sizes
    <BLANKLINE>
    | corpus | documents |
    |:---|---:|
    | own | 3 |
    """
    lines = [f"## {table.title}", "", _line(table.columns)]
    lines.append("|:---|" + "---:|" * (len(table.columns) - 1))
    lines += [_line(row) for row in table.rows]
    for note in table.notes:
        lines += ["", note]
    return "\n".join(lines)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def write_text(path: Path, text: str) -> None:
    """Write a file that appears whole or not at all."""
    temporary = path.with_name(f".{path.name}.new")
    temporary.write_text(text, encoding="utf-8")
    os.replace(temporary, path)
