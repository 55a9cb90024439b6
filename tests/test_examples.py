"""The examples run: scripts from their first line, the cells of notebooks one after the other."""

import json
import runpy
from pathlib import Path

import pytest

from tests.loading import load_once

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted(ROOT.glob("examples/*.ipynb"))


def name(path: Path) -> str:
    return path.name


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty folder to run in, and one model for all."""
    monkeypatch.chdir(tmp_path)
    load_once(monkeypatch)


@pytest.mark.parametrize("path", sorted(ROOT.glob("examples/*.py")), ids=name)
def test_a_script_runs_and_says_something(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out.strip()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=name)
def test_the_cells_of_a_notebook_run_and_have_outputs(path: Path) -> None:
    names: dict[str, object] = {}
    cells = [cell for cell in json.loads(path.read_bytes())["cells"] if cell["cell_type"] == "code"]
    for number, cell in enumerate(cells, start=1):
        exec(compile("".join(cell["source"]), f"{path.name}, cell {number}", "exec"), names)
        assert cell["execution_count"] == number, "run the notebook from the top and save it"
        assert all(output["output_type"] != "error" for output in cell["outputs"])
    assert any(cell["outputs"] for cell in cells)


def test_there_is_a_notebook() -> None:
    assert NOTEBOOKS
