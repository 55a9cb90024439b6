"""A browser for the tests of one file; it must not outlive them, for it holds the event loop."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from phraseloom.extractor import Extractor
from phraseloom.text.parsers import load_parser
from tests.test_explain import make_extractor
from tests.web.browsing import Complaints, open_browser

_PATIENCE = 60_000  # milliseconds: a busy machine is not a bug
expect.set_options(timeout=_PATIENCE)


@pytest.fixture(scope="module")
def extractor() -> Extractor:
    extractor = make_extractor(load_parser("spacy"))
    extractor.extract("Graphs.")  # a first search loads more: no request shall wait for it
    return extractor


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as browser:
        yield browser


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(
        viewport={"width": 1280, "height": 900}, reduced_motion="reduce", color_scheme="light"
    )
    context.set_default_timeout(_PATIENCE)
    yield context
    context.close()


@pytest.fixture
def page(context: BrowserContext) -> Page:
    return context.new_page()


@pytest.fixture
def complaints(page: Page) -> Complaints:
    return Complaints(page)
