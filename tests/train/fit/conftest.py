"""A small collection: texts in which the keyphrases are those that a librarian always lists."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from phraseloom.config import ModelConfig, SearchConfig
from phraseloom.extractor import Extractor
from phraseloom.network.model import KeyphraseModel
from phraseloom.text.parsers import load_parser
from tests.builders import make_english_lexicon, make_weights

TOPICS = ("lighthouse", "harbour", "whale oil", "rope walk", "ship chandler", "tide table")
_FILLER = ("letter", "ledger", "photograph", "diary", "map", "box", "folder", "volume", "paper")


def make_documents(count: int, *, seed: int = 0) -> list[dict[str, str]]:
    """Descriptions of boxes, each with the topics in it as keywords, and much else."""
    chance = np.random.default_rng(seed)
    rows = []
    for number in range(count):
        topics = [TOPICS[i] for i in chance.permutation(len(TOPICS))[:2]]
        others = [_FILLER[i] for i in chance.permutation(len(_FILLER))[:6]]
        text = (
            f"The {others[0]} and a {others[1]} of box {number} show the {topics[0]}."
            f" A {others[2]}, one {others[3]} and the {others[4]} describe a {topics[1]}"
            f" near the {others[5]}."
        )
        rows.append({"note": text, "heading": f"Box {number}", "subjects": "; ".join(topics)})
    return rows


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that has learned nothing, which makes a fit easy and quick."""
    config = ModelConfig(
        word_width=8,
        pos_width=2,
        position_width=2,
        width=8,
        edge_width=2,
        layers=1,
        decoder_layers=1,
        residual=True,
    )
    lexicon = make_english_lexicon()
    weights = {name: 0.1 * array for name, array in make_weights(config, lexicon).items()}
    search = SearchConfig(beam_width=2, max_words=3, max_phrases=8)
    extractor = Extractor(KeyphraseModel(config, lexicon, weights), search, load_parser("conllu"))
    folder = tmp_path_factory.mktemp("base") / "model"
    extractor.save_pretrained(folder)
    return folder


@pytest.fixture
def write_rows(tmp_path: Path) -> Callable[[list[dict[str, str]]], Path]:
    """Rows as a file of JSON lines."""

    def write(rows: list[dict[str, str]], name: str = "tagged.jsonl") -> Path:
        path = tmp_path / name
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return path

    return write
