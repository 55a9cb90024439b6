"""The import rule of docs/architecture.md, and the limits on the length of files and functions."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "phraseloom"
FILES = sorted(PACKAGE.rglob("*.py"))

MAY_IMPORT = {  # layer: the layers below it that it may use
    "errors": set(),
    "config": {"errors"},
    "text": {"errors"},
    "nn": set(),
    "search": set(),
    "draw": {"errors", "text"},
    "reading": {"errors", "text"},
    "evaluate": {"errors", "text"},
    "data": {"errors", "config", "text"},
    "model": {"errors", "config", "data", "nn"},
    "extractor": {"errors", "config", "text", "data", "model", "search"},
    "explain": {"text", "data", "search", "extractor"},
    "train": {"errors", "config", "data", "model", "search", "extractor", "evaluate"},
    "cluster": {"errors", "data", "extractor"},
    "integrations": {"errors", "text", "extractor"},
    "server": {"errors", "text", "model", "extractor", "explain"},
    "web": {"text", "extractor", "explain"},
    "cli": {
        *("errors", "config", "text", "draw", "reading", "data", "model", "extractor"),
        *("train", "evaluate", "cluster", "server", "web"),
    },
}
WITHOUT_TORCH = {"errors", "config", "text", "draw", "reading", "evaluate"}
ROOT_NAMES = {"PhraseloomError", "__version__"}


def imported_names(path: Path) -> Iterator[str]:
    """Full dotted names of what a file imports anywhere, even inside a function."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}:{node.lineno}: write the import in full"
            # the alias counts too: `from phraseloom import config` is an import of config
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def layer_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def relative(path: Path) -> str:
    return str(path.relative_to(PACKAGE))


def function_lengths(tree: ast.Module) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            yield node.name, node.end_lineno - node.lineno + 1


@pytest.mark.parametrize("path", FILES, ids=relative)
def test_a_file_imports_only_layers_below_it(path: Path) -> None:
    layer = layer_of(path)
    if layer == "__init__":
        return
    parts = [name.split(".") for name in imported_names(path)]
    layers = {name[1] for name in parts if name[0] == "phraseloom" and len(name) > 1}
    assert layers - ROOT_NAMES <= MAY_IMPORT[layer] | {layer}


@pytest.mark.parametrize("path", FILES, ids=relative)
def test_text_pictures_and_metrics_know_no_torch(path: Path) -> None:
    if layer_of(path) in WITHOUT_TORCH:
        assert not any(name.split(".")[0] == "torch" for name in imported_names(path))


@pytest.mark.parametrize("path", FILES, ids=relative)
def test_a_file_fits_in_the_reader_s_head(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 400
    too_long = [name for name, length in function_lengths(ast.parse(text)) if length > 60]
    assert not too_long


def test_the_rule_has_no_cycle() -> None:
    seen: set[str] = set()
    while len(seen) < len(MAY_IMPORT):
        free = {layer for layer, below in MAY_IMPORT.items() if below <= seen}
        assert free - seen, "these layers wait for each other: " + ", ".join(
            MAY_IMPORT.keys() - seen
        )
        seen |= free


def test_the_rule_is_the_one_in_the_docs() -> None:
    text = (PACKAGE.parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")
    for layer, below in MAY_IMPORT.items():
        row = next(line for line in text.splitlines() if line.startswith(f"| `{layer}` |"))
        named = {name.strip() for name in row.split("|")[2].split(",")} - {"–"}
        assert named == below, f"row {layer} of docs/architecture.md"


def test_the_command_line_starts_without_heavy_libraries() -> None:
    heavy = {"torch", "spacy", "nltk", "gensim", "pyarrow", "matplotlib", "numpy", "rich"}
    code = f"import sys, phraseloom.cli; print(*({heavy!r} & set(sys.modules)))"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.split() == []


def test_type_checkers_of_users_are_told_that_there_are_types() -> None:
    assert (PACKAGE / "py.typed").is_file()
