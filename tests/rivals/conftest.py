"""Eight documents that every rival learns by heart."""

from pathlib import Path

import pytest

from rivals import skerank
from tests.rivals.runs import Bench, make_bench
from tests.rivals.tiny_minilm import make_minilm


@pytest.fixture(scope="session")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """Eight prepared documents with titles, collated once."""
    return make_bench(tmp_path_factory.mktemp("rivals"))


@pytest.fixture(autouse=True)
def tiny_minilm(monkeypatch: pytest.MonkeyPatch) -> None:
    """SKE-Rank reads a random encoder: no test needs a package of weights."""
    monkeypatch.setattr(skerank, "load_minilm", make_minilm)


@pytest.fixture(scope="session")
def corpus(bench: Bench) -> Path:
    """The same documents on disk."""
    return bench.corpus
