"""A tiny corpus of our own sentences, prepared once, and untrained models that fit it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from phraseloom.config import Config, parse_config
from phraseloom.data.cache import Corpus
from phraseloom.data.prepare import PrepareOptions, prepare_corpus
from phraseloom.model.checkpoint import save_model
from phraseloom.train.setup import build_lexicon, build_model

TEXTS = [
    (
        "kites over the harbour",
        "a box kite lifts a small camera above the harbour . the camera takes harbour pictures "
        "when a steady wind holds the box kite .",
        ["box kite", "harbour pictures", "steady wind", "aerial view"],
    ),
    (
        "bread without yeast",
        "flat bread needs no yeast . a hot stone oven bakes flat bread in a minute , and barley "
        "flour gives it a dark crust .",
        ["flat bread", "stone oven", "barley flour"],
    ),
    (
        "counting swifts",
        "volunteers count swifts at dusk . nest boxes under old roofs raise the number of swifts "
        "in every town that puts up nest boxes .",
        ["swifts", "nest boxes"],
    ),
    (
        "a clock of water",
        "a water clock drips into a bowl . the rising bowl moves a wooden pointer , so the water "
        "clock shows the hour without a spring .",
        ["water clock", "wooden pointer", "sundial"],
    ),
    ("no reference", "this text has no reference phrases at all .", []),
]
SETTINGS: dict[str, Any] = {
    "model": {
        **{"word_width": 6, "pos_width": 3, "position_width": 4, "width": 8, "edge_width": 3},
        **{"layers": 2, "decoder_layers": 1, "interaction_rank": 3, "dropout": 0.0},
    },
    "search": {"width": 3, "max_words": 3, "max_phrases": 5},
}


@pytest.fixture(scope="session")
def corpus_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five documents as JSON lines."""
    path = tmp_path_factory.mktemp("corpora") / "own.jsonl"
    rows = [
        {"id": f"own-{i}", "set": "odd" if i % 2 else "even", **_row(*text)}
        for i, text in enumerate(TEXTS)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def _row(title: str, abstract: str, keywords: list[str]) -> dict[str, object]:
    return {"title": title, "abstract": abstract, "keywords": keywords}


@pytest.fixture(scope="session")
def prepared(corpus_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same documents, parsed."""
    out = tmp_path_factory.mktemp("prepared") / "own"
    prepare_corpus([corpus_file], out, PrepareOptions(processes=1))
    return out


@pytest.fixture(scope="session")
def make_model_directory(prepared: Path) -> Callable[..., Path]:
    """Save an untrained model with some settings of the network."""

    def make(directory: Path, *, seed: int = 0, **settings: object) -> Path:
        values = {**SETTINGS, "model": {**SETTINGS["model"], **settings}}
        config: Config = parse_config({**values, "train": {"seed": seed}})
        lexicon = build_lexicon([Corpus.open(prepared)], None, config)
        model = build_model(lexicon, None, config)
        torch.manual_seed(seed)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.normal_(std=0.5)  # small numbers would hide what goes wrong
        save_model(directory, model, lexicon, config)
        return directory

    return make


@pytest.fixture(scope="session")
def model_directory(
    make_model_directory: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A dynamic model with the interaction edge scorer."""
    place = tmp_path_factory.mktemp("models") / "dgcn"
    return make_model_directory(place, edge_scorer="interaction")
