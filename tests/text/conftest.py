"""One spaCy parser for all tests of this folder: loading it takes longer than they do."""

import pytest

from phraseloom.text.parsers import Parser, load_parser


@pytest.fixture(scope="session")
def spacy_parser() -> Parser:
    return load_parser("spacy")
