"""Take the pictures of pages anew, in an installed Chromium: after a change of model or page.

One of the texts has an emoji: without a font for it the picture shows a box.

Run ``python -m docs.tools.pictures``.
"""

import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Browser, Page, expect

from docs.tools.samples import ROOT
from phraseloom.extractor import Extractor
from phraseloom.server.app import create_app
from phraseloom.server.workers import ThreadWorker
from tests.server.serving import LiveServer
from tests.web.browsing import open_browser

PICTURES = ROOT / "docs" / "pictures"
_TITLE = "Dynamic graph networks for keyphrase extraction"
_STEP = 3  # the phrase at which the graph is shown


def main() -> None:
    """Take all pictures, with the default model."""
    server = LiveServer(create_app([ThreadWorker(Extractor.load())]))
    try:
        with open_browser() as browser:
            take_highlight(browser)
            take_page(browser, server.address)
            take_dark_graph(browser, server.address)
    finally:
        server.stop()


def take_highlight(browser: Browser) -> None:
    """What ``make demo`` writes."""
    with TemporaryDirectory() as directory:
        out = Path(directory) / "keyphrases.html"
        command = ["phraseloom", "extract", "examples/abstract.txt", "--title", _TITLE]
        subprocess.run([*command, "--out", str(out)], cwd=ROOT, check=True)
        page = browser.new_page(viewport={"width": 1000, "height": 420})
        page.goto(out.as_uri())
        page.screenshot(path=PICTURES / "highlight.png")


def take_page(browser: Browser, address: str) -> None:
    """The top of the page, down to the second sentence of the graph."""
    page = browser.new_page(viewport={"width": 1280, "height": 1652}, reduced_motion="reduce")
    _show_sample(page, address, "Abstract")
    page.screenshot(path=PICTURES / "page.png")


def take_dark_graph(browser: Browser, address: str) -> None:
    """The graph alone, as a dark system shows it."""
    page = browser.new_page(
        viewport={"width": 1280, "height": 1000}, reduced_motion="reduce", color_scheme="dark"
    )
    _show_sample(page, address, "News")
    page.locator("#graph").evaluate("graph => graph.scrollIntoView()")
    page.screenshot(path=PICTURES / "page-dark.png")


def _show_sample(page: Page, address: str, name: str) -> None:
    """Extract a sample text, and step to the phrase that is shown."""
    page.goto(address)
    page.get_by_role("button", name=name).click()
    expect(page.locator("#graph")).to_be_visible(timeout=60_000)
    for _ in range(_STEP - 1):
        page.locator("#next").click()
    expect(page.locator("#step-phrase")).to_contain_text(f"Phrase {_STEP} of")


if __name__ == "__main__":
    main()
