"""The documentation is true: its blocks run and print what it shows, its links lead somewhere."""

import doctest
import importlib
import os
import re
import subprocess
import sys
import tomllib
from html.parser import HTMLParser
from pathlib import Path

import pytest

from docs.tools.blocks import Command, Session, find_blocks, find_commands, shell_lines
from docs.tools.refresh import refresh
from docs.tools.samples import write_samples
from docs.tools.walk import fill_walk, record_walk
from phraseloom.config import load_config, parse_config
from tests.loading import load_once

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"
FOLDERS = ("*.md", "docs/**/*.md", "benchmarks/*.md", "experiments/*.md")
PAGES = sorted(page for folder in FOLDERS for page in ROOT.glob(folder))
NOTATION = ROOT / "docs" / "notation.md"

_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_LABEL = re.compile(r"\(([A-Z]\d+)\)")
_NUMBER = re.compile(r"\d+\.\d+")
_ROUNDING = 0.002  # another machine may add up in another order

_run_before: set[Command] = set()
"""What several pages show is run on the first of them; on the others it is checked."""


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
def test_a_page_runs_from_top_to_bottom_and_shows_what_is_printed(page: Path, desk: None) -> None:
    text = page.read_text(encoding="utf-8")

    again = refresh(text, relative(page), _run_before)

    assert _NUMBER.sub("#", again) == _NUMBER.sub("#", text), "run make outputs"
    shown, printed = ([float(n) for n in _NUMBER.findall(part)] for part in (text, again))
    assert printed == pytest.approx(shown, abs=_ROUNDING), "run make outputs"


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ("python\nraise LookupError('here')", "here"),
        ("sh\nphraseloom extrakt abstract.txt", "extrakt"),
        ("sh\nphraseloom extract --tops 3 abstract.txt", "--tops"),
        ("console\nphraseloom train", "config"),
        ("console\n$ phraseloom extract abstract.txt --top 0\n1 graph", "status 2|greater than"),
        ("sh\nphraseloom extract missing.txt", "status 1"),
        ("sh\npython -m experiments unheard-of", "unheard-of"),
        ("console\npython -m experiments tune --unheard-of 1 runs/mine", "--unheard-of"),
        ("sh\npython -m experiments draw moon", "status 2"),
        ('json\n{"title": }', "Expecting value"),
        ("toml\n[model]\nlayerz = 2", "layerz"),
    ],
)
def test_a_broken_block_is_noticed(block: str, message: str, desk: None) -> None:
    [broken] = find_blocks(f"Text\n\n```{block}\n```\n")
    with pytest.raises(Exception, match=message):
        Session().run(broken, "a page")


def test_what_is_printed_otherwise_is_noticed(desk: None) -> None:
    page = "```python\nprint(0.25)\n```\n\n```text\n{}\n```\n"
    assert refresh(page.format("0.5"), "a page") == page.format("0.25")
    prompted = "```console\n$ phraseloom --version\nphraseloom 0\n```\n"
    assert "phraseloom 0\n" not in refresh(prompted, "a page")


def test_commands_are_found_wherever_they_stand_in_a_line() -> None:
    [block] = find_blocks(
        "```sh\ncat a.txt | bin/phraseloom extract --top 3 # so\n"
        "ls \\\n -l && python -m experiments draw tune\n```"
    )
    [first, second] = shell_lines(block)
    assert list(find_commands(first)) == [Command("phraseloom", ("extract", "--top", "3"), "a.txt")]
    assert list(find_commands(second)) == [Command("experiments", ("draw", "tune"))]


def test_the_configuration_on_the_page_is_the_file_that_it_names() -> None:
    page = (ROOT / "docs" / "howto" / "train-your-own.md").read_text(encoding="utf-8")
    [block] = [block for block in find_blocks(page) if block.language == "toml"]
    assert parse_config(tomllib.loads(block.code)) == load_config(ROOT / "configs" / "example.toml")


def test_the_walk_is_that_of_a_call(monkeypatch: pytest.MonkeyPatch) -> None:
    load_once(monkeypatch)
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert fill_walk(page) == page, "run make outputs"
    assert len(record_walk()) < 25, "a reader should not have to open more"


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_links_inside_the_repository_lead_somewhere(page: Path) -> None:
    for link in _LINK.findall(_FENCE.sub("", page.read_text(encoding="utf-8"))):
        if "://" in link or link.startswith("mailto:"):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


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
        elsewhere = [address for address in fetched.addresses if re.match(r"(https?:)?//", address)]
        assert not elsewhere, page
    for style in tmp_path.rglob("*.css"):
        assert not re.search(r"(@import|url\()\s*['\"]?(https?:)?//", style.read_text("utf-8")), (
            style
        )
