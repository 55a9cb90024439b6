"""Results, tables and figures: whole files, true provenance, and pictures that repeat."""

import ast
import doctest
import importlib
import json
import sys
from pathlib import Path

import pytest

from experiments.figures import figure
from experiments.results import ROOT, read_result, write_result
from experiments.tables import Table, write_tables
from phraseloom.errors import PhraseloomError

FILES = sorted((ROOT / "experiments").rglob("*.py"))


def test_a_result_says_what_made_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["/bin/phraseloom", "experiment", "tune", "a model"])

    write_result(tmp_path / "new" / "tune.json", {"chosen": {"width": 3}})

    content = read_result(tmp_path / "new" / "tune.json")
    assert content["command"] == "phraseloom experiment tune 'a model'"
    assert content["chosen"] == {"width": 3}
    assert {"commit", "version"} < content.keys()
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["tune.json"]


def test_a_damaged_result_is_named(tmp_path: Path) -> None:
    (tmp_path / "tune.json").write_text('{"cho')
    with pytest.raises(PhraseloomError, match=r"tune\.json is damaged"):
        read_result(tmp_path / "tune.json")


def test_a_table_is_the_same_in_both_forms(tmp_path: Path) -> None:
    table = Table("Sizes", ["corpus", "a|b"], [["own", "3"]], ["Counted by hand."])

    write_tables(tmp_path / "sizes", [table])

    (written,) = json.loads((tmp_path / "sizes.table.json").read_text())["tables"]
    assert written == {
        "title": "Sizes",
        "rows": [{"corpus": "own", "a|b": "3"}],
        "notes": ["Counted by hand."],
    }
    text = (tmp_path / "sizes.md").read_text()
    assert "| corpus | a\\|b |" in text
    assert text.endswith("\n\nCounted by hand.\n")


def test_the_same_figure_gives_the_same_files(tmp_path: Path) -> None:
    for name in ("first", "second"):
        with figure(tmp_path / name, panels=2) as axes:
            axes[1].plot([1, 2, 3], [3, 1, 2], label="own")
    for suffix in (".png", ".svg"):
        files = [tmp_path / f"{name}{suffix}" for name in ("first", "second")]
        assert files[0].read_bytes() == files[1].read_bytes()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_file_is_short_and_its_examples_are_true(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 400
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            assert (node.end_lineno or 0) - node.lineno < 60, node.name
    if ">>> " in text:
        parts = path.relative_to(ROOT).with_suffix("").parts
        module = importlib.import_module(".".join(parts).removesuffix(".__init__"))
        assert doctest.testmod(module).failed == 0
