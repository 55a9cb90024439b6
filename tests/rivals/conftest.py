"""Eight documents that every rival learns by heart."""

from pathlib import Path

import pytest

from tests.rivals.runs import Bench, make_bench


@pytest.fixture(scope="session")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """Eight prepared documents with titles, collated once."""
    return make_bench(tmp_path_factory.mktemp("rivals"))


@pytest.fixture(scope="session")
def corpus(bench: Bench) -> Path:
    """The same documents on disk."""
    return bench.corpus
