"""Every configuration of the repository loads, and stands for what its place says."""

from pathlib import Path

import pytest

from phraseloom.config import Config, ModelConfig, TrainConfig, load_config
from phraseloom.network.registry import find_installed
from phraseloom.network.weights import load_model
from phraseloom.train.ranking import load_plan

CONFIGS = Path(__file__).parents[1] / "configs"
ABLATIONS = sorted((CONFIGS / "ablations").glob("*.toml"))
RECIPE = sorted((CONFIGS / "recipe").glob("[0-9]*.toml"))
*PHASES, RANKING = RECIPE
"""Training runs, and last how their lists are put together."""


def label(path: Path) -> str:
    return str(path.relative_to(CONFIGS).with_suffix(""))


def differences(one: Config, other: Config) -> list[str]:
    sections = {"model", "search", "data", "train"}
    first, second = (config.model_dump(include=sections) for config in (one, other))
    return [
        f"{section}.{key}"
        for section, part in first.items()
        for key, value in part.items()
        if second[section][key] != value
    ]


@pytest.mark.parametrize("path", sorted({*CONFIGS.rglob("*.toml")} - {RANKING}), ids=label)
def test_a_configuration_loads(path: Path) -> None:
    config = load_config(path)
    has_glossary = config.data.glossary or config.train.init
    assert not config.model.glossary_features or has_glossary


def test_the_plan_of_the_ranking_names_styles_of_the_network() -> None:
    known = {None, *load_config(PHASES[-1]).model.styles}
    styles = load_plan(RANKING).styles
    assert styles
    assert {plan.network_style for plan in styles.values()} <= known


def test_the_paper_s_sizes_are_the_defaults() -> None:
    config = load_config(CONFIGS / "paper.toml")
    assert (config.model, config.train) == (ModelConfig(), TrainConfig())
    assert (config.search.mode, config.search.beam_width) == ("free", 100)
    assert (config.search.lambda1, config.search.lambda2) == (1.0, 0.1)


@pytest.mark.parametrize("path", ABLATIONS, ids=label)
def test_an_ablation_changes_one_thing(path: Path) -> None:
    assert len(differences(load_config(CONFIGS / "default.toml"), load_config(path))) == 1


@pytest.mark.parametrize("path", PHASES, ids=label)
def test_phases_train_one_network_which_may_get_new_inputs(path: Path) -> None:
    inputs = {"token_features", "styles", "dynamic_layers"}
    base = load_config(CONFIGS / "recipe" / "base.toml")
    changed = differences(base, load_config(path))
    assert {name for name in changed if name.startswith("model.")} <= {f"model.{i}" for i in inputs}


def test_phases_are_numbered_and_each_goes_on_from_weights() -> None:
    numbers = [int(path.name.split("-")[0]) for path in RECIPE]
    assert numbers == [*range(1, len(RECIPE) + 1)]
    starts = [load_config(path).train.init for path in PHASES]
    assert starts[0] is None and all(starts[1:])


@pytest.mark.parametrize("name", ["example", "adapt"])
def test_what_a_reader_trains_asks_for_nothing_but_documents(name: str) -> None:
    data = load_config(CONFIGS / f"{name}.toml").data
    assert len(data.train) == len(data.valid) == 1
    assert data.vectors is None and data.glossary is None


@pytest.mark.parametrize("name", ["default", "open"])
def test_a_configuration_has_the_shape_of_the_model_of_its_name(name: str) -> None:
    model, _ = load_model(find_installed(name))
    assert load_config(CONFIGS / f"{name}.toml").model == model.config


def test_what_goes_on_from_the_package_has_its_shape() -> None:
    adapted = load_config(CONFIGS / "adapt.toml")
    model, _ = load_model(find_installed(adapted.train.init))
    assert adapted.model.model_copy(update={"dropout": model.config.dropout}) == model.config
