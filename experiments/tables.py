"""Tables as Markdown."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Table:
    """A heading and rows of text; numbers are rounded by whoever makes the table."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()


def to_markdown(*tables: Table) -> str:
    """Tables one below the other; the first column is to the left, the others to the right.

    >>> print(to_markdown(Table("Sizes", ["corpus", "documents"], [["own", "3"]])))
    ## Sizes
    <BLANKLINE>
    | corpus | documents |
    |:---|---:|
    | own | 3 |
    """
    return "\n\n".join(_to_markdown(table) for table in tables)


def _to_markdown(table: Table) -> str:
    lines = [f"## {table.title}", "", _line(table.columns)]
    lines.append("|:---|" + "---:|" * (len(table.columns) - 1))
    lines += [_line(row) for row in table.rows]
    for note in table.notes:
        lines += ["", note]
    return "\n".join(lines)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
