"""The documentation is true: its blocks run, its links lead somewhere, its labels exist."""

import doctest
import importlib
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from docs.tools.blocks import Session, find_blocks, find_commands, shell_lines
from docs.tools.samples import write_samples
from tests.loading import load_once

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/*.md")])
NOTATION = ROOT / "docs" / "notation.md"

_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_LABEL = re.compile(r"\(([A-Z]\d+)\)")


def relative(path: Path) -> str:
    return str(path.relative_to(ROOT))


def anchors(page: Path) -> set[str]:
    """Names of a page's headings as web sites for Markdown derive them."""
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", line.lower()).strip().replace(" ", "-") for line in headings}


def modules_with_examples() -> list[str]:
    paths = [path for path in SOURCE.rglob("*.py") if ">>> " in path.read_text(encoding="utf-8")]
    return sorted(".".join(path.relative_to(SOURCE).with_suffix("").parts) for path in paths)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder of a reader who has the files that the pages speak of."""
    write_samples(tmp_path)
    monkeypatch.chdir(tmp_path)
    load_once(monkeypatch)


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_the_blocks_of_a_page_run(page: Path, desk: None) -> None:
    session = Session()
    for number, block in enumerate(find_blocks(page.read_text(encoding="utf-8")), start=1):
        session.run(block, f"{relative(page)}, block {number}")


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ("python\nraise LookupError('here')", "here"),
        ("sh\nphraseloom extrakt abstract.txt", "extrakt"),
        ("sh\nphraseloom extract --tops 3 abstract.txt", "--tops"),
        ("sh\nphraseloom train", "config"),
        ("console\n$ phraseloom extract abstract.txt --top 0\n1 graph", "at least|greater"),
        ("sh\nphraseloom extract missing.txt", "status 1"),
        ("sh\nphraseloom experiment unheard-of", "unheard-of"),
        ("sh\nphraseloom experiment tune --unheard-of 1 runs/base", "--unheard-of"),
        ('json\n{"title": }', "Expecting value"),
        ("toml\n[model]\nlayerz = 2", "layerz"),
    ],
)
def test_a_broken_block_is_noticed(block: str, message: str, desk: None) -> None:
    [found] = find_blocks(f"Text\n\n```{block}\n```\n")
    with pytest.raises(Exception, match=message):
        Session().run(found, "a page")


def test_commands_are_found_wherever_they_stand_in_a_line() -> None:
    [block] = find_blocks(
        "```sh\ncat a.txt | bin/phraseloom extract --top 3 > b # so\nls \\\n -l\n```"
    )
    [first, second] = shell_lines(block)
    assert [tuple(each) for each in find_commands(first)] == [(("extract", "--top", "3"), "a.txt")]
    assert not list(find_commands(second))


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_links_inside_the_repository_lead_somewhere(page: Path) -> None:
    for link in _LINK.findall(_FENCE.sub("", page.read_text(encoding="utf-8"))):
        if "://" in link or link.startswith("mailto:"):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=relative)
def test_equation_labels_in_the_code_are_in_the_notation(path: Path) -> None:
    known = set(_LABEL.findall(NOTATION.read_text(encoding="utf-8")))
    assert set(_LABEL.findall(path.read_text(encoding="utf-8"))) <= known


def test_equation_labels_in_the_explanation_are_in_the_notation() -> None:
    known = set(_LABEL.findall(NOTATION.read_text(encoding="utf-8")))
    text = (ROOT / "docs" / "how-it-works.md").read_text(encoding="utf-8")
    assert set(_LABEL.findall(text)) <= known


@pytest.mark.parametrize("name", modules_with_examples())
def test_examples_in_docstrings_hold(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


class _Fetched(HTMLParser):
    """Addresses that a browser fetches when it shows a page."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            is_fetched = name in {"src", "srcset", "data"} or (tag == "link" and name == "href")
            if is_fetched and value:
                self.addresses.append(value)


@pytest.mark.slow
def test_the_site_is_built_without_a_warning_and_fetches_nothing_from_elsewhere(
    tmp_path: Path,
) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}  # with --quiet it would forget to be strict
    done = subprocess.run(command, cwd=ROOT, env=quiet, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    pages = list(tmp_path.rglob("*.html"))
    assert len(pages) > 20
    for page in pages:
        fetched = _Fetched()
        fetched.feed(page.read_text(encoding="utf-8"))
        assert fetched.addresses
        assert not [each for each in fetched.addresses if re.match(r"(https?:)?//", each)], page
    for style in tmp_path.rglob("*.css"):
        assert not re.search(r"(@import|url\()\s*['\"]?(https?:)?//", style.read_text("utf-8")), (
            style
        )
