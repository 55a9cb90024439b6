"""A tiny corpus of our own sentences, prepared once, and untrained models that fit it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from experiments.__main__ import main
from phraseloom.config import Config, parse_config
from phraseloom.network.model import KeyphraseModel
from phraseloom.network.weights import save_model
from phraseloom.train.corpus.prepare import PrepareOptions, prepare_corpus
from phraseloom.train.corpus.prepared import PreparedCorpus
from phraseloom.train.setup import build_lexicon
from tests.builders import make_weights
from tests.conftest import Outcome

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
    "search": {"beam_width": 3, "max_words": 3, "max_phrases": 5},
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
        lexicon = build_lexicon([PreparedCorpus.open(prepared)], None, config)
        weights = make_weights(config.model, lexicon, seed=seed)
        save_model(directory, KeyphraseModel(config.model, lexicon, weights), config)
        return directory

    return make


@pytest.fixture(scope="session")
def model_directory(
    make_model_directory: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A dynamic model with the interaction edge scorer."""
    place = tmp_path_factory.mktemp("models") / "dgcn"
    return make_model_directory(place, edge_scorer="interaction")


@pytest.fixture
def experiment(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Callable[..., Outcome]:
    """Run ``python -m experiments`` in this process; all that it writes goes to a folder."""

    def run_experiment(name: str, *arguments: object) -> Outcome:
        folders = ("--results", tmp_path / "results", "--pictures", tmp_path / "pictures")
        monkeypatch.setattr("sys.argv", ["experiments", name, *map(str, (*arguments, *folders))])
        capsys.readouterr()
        with pytest.raises(SystemExit) as exit_info:
            main()
        printed = capsys.readouterr()
        return Outcome(int(exit_info.value.code or 0), printed.out, printed.err)

    return run_experiment


@pytest.fixture
def result(tmp_path: Path) -> Callable[[str], Any]:
    """What an experiment has written."""
    return lambda name: json.loads((tmp_path / "results" / f"{name}.json").read_text())
