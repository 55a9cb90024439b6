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
from experiments.tables import Table, to_markdown
from phraseloom.errors import PhraseloomError

FILES = sorted((ROOT / "experiments").rglob("*.py"))


def test_a_result_says_what_made_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["experiments", "tune", "a model"])

    write_result(tmp_path / "new" / "tune.json", {"chosen": {"beam_width": 3}})

    content = read_result(tmp_path / "new" / "tune.json")
    assert content["command"] == "python -m experiments tune 'a model'"
    assert content["chosen"] == {"beam_width": 3}
    assert {"commit", "version"} < content.keys()
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["tune.json"]


def test_a_damaged_result_is_named(tmp_path: Path) -> None:
    (tmp_path / "tune.json").write_text('{"cho')
    with pytest.raises(PhraseloomError, match=r"tune\.json is damaged"):
        read_result(tmp_path / "tune.json")


def test_a_row_is_a_line_and_reads_as_it_was(tmp_path: Path) -> None:
    rows = [{"a": 1.5, "b": None}, {"a": 2, "b": ["é", 'a "quote"']}]

    content = write_result(tmp_path / "tune.json", {"rows": rows, "empty": [], "chosen": {"x": 1}})

    assert (content["rows"], content["empty"], content["chosen"]) == (rows, [], {"x": 1})
    lines = (tmp_path / "tune.json").read_text().splitlines()
    assert [line.strip(" ,") for line in lines if line.startswith("  ")] == [
        *(json.dumps(row, ensure_ascii=False) for row in rows)
    ]


def test_a_bar_inside_a_cell_does_not_end_it() -> None:
    table = Table("Sizes", ["corpus", "a|b"], [["own", "3"]], ["Counted by hand."])

    text = to_markdown(table)

    assert "| corpus | a\\|b |" in text
    assert text.endswith("\n\nCounted by hand.")


def test_the_same_figure_gives_the_same_file(tmp_path: Path) -> None:
    for folder in ("first", "second"):
        with figure("own", tmp_path / folder, panels=2) as axes:
            axes[1].plot([1, 2, 3], [3, 1, 2], label="own")
    first, second = (tmp_path / folder / "result-own.svg" for folder in ("first", "second"))
    assert first.read_bytes() == second.read_bytes()


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
