"""The models that came with the install."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from phraseloom.errors import CheckpointError, shown
from phraseloom.network.weights import MANIFEST, previous_of, read_notes

DEFAULT = "default"
_SHIPPED = Path(__file__).parents[1] / "models"


@dataclass(frozen=True, slots=True)
class InstalledModel:
    """A model directory inside the package."""

    name: str
    path: Path
    size_bytes: int
    notes: dict[str, Any]
    """Figures and facts kept with the model: scores, training data and its licence."""


def installed_models() -> list[InstalledModel]:
    """What can be loaded by name, the default first."""
    found = []
    for manifest in sorted(_SHIPPED.glob(f"*/{MANIFEST}")):
        path = manifest.parent
        size = sum(file.stat().st_size for file in path.iterdir())
        found.append(InstalledModel(path.name, path, size, read_notes(path) or {}))
    return sorted(found, key=lambda model: model.name != DEFAULT)


def find_installed(name_or_path: str | Path | None) -> Path:
    """Directory of a model given by path, by name, or not at all (the default).

    What lies in the current directory takes no name away, unless it is given as a ``Path``.
    """
    models = {model.name: model.path for model in installed_models()}
    if name_or_path is None:
        if DEFAULT not in models:
            raise CheckpointError(
                "this install has no model yet; train one with 'phraseloom train' and give its"
                " directory with --model"
            )
        return models[DEFAULT]
    if not isinstance(name_or_path, str | os.PathLike):
        raise CheckpointError(
            f"give the name or the directory of a model, not {shown(name_or_path)}"
        )
    is_name = isinstance(name_or_path, str) or not os.path.exists(name_or_path)
    if is_name and str(name_or_path) in models:
        return models[str(name_or_path)]
    path = Path(name_or_path)
    if not any(map(os.path.isdir, (path, previous_of(path)))):  # unlike a path's, it never raises
        known = f"; installed: {', '.join(models)}" if models else ""
        raise CheckpointError(f"there is no model directory {name_or_path!s:.200}{known}")
    return path
