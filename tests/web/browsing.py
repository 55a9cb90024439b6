"""The page in a real browser."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, sync_playwright
from playwright.sync_api import Error as BrowserError

_BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@contextmanager
def open_browser() -> Iterator[Browser]:
    """A browser without a window; a machine that has none skips the test, or fails it in CI."""
    path = next(filter(None, map(shutil.which, _BROWSERS)), None)
    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        except BrowserError as error:
            give_up = pytest.fail if os.environ.get("CI") else pytest.skip
            give_up(f"no Chromium to open the page in: {error.message.splitlines()[0]}")
        yield browser
        browser.close()


class Complaints:
    """What a browser has to say against a page: errors in scripts, refused content."""

    def __init__(self, page: Page) -> None:
        self.messages: list[str] = []
        page.on("pageerror", lambda error: self.messages.append(error.message))
        page.on("console", self._note)

    def _note(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.messages.append(message.text)
