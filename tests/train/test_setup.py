"""What a run begins from: another model, a glossary, or neither."""

from pathlib import Path

import numpy as np
import pytest

from phraseloom.config import Config
from phraseloom.errors import CheckpointError, ConfigError
from phraseloom.network import registry
from phraseloom.network.lexicon import Glossary, PhraseCounts
from phraseloom.network.weights import load_model
from phraseloom.train.corpus.glossary import count_glossary, load_glossary, save_glossary
from phraseloom.train.corpus.prepared import PreparedCorpus
from phraseloom.train.setup import open_run
from phraseloom.train.trainer import Trainer
from tests.train.runs import change, tiny_config


@pytest.fixture
def config(corpus_path: Path, valid_path: Path) -> Config:
    return tiny_config(corpus_path, valid_path)


@pytest.fixture
def glossary(corpus_path: Path, tmp_path: Path) -> Path:
    path = tmp_path / "glossary.json"
    save_glossary(count_glossary([PreparedCorpus.open(corpus_path)]), path)
    return path


@pytest.fixture
def with_glossary(corpus_path: Path, valid_path: Path, glossary: Path) -> Config:
    data = {"glossary": str(glossary)}
    return tiny_config(corpus_path, valid_path, model={"glossary_features": True}, data=data)


def fit(config: Config, out: Path) -> Trainer:
    trainer = open_run(config, out)
    trainer.fit(lambda entry: None)
    return trainer


def test_the_glossary_is_kept_with_the_model(
    with_glossary: Config, glossary: Path, tmp_path: Path
) -> None:
    fit(with_glossary, tmp_path / "run")
    model, _ = load_model(tmp_path / "run")

    assert model.config.glossary_features
    assert model.lexicon.glossary == load_glossary(glossary)
    assert model.lexicon.glossary.counts


def test_a_later_phase_may_have_another_glossary(with_glossary: Config, tmp_path: Path) -> None:
    fit(with_glossary, tmp_path / "first")
    later = Glossary({"graph node": PhraseCounts(2, 3)})
    save_glossary(later, tmp_path / "later.json")
    data = with_glossary.data.model_copy(update={"glossary": tmp_path / "later.json"})
    train = with_glossary.train.model_copy(update={"init": tmp_path / "first"})
    fit(with_glossary.model_copy(update={"data": data, "train": train}), tmp_path / "second")

    assert load_model(tmp_path / "second")[0].lexicon.glossary == later


def test_a_model_without_glossary_features_cannot_get_them_later(
    with_glossary: Config, corpus_path: Path, valid_path: Path, tmp_path: Path
) -> None:
    fit(tiny_config(corpus_path, valid_path), tmp_path / "first")
    train = with_glossary.train.model_copy(update={"init": tmp_path / "first"})

    with pytest.raises(ConfigError, match=r"model\.glossary_features = False, not True"):
        open_run(with_glossary.model_copy(update={"train": train}), tmp_path / "second")


def test_glossary_features_without_a_glossary_are_refused(
    corpus_path: Path, valid_path: Path, tmp_path: Path
) -> None:
    config = tiny_config(corpus_path, valid_path, model={"glossary_features": True})

    with pytest.raises(ConfigError, match=r"data\.glossary.*phraseloom glossary"):
        open_run(config, tmp_path)


def test_a_run_may_start_from_another_model(config: Config, tmp_path: Path) -> None:
    fit(config, tmp_path / "first")
    trainer = open_run(change(config, init=tmp_path / "first" / "best"), tmp_path / "second")
    model, _ = load_model(tmp_path / "first" / "best")

    assert trainer.state.step == 0
    assert trainer.lexicon == model.lexicon
    assert trainer.learner.weights.keys() == model.weights.keys()
    for name, weight in trainer.learner.weights.items():
        np.testing.assert_array_equal(weight.detach(), model.weights[name])


def test_an_installed_model_goes_by_its_name(
    config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fit(config, tmp_path / "first")
    (tmp_path / "first" / "best").rename(tmp_path / "shipped")
    monkeypatch.setattr(registry, "_SHIPPED", tmp_path)

    trainer = open_run(change(config, init=Path("shipped")), tmp_path / "second")

    assert trainer.lexicon == load_model(tmp_path / "shipped")[0].lexicon
    with pytest.raises(CheckpointError, match="there is no model directory other; installed: "):
        open_run(change(config, init=Path("other")), tmp_path / "third")


def test_a_model_of_another_shape_is_no_start(config: Config, tmp_path: Path) -> None:
    fit(config, tmp_path / "first")
    shape = config.model.model_copy(update={"layers": config.model.layers + 1})
    other = change(config, init=tmp_path / "first").model_copy(update={"model": shape})

    with pytest.raises(ConfigError, match="layers"):
        open_run(other, tmp_path / "second")


def test_a_network_may_begin_with_the_weights_of_one_that_has_more_of_a_graph(
    config: Config, tmp_path: Path
) -> None:
    fit(config, tmp_path / "first")
    start = change(config, init=tmp_path / "first")
    static = config.model.model_copy(update={"variant": "gcn"})
    dynamic = start.model_copy(update={"model": static})
    names = {
        variant: set(open_run(run, tmp_path / variant).learner.weights)
        for variant, run in (("dgcn", start), ("gcn", dynamic))
    }

    assert names["gcn"] < names["dgcn"]
    fit(dynamic, tmp_path / "gcn")
    with pytest.raises(ConfigError, match="variant"):
        open_run(change(config, init=tmp_path / "gcn" / "best"), tmp_path / "third")
