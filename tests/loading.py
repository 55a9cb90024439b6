"""One loaded model for all tests that go through the public door."""

from functools import cache
from pathlib import Path

import pytest

from phraseloom import Extractor

_load = Extractor.load


def load_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let ``Extractor.load`` read each model from disk once per run of the tests."""
    monkeypatch.setattr(Extractor, "load", staticmethod(_cached))


@cache
def _cached(
    model: Path | str | None = None, *, parser: str = "spacy", threads: int = 1
) -> Extractor:
    return _load(model, parser=parser, threads=threads)
