"""Runs that are told of known phrases, from the start or later."""

from pathlib import Path

import pytest

from phraseloom.config import Config
from phraseloom.data.cache import Corpus
from phraseloom.data.glossary import Counts, Glossary, count_glossary
from phraseloom.errors import ConfigError
from phraseloom.model.checkpoint import load_model
from phraseloom.train.loop import Trainer, open_run
from tests.train.runs import tiny_config


@pytest.fixture
def glossary(corpus_path: Path, tmp_path: Path) -> Path:
    path = tmp_path / "glossary.json"
    count_glossary([Corpus.open(corpus_path)]).save(path)
    return path


@pytest.fixture
def told(corpus_path: Path, valid_path: Path, glossary: Path) -> Config:
    data = {"glossary": str(glossary)}
    return tiny_config(corpus_path, valid_path, model={"known_phrases": True}, data=data)


def fit(config: Config, out: Path) -> Trainer:
    trainer = open_run(config, out)
    trainer.fit(lambda entry: None)
    return trainer


def test_the_glossary_is_kept_with_the_model(told: Config, glossary: Path, tmp_path: Path) -> None:
    fit(told, tmp_path / "run")
    model, lexicon, _ = load_model(tmp_path / "run")

    assert model.config.known_phrases
    assert lexicon.glossary == Glossary.load(glossary)
    assert lexicon.glossary.counts


def test_a_later_phase_may_have_another_glossary(told: Config, tmp_path: Path) -> None:
    fit(told, tmp_path / "first")
    later = Glossary({"graph node": Counts(2, 3)})
    later.save(tmp_path / "later.json")
    data = told.data.model_copy(update={"glossary": tmp_path / "later.json"})
    train = told.train.model_copy(update={"init": tmp_path / "first"})
    fit(told.model_copy(update={"data": data, "train": train}), tmp_path / "second")

    assert load_model(tmp_path / "second")[1].glossary == later


def test_a_model_without_known_phrases_cannot_be_told_of_them(
    told: Config, corpus_path: Path, valid_path: Path, tmp_path: Path
) -> None:
    fit(tiny_config(corpus_path, valid_path), tmp_path / "first")
    train = told.train.model_copy(update={"init": tmp_path / "first"})

    with pytest.raises(ConfigError, match=r"model\.known_phrases = False, not True"):
        open_run(told.model_copy(update={"train": train}), tmp_path / "second")


def test_known_phrases_without_a_glossary_are_refused(
    corpus_path: Path, valid_path: Path, tmp_path: Path
) -> None:
    config = tiny_config(corpus_path, valid_path, model={"known_phrases": True})

    with pytest.raises(ConfigError, match=r"data\.glossary.*phraseloom glossary"):
        open_run(config, tmp_path)
