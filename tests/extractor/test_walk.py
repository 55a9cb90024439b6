"""A reader who follows one call of ``extract`` opens few files."""

import sys
from pathlib import Path
from types import FrameType

import phraseloom
from phraseloom.extractor import Extractor

PACKAGE = Path(phraseloom.__file__).parent
FEWER_THAN = 25
TEXT = (
    "Graph-based neural networks find the keyphrases of a text. The graph is dynamic: it is scored"
    " again after each phrase, and the networks read what is left of it."
)


def test_a_call_enters_fewer_than_25_files() -> None:
    extractor = Extractor.load()
    extractor.extract("Trees grow.")  # what happens at the first call only is no part of the walk
    files = set()

    def note(frame: FrameType, event: str, argument: object) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(PACKAGE):
            files.add(str(path.relative_to(PACKAGE)))

    sys.setprofile(note)
    try:
        phrases = extractor.extract(TEXT, top=3)
    finally:
        sys.setprofile(None)

    assert len(phrases) == 3
    assert len(files) < FEWER_THAN, "\n".join(sorted(files))
