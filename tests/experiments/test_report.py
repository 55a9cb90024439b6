"""Tables and figures in the pages of docs/."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PAGE = """# Results

Before.

<!-- table: peers -->
old
<!-- end -->

Between.

<!-- figure: peers -->
<!-- end -->

After.
"""


@pytest.fixture
def results(tmp_path: Path) -> Path:
    folder = tmp_path / "results"
    folder.mkdir()
    (folder / "peers.md").write_text("## Extractors\n\n| a |\n|:---|\n| 1 |\n")
    (folder / "peers.json").write_text(json.dumps({"command": "phraseloom experiment peers"}))
    (folder / "peers.svg").write_text("<svg/>")
    return folder


def test_only_marked_places_change_and_twice_is_once(
    run: Callable[..., Any], results: Path, tmp_path: Path
) -> None:
    page = tmp_path / "results.md"
    page.write_text(PAGE)
    command = ("experiment", "report", page, "--results", results)
    for _ in range(2):
        outcome = run(*command, "--pictures", tmp_path / "pictures")
        assert outcome.status == 0, outcome.err

    text = page.read_text()
    assert "### Extractors\n\n| a |" in text
    assert "Measured by\n\n`phraseloom experiment peers`\n" in text
    assert "old" not in text
    assert text.count("![peers](pictures/result-peers.svg)") == 1
    assert text.startswith("# Results\n\nBefore.\n")
    assert text.endswith("<!-- end -->\n\nAfter.\n")
    assert (tmp_path / "pictures" / "result-peers.svg").read_text() == "<svg/>"


def test_rows_of_several_commands_name_them_all(
    run: Callable[..., Any], results: Path, tmp_path: Path
) -> None:
    rows = [{"command": each} for each in ("first", "first", "second")]
    (results / "peers.json").write_text(json.dumps({"command": "last", "rows": rows}))
    page = tmp_path / "results.md"
    page.write_text("<!-- table: peers -->\n<!-- end -->\n")
    run("experiment", "report", page, "--results", results)
    assert "Measured by\n\n`first`\n\n`second`\n<!-- end -->" in page.read_text()


@pytest.mark.parametrize("kind", ["table", "figure"])
def test_what_was_not_measured_is_named(
    run: Callable[..., Any], results: Path, tmp_path: Path, kind: str
) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"<!-- {kind}: moon -->\n<!-- end -->\n")
    outcome = run("experiment", "report", page, "--results", results)
    assert outcome.status == 2
    assert "moon" in outcome.err
    assert outcome.err.count("\n") == 1
