"""Tables and figures in the pages of docs/: what was measured, and nothing else."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from experiments.report import fill
from experiments.results import PICTURES, RESULTS, ROOT

ROWS = [
    {"run": "first", "documents": 40, "perplexity": 5.0, "f1@5": 0.2, "f1@M": None},
    {"run": "first", "documents": 80, "perplexity": 4.0, "f1@5": 0.3, "f1@M": 0.4},
]
PAGE = """# Results

Before.

<!-- table: curve -->
old
<!-- end -->

Between.

<!-- figure: curve -->
<!-- end -->

After.
"""


@pytest.fixture
def page(tmp_path: Path) -> Path:
    (tmp_path / "results").mkdir()
    content = {"command": "python -m experiments curve", "rows": ROWS}
    (tmp_path / "results" / "curve.json").write_text(json.dumps(content))
    (tmp_path / "results.md").write_text(PAGE)
    return tmp_path / "results.md"


def test_only_marked_places_change_and_twice_is_once(
    experiment: Callable[..., Any], page: Path, tmp_path: Path
) -> None:
    outcome = experiment("report", page)

    assert (outcome.status, outcome.err.strip()) == (0, str(page))
    text = page.read_text()
    assert "### Learning curve\n\n| run | documents seen |" in text
    assert "| first | 80 | 4.00 | 0.300 | 0.400 |" in text
    assert "\n\nMeasured by\n\n`python -m experiments curve`\n<!-- end -->" in text
    assert "old" not in text
    assert text.count("![curve](pictures/result-curve.svg)") == 1
    assert text.startswith("# Results\n\nBefore.\n")
    assert text.endswith("<!-- end -->\n\nAfter.\n")
    assert (tmp_path / "pictures" / "result-curve.svg").stat().st_size
    assert experiment("report", page).err == ""


def test_rows_of_several_commands_name_them_all(experiment: Callable[..., Any], page: Path) -> None:
    rows = [
        {**row, "command": command}
        for row, command in zip([*ROWS, ROWS[0]], ("first", "first", "second"), strict=True)
    ]
    path = page.parent / "results" / "curve.json"
    path.write_text(json.dumps({"command": "last", "rows": rows}))
    experiment("report", page)
    assert "Measured by\n\n`first`\n\n`second`\n<!-- end -->" in page.read_text()


@pytest.mark.parametrize("mark", ["table: moon", "figure: moon", "table: tune"])
def test_what_was_not_measured_is_named(
    experiment: Callable[..., Any], page: Path, mark: str
) -> None:
    page.write_text(f"<!-- {mark} -->\n<!-- end -->\n")
    outcome = experiment("report", page)
    assert outcome.status == 2
    assert mark.partition(" ")[2] in outcome.err
    assert outcome.err.count("\n") == 1


def test_the_pages_show_what_was_measured(tmp_path: Path) -> None:
    """Every table of the repository is what its result file says, drawn anew."""
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    marked = {page: page.read_text(encoding="utf-8") for page in pages}
    marked = {page: text for page, text in marked.items() if "<!-- end -->" in text}
    assert len(marked) > 1
    for page, text in marked.items():
        assert fill(text, RESULTS, tmp_path) == text, f"{page}: run python -m experiments report"
    assert {path.name for path in tmp_path.iterdir()} <= {path.name for path in PICTURES.iterdir()}
