"""``phraseloom export``: a smaller model that says what it is."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from phraseloom.config import Config, ModelConfig
from phraseloom.network.lexicon import Glossary, PhraseCounts
from phraseloom.network.weights import full_arrays, load_model, read_notes, save_model
from tests.builders import TINY, make_lexicon, make_model

CONFIG = Config(model=ModelConfig.model_validate(TINY))


@pytest.fixture
def model(tmp_path: Path) -> Path:
    save_model(tmp_path / "run", make_model(make_lexicon()), CONFIG, notes={"step": 7})
    return tmp_path / "run"


def test_settings_notes_and_card_go_with_the_model(
    run: Callable[..., Any], model: Path, tmp_path: Path
) -> None:
    (tmp_path / "notes.json").write_text(json.dumps({"licence": "CC BY"}))
    (tmp_path / "card.md").write_text("# A card\n")
    out = tmp_path / "shipped"

    outcome = run(
        *("export", model, "--out", out, "--set", "search.alpha=2.5"),
        *("--notes", tmp_path / "notes.json", "--card", tmp_path / "card.md"),
    )

    assert outcome.status == 0, outcome.err
    assert load_model(out)[1].search.alpha == 2.5
    assert read_notes(out) == {"step": 7, "licence": "CC BY"}
    assert (out / "README.md").read_text() == "# A card\n"
    weights = "model.safetensors"
    assert (out / weights).stat().st_size < (model / weights).stat().st_size


@pytest.mark.parametrize("option", ["--notes", "--card"])
def test_a_file_that_is_not_there_leaves_nothing_behind(
    run: Callable[..., Any], model: Path, tmp_path: Path, option: str
) -> None:
    outcome = run("export", model, "--out", tmp_path / "shipped", option, tmp_path / "moon")
    assert outcome.status == 2
    assert "moon" in outcome.err
    assert outcome.err.count("\n") == 1
    assert not (tmp_path / "shipped").exists()


@pytest.mark.parametrize("content", ["{", "[1]", "7", "[" * 100_000])
def test_notes_are_an_object(
    run: Callable[..., Any], model: Path, tmp_path: Path, content: str
) -> None:
    (tmp_path / "notes.json").write_text(content)
    arguments = ("--out", tmp_path / "shipped", "--notes", tmp_path / "notes.json")
    outcome = run("export", model, *arguments)
    assert outcome.status == 2
    assert "notes.json is no JSON object" in outcome.err
    assert outcome.err.count("\n") == 1


def test_of_several_models_the_mean_is_written(
    run: Callable[..., Any], model: Path, tmp_path: Path
) -> None:
    other = make_model(make_lexicon(), seed=1)
    save_model(tmp_path / "next", other, CONFIG, notes={"step": 9})
    out = tmp_path / "shipped"

    outcome = run("export", model, tmp_path / "next", "--out", out)

    assert outcome.status == 0, outcome.err
    first, second, mean = (
        full_arrays(load_model(place)[0].weights) for place in (model, tmp_path / "next", out)
    )
    for name, weight in mean.items():
        step = float(np.abs(weight).max()) / 127
        np.testing.assert_allclose(weight, (first[name] + second[name]) / 2, rtol=2e-3, atol=step)
    assert read_notes(out) == {}


def test_models_of_a_mean_may_know_other_phrases_and_count_more_than_once(
    run: Callable[..., Any], model: Path, tmp_path: Path
) -> None:
    known = Glossary({"graph network": PhraseCounts(3, 2)})
    other = make_model(replace(make_lexicon(), glossary=known), seed=1)
    save_model(tmp_path / "next", other, CONFIG)
    out = tmp_path / "shipped"

    outcome = run("export", model, tmp_path / "next", tmp_path / "next", "--out", out)

    assert outcome.status == 0, outcome.err
    mean, _ = load_model(out)
    name = "decoder.start"
    first = full_arrays(load_model(model)[0].weights)[name]
    expected = (first + 2 * full_arrays(other.weights)[name]) / 3
    np.testing.assert_allclose(full_arrays(mean.weights)[name], expected, rtol=2e-3, atol=1e-3)
    assert mean.lexicon.glossary == known


def test_models_of_different_words_have_no_mean(
    run: Callable[..., Any], model: Path, tmp_path: Path
) -> None:
    lexicon = make_lexicon(styles=("author", "indexer"))
    config = Config(model=ModelConfig.model_validate({**TINY, "styles": lexicon.styles}))
    save_model(tmp_path / "other", make_model(lexicon), config)

    outcome = run("export", model, tmp_path / "other", "--out", tmp_path / "shipped")

    assert outcome.status == 2
    assert "different words or shapes" in outcome.err
    assert outcome.err.count("\n") == 1
    assert not (tmp_path / "shipped").exists()


def test_what_is_no_model_is_left_alone(
    run: Callable[..., Any], model: Path, tmp_path: Path
) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "thesis.txt").write_text("years of work")
    outcome = run("export", model, "--out", tmp_path / "home")
    assert (outcome.status, outcome.out) == (2, "")
    assert "holds thesis.txt" in outcome.err
    assert outcome.err.count("\n") == 1
    assert (tmp_path / "home" / "thesis.txt").read_text() == "years of work"


def test_the_current_directory_is_a_directory_too(
    run: Callable[..., Any], model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    outcome = run("export", model, "--out", ".")
    assert outcome.status == 0, outcome.err
    load_model(tmp_path / "here")


def test_where_nothing_can_be_written_is_said(
    run: Callable[..., Any], model: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    outcome = run("export", model, "--out", tmp_path / "file" / "shipped")
    assert (outcome.status, outcome.out) == (2, "")
    assert "cannot write" in outcome.err
    assert outcome.err.count("\n") == 1
