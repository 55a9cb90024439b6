"""The import rule of docs/architecture.md, and the limits on the length of files and functions."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "phraseloom"
FILES = sorted(PACKAGE.rglob("*.py"))
PAGE = PACKAGE.parents[1] / "docs" / "architecture.md"
ROOT_NAMES = {"__version__"}
HEAVY = {"torch", "gensim", "pyarrow", "ray", "sklearn", "fastapi"}
"""What nobody needs who only wants keyphrases of a text."""


class Row(NamedTuple):
    """What a layer may import: other layers, and packages of third parties."""

    layers: set[str]
    packages: set[str]


def read_table() -> dict[str, Row]:
    """The table of the page, row by row."""
    table = PAGE.read_text(encoding="utf-8").partition("<!-- imports -->")[2]
    rows = {}
    for line in table.partition("<!-- end -->")[0].splitlines():
        if line.startswith("| `"):
            layer, layers, packages = (cell.strip() for cell in line.strip("|").split("|"))
            names = (
                {name.strip() for name in cell.split(",")} - {"–"} for cell in (layers, packages)
            )
            rows[layer.strip("`")] = Row(*names)
    return rows


TABLE = read_table()


def imported_names(path: Path) -> Iterator[str]:
    """Full dotted names of what a file imports anywhere, even inside a function."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}:{node.lineno}: write the import in full"
            # the alias counts too: `from phraseloom import config` is an import of config
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "import_extra":
            yield ast.literal_eval(node.args[0])


def layer_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def relative(path: Path) -> str:
    return str(path.relative_to(PACKAGE))


LAYERS = sorted({layer_of(path) for path in FILES} - {"__init__"})


def imports_of(layer: str) -> Row:
    """What the files of a layer import."""
    names = [
        name.split(".")
        for path in FILES
        if layer_of(path) == layer
        for name in imported_names(path)
    ]
    own = {name[1] for name in names if name[0] == "phraseloom" and len(name) > 1}
    others = {name[0] for name in names} - {"phraseloom"} - sys.stdlib_module_names
    return Row(own - {layer} - ROOT_NAMES, others)


@pytest.mark.parametrize("layer", LAYERS)
def test_a_layer_imports_what_its_row_says_and_nothing_else(layer: str) -> None:
    assert imports_of(layer) == TABLE[layer], f"row {layer} of docs/architecture.md"


def test_every_row_is_a_layer_and_none_waits_for_itself() -> None:
    assert sorted(TABLE) == LAYERS
    below: set[str] = set()
    while len(below) < len(TABLE):
        free = {layer for layer, row in TABLE.items() if row.layers <= below}
        assert free - below, f"these layers wait for each other: {sorted(TABLE.keys() - below)}"
        below |= free


def test_only_training_knows_torch_and_what_only_training_needs() -> None:
    for layer, row in TABLE.items():
        if layer not in ("train", "cli"):  # a command says that torch is missing
            assert not row.packages & {"torch", "gensim"}, layer
        if layer not in ("train", "io"):
            assert "pyarrow" not in row.packages, layer
        if layer != "cluster":
            assert "ray" not in row.packages, layer
    for layer in ("text", "network", "search", "query", "ranker", "extractor"):
        assert not TABLE[layer].packages & HEAVY, layer
        assert not TABLE[layer].layers & {"train", "server", "integrations", "cli"}, layer


EXTRACT = f"""
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {HEAVY!r}:
            raise ImportError(f"{{name}} is blocked")

sys.meta_path.insert(0, Blocked())
import phraseloom, phraseloom.cli
phrases = phraseloom.Extractor.load().extract(
    "Graph networks read dependency trees. Graph networks copy phrases from the trees.", top=3
)
assert len(phrases) == 3, phrases
print(*({HEAVY!r} & set(sys.modules)))
"""


def run_alone(code: str) -> list[str]:
    """Words that some code prints in a process of its own."""
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout.split()


def test_keyphrases_come_without_what_only_training_serving_or_scikit_learn_need() -> None:
    assert run_alone(EXTRACT) == []


def test_the_command_line_starts_without_heavy_libraries() -> None:
    heavy = {"torch", "spacy", "nltk", "gensim", "pyarrow", "matplotlib", "numpy", "rich"}
    assert run_alone(f"import sys, phraseloom.cli; print(*({heavy!r} & set(sys.modules)))") == []


def function_lengths(tree: ast.Module) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            yield node.name, node.end_lineno - node.lineno + 1


@pytest.mark.parametrize("path", FILES, ids=relative)
def test_a_file_fits_in_the_reader_s_head(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 400
    too_long = [name for name, length in function_lengths(ast.parse(text)) if length > 60]
    assert not too_long


def test_type_checkers_of_users_are_told_that_there_are_types() -> None:
    assert (PACKAGE / "py.typed").is_file()
