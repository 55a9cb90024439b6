"""A tiny extractor of random weights."""

import pytest

from phraseloom.extractor import Extractor
from phraseloom.text.parsers import load_parser
from tests.builders import make_styled_model


@pytest.fixture(scope="session")
def extractor() -> Extractor:
    model, config = make_styled_model()
    return Extractor(model, config.search, load_parser("spacy"))
