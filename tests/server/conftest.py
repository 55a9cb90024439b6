"""One parser for all tests of the server, fresh weak spots for each."""

import pytest

from phraseloom.extractor import Extractor
from phraseloom.text.parsers import Parser, load_parser
from tests.server.serving import TEXT, WeakParser, make_extractor


@pytest.fixture(scope="session")
def spacy_parser() -> Parser:
    parser = load_parser("spacy")
    make_extractor(parser).extract(TEXT)  # a first search loads more: no request shall wait for it
    return parser


@pytest.fixture
def parser(spacy_parser: Parser) -> WeakParser:
    return WeakParser(spacy_parser)


@pytest.fixture
def extractor(parser: WeakParser) -> Extractor:
    return make_extractor(parser)
