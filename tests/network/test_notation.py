"""The table of equations and the code name each other."""

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "phraseloom"
PAGE = (ROOT / "docs" / "notation.md").read_text(encoding="utf-8")
LABEL = re.compile(r"\(([A-Z]\d+)\)")
ROWS = [line.strip("| ").split(" | ") for line in PAGE.splitlines() if line.startswith("| (")]
SYMBOLS = [
    line.strip("| ").split(" | ")
    for line in PAGE.partition("## Symbols")[2].partition("## Equations")[0].splitlines()[4:]
    if line
]


def defined_in(files: str) -> list[object]:
    names = [
        f"phraseloom.{path[:-3].replace('/', '.')}" for path in re.findall(r"[\w/]+\.py", files)
    ]
    return [importlib.import_module(name) for name in names]


def has(owner: object, name: str) -> bool:
    """Whether ``Class.method``, ``Class.field`` or ``function`` can be reached from a module."""
    for part in name.split("."):
        if part in getattr(owner, "__annotations__", {}):
            return True
        if not hasattr(owner, part):
            return False
        owner = getattr(owner, part)
    return True


def unknown_names(code: str, files: str) -> list[str]:
    """Names in a row's column of code that its files do not define."""
    modules, names = defined_in(files), re.findall(r"`([\w.]+)`", code)
    assert names
    return [name for name in names if not any(has(module, name) for module in modules)]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_an_equation_names_code_that_exists(row: list[str]) -> None:
    assert unknown_names(row[3], row[4]) == []


@pytest.mark.parametrize("row", SYMBOLS, ids=lambda row: row[0])
def test_a_symbol_names_code_that_exists(row: list[str]) -> None:
    assert unknown_names(row[2], row[3]) == []


def test_every_equation_of_the_page_is_cited_by_the_code() -> None:
    cited = {
        label
        for path in SOURCE.rglob("*.py")
        for label in LABEL.findall(path.read_text(encoding="utf-8"))
    }

    assert {LABEL.findall(row[0])[0] for row in ROWS} == cited


def test_every_equation_of_the_paper_has_a_row() -> None:
    paper = {number for row in ROWS for number in re.findall(r"\((\d)\)", row[2])}

    assert paper == set("12345678")
