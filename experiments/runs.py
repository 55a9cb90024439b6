"""Training runs that are compared, and what trains those that are missing."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from phraseloom.config import Config
from phraseloom.errors import PhraseloomError
from phraseloom.network.weights import CONFIG, find_model, load_config_file

PATTERN = "runs/ablation/{variant}-seed{seed}"


@dataclass(frozen=True, slots=True)
class Variant:
    """A network of the ablation: what it is called and how it differs from the others."""

    name: str
    title: str
    model: dict[str, str]

    def title_of(self, inference: str) -> str:
        """Name with an inference: ``Div-GCN`` is the GCN with diversified inference."""
        return f"Div-{self.title}" if inference == "div" else self.title


VARIANTS = (
    Variant("gru", "GRU", {"variant": "gru"}),
    Variant("gcn", "GCN", {"variant": "gcn"}),
    Variant("dgcn-linear", "DGCN, linear", {"variant": "dgcn", "edge_scorer": "linear"}),
    Variant(
        "dgcn-interaction", "DGCN, interaction", {"variant": "dgcn", "edge_scorer": "interaction"}
    ),
)
INFERENCES = ("plain", "div")
"""Without and with the diversity terms; the weights are the same."""


@dataclass(frozen=True, slots=True)
class Run:
    """One trained network."""

    variant: Variant
    seed: int
    path: Path

    def train_command(self, config: Path) -> str:
        """What makes the run, if it is missing."""
        settings = [f"model.{key}={value}" for key, value in self.variant.model.items()]
        given = " ".join(f"--set {setting}" for setting in [*settings, f"train.seed={self.seed}"])
        return f"phraseloom train {config} {given} --out {self.path}"


def find_runs(pattern: str, seeds: Sequence[int]) -> tuple[list[Run], list[Run]]:
    """Runs that are there and runs that are missing; one that its name belies is refused."""
    if "{variant}" not in pattern or "{seed}" not in pattern:
        raise PhraseloomError(f"--runs {pattern}: write {{variant}} and {{seed}} in it")
    trained, missing = [], []
    for variant in VARIANTS:
        for seed in seeds:
            path = Path(pattern.format(variant=variant.name, seed=seed))
            run = Run(variant, seed, path)
            if path.is_dir():
                _check(run, load_config_file(find_model(path) / CONFIG))
                trained.append(run)
            else:
                missing.append(run)
    return trained, missing


def _check(run: Run, config: Config) -> None:
    expected = {**run.variant.model, "seed": run.seed}
    actual = {**config.model.model_dump(), "seed": config.train.seed}
    for key, value in expected.items():
        if actual[key] != value:
            raise PhraseloomError(
                f"{run.path} was trained with {key} {actual[key]}, not {value} as its name says;"
                " give another --runs pattern or train it again"
            )
