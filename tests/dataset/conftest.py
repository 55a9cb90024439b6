"""A model directory, and datasets whose keyphrases take no time."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from phraseloom.dataset import run
from phraseloom.dataset.run import Outcome, Request, extract_files
from phraseloom.options import Options
from tests.dataset.samples import save_tiny, use_first_word

Extract = Callable[..., Outcome]


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture
def extract(model: Path, monkeypatch: pytest.MonkeyPatch) -> Extract:
    """Extract files into a folder, with settings of a `Request`."""
    monkeypatch.setattr(run, "load_extractor", use_first_word)

    def extract_into(out: Path, *paths: Path, **settings: Any) -> Outcome:
        return extract_files(Request(paths, out, Options(), model=model, **settings))

    return extract_into
