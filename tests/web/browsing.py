"""The page in a real browser, before a real server with a tiny model."""

import os
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

import pytest
from fastapi import FastAPI
from playwright.sync_api import Browser, ConsoleMessage, Page, sync_playwright
from playwright.sync_api import Error as BrowserError

from phraseloom.server.run import make_server
from phraseloom.server.settings import Limits

_BROWSERS = ("chromium", "chromium-browser", "google-chrome")


class LiveServer:
    """An application on a port of this machine, until it is told to stop."""

    def __init__(self, app: FastAPI, port: int = 0) -> None:
        self._socket = socket.create_server(("127.0.0.1", port))
        self.port: int = self._socket.getsockname()[1]
        self.address = f"http://127.0.0.1:{self.port}/"
        self._server = make_server(app, Limits())
        self._server.config.timeout_graceful_shutdown = 1
        self._thread = Thread(target=self._server.run, args=([self._socket],))
        self._thread.start()

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()


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
