"""The page in a real browser, before a real server with a tiny model."""

import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

import pytest
import uvicorn
from fastapi import FastAPI
from playwright.sync_api import Browser, ConsoleMessage, Page, sync_playwright
from playwright.sync_api import Error as BrowserError

_BROWSERS = ("chromium", "chromium-browser", "google-chrome")


class LiveServer:
    """An application on a port of this machine, until it is told to stop."""

    def __init__(self, app: FastAPI, port: int = 0) -> None:
        self._socket = socket.create_server(("127.0.0.1", port))
        self.port: int = self._socket.getsockname()[1]
        self.address = f"http://127.0.0.1:{self.port}/"
        config = uvicorn.Config(app, log_config=None, ws="none", timeout_graceful_shutdown=1)
        self._server = uvicorn.Server(config)
        self._thread = Thread(target=self._server.run, args=([self._socket],))
        self._thread.start()

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()


@contextmanager
def open_browser() -> Iterator[Browser]:
    """A browser without a window; a machine that has none skips the test."""
    path = next(filter(None, map(shutil.which, _BROWSERS)), None)
    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        except BrowserError as error:
            pytest.skip(f"no Chromium to open the page in: {error.message.splitlines()[0]}")
        yield browser
        browser.close()


class Complaints:
    """What a browser has to say against a page: errors in scripts, refused content."""

    def __init__(self, page: Page) -> None:
        self.said: list[str] = []
        page.on("pageerror", lambda error: self.said.append(error.message))
        page.on("console", self._note)

    def _note(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.said.append(message.text)
