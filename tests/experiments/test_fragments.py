"""What is a fragment: judged on a parsed text."""

import pytest

from experiments.fragments import judge
from phraseloom.text.document import Source
from phraseloom.text.parsers import load_parser

TEXT = (
    "Severe property damage followed. Single sign-on failed again. The Insurance Information"
    " Institute counted the sperm whales of the bank of Oslo."
)


@pytest.mark.parametrize(
    ("phrase", "is_cut"),
    [
        ("severe property damage", False),
        ("property damage", False),
        ("severe property", True),
        ("damage followed", True),
        ("single sign", True),
        ("Information Institute", True),
        ("Insurance Information Institute", False),
        ("whales", False),
        ("bank of Oslo", False),
        ("hurricane", None),
    ],
)
def test_a_phrase_is_whole_cut_or_not_there(phrase: str, is_cut: bool | None) -> None:
    document = load_parser("spacy").parse_batch([Source(TEXT)])[0]

    assert judge(document, [phrase]) == [is_cut]
