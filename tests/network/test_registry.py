"""Installed models are found by name, and what is missing is said with the fix."""

from pathlib import Path
from typing import Any

import pytest

from phraseloom.config import Config, ModelConfig
from phraseloom.errors import CheckpointError
from phraseloom.network import registry
from phraseloom.network.weights import save_model
from tests.builders import TINY, make_lexicon, make_model

HUGE = pytest.param(10**5000, id="an integer that Python refuses to write in decimal")


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An install without models."""
    monkeypatch.setattr(registry, "_SHIPPED", tmp_path)
    return tmp_path


def test_installed_models_are_found_by_name_the_default_first(shipped: Path) -> None:
    config = Config(model=ModelConfig.model_validate(TINY))
    for name in ("another", "default"):
        save_model(shipped / name, make_model(make_lexicon()), config, notes={"from": name})

    models = registry.installed_models()

    assert [model.name for model in models] == ["default", "another"]
    assert models[1].notes == {"from": "another"}
    assert models[1].size_bytes == sum(p.stat().st_size for p in (shipped / "another").iterdir())
    assert registry.find_installed(None) == shipped / "default"
    assert registry.find_installed("another") == shipped / "another"
    assert registry.find_installed(shipped / "another") == shipped / "another"
    with pytest.raises(CheckpointError, match="installed: default, another"):
        registry.find_installed("third")


@pytest.mark.parametrize("is_folder", [True, False])
def test_what_lies_in_the_current_directory_takes_no_name_away(
    shipped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_folder: bool
) -> None:
    config = Config(model=ModelConfig.model_validate(TINY))
    save_model(shipped / "another", make_model(make_lexicon()), config)
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    Path("another").mkdir() if is_folder else Path("another").write_text("text")
    assert registry.find_installed("another") == shipped / "another"
    if is_folder:
        for path in ("./another", str(here / "another"), Path("another")):
            assert registry.find_installed(path) == Path(path)


def test_without_an_installed_model_the_fix_is_named(shipped: Path) -> None:
    with pytest.raises(CheckpointError, match="phraseloom train"):
        registry.find_installed(None)


@pytest.mark.parametrize("name", [b"a", True, ["a"], HUGE, "a" * 10_000, "a\0b", "\ud800"])
def test_what_names_no_model_is_refused_in_one_line(shipped: Path, name: Any) -> None:
    with pytest.raises(CheckpointError) as caught:
        registry.find_installed(name)

    assert len(str(caught.value).splitlines()) == 1
    assert len(str(caught.value)) < 300
