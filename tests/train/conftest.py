"""Corpora that the tests of training share."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from tests.train.runs import make_rows, write_corpus


@pytest.fixture(scope="session")
def corpus_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twenty-four documents to learn from."""
    return write_corpus(tmp_path_factory.mktemp("train") / "corpus", make_rows(24))


@pytest.fixture(scope="session")
def valid_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six others."""
    return write_corpus(tmp_path_factory.mktemp("valid") / "corpus", make_rows(6, seed=1))


@pytest.fixture(autouse=True)
def torch_as_it_was() -> Iterator[None]:
    """A run sets up torch for the whole process."""
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(False)
