"""A model on disk: weights, configuration and lexicon in one directory.

A manifest, written last, holds the checksum of every other file; a directory is built aside and put
in place by renaming, so whoever looks sees the old one or the whole new one.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor
from torch.overrides import TorchFunctionMode

from phraseloom.config import Config, parse_config
from phraseloom.data.lexicon import Lexicon
from phraseloom.errors import CheckpointError, ConfigError
from phraseloom.model.network import KeyphraseModel
from phraseloom.model.packing import pack, unpack

MANIFEST, WEIGHTS, CONFIG, LEXICON = (
    "manifest.json",
    "model.safetensors",
    "config.json",
    "lexicon.json",
)
CARD = "README.md"
"""For people: it may be missing or edited, so it has no checksum."""
PARTS = {MANIFEST, WEIGHTS, CONFIG, LEXICON, CARD}
FORMAT = "phraseloom-model-1"
BEST = "best"
"""Where a training run keeps its best model."""


def save_model(
    directory: Path,
    model: KeyphraseModel,
    lexicon: Lexicon,
    config: Config,
    *,
    notes: Mapping[str, Any] | None = None,
    card: str | None = None,
    is_packed: bool = False,
) -> None:
    """Write everything that extraction needs; an older model there is replaced at once.

    Args:
        directory: to be made or replaced.
        model: with the weights to save.
        lexicon: that it was made with.
        config: that it was made from.
        notes: figures to keep in the manifest, such as the validation perplexity.
        card: the model card, in Markdown.
        is_packed: whether to round the weights, see `phraseloom.model.packing`.
    """
    kept = directory.with_name(f"{directory.name}.previous")
    replace_directory(
        directory,
        lambda new: write_model(new, model, lexicon, config, card=card, is_packed=is_packed),
        keep=kept,
        notes=notes,
    )
    shutil.rmtree(kept, ignore_errors=True)


def load_model(directory: Path) -> tuple[KeyphraseModel, Lexicon, Config]:
    """Read a model, ready to extract; of a training run, its best one.

    Raises:
        CheckpointError: a part is missing, damaged, or does not fit the others.
    """
    directory = find_model(directory)
    check_directory(directory)
    config = load_config_file(directory / CONFIG)
    lexicon = Lexicon.load(directory / LEXICON)
    with torch.device("meta"), _Undrawn():
        model = KeyphraseModel(config.model, lexicon)
    fill(model, unpack(load_tensors(directory / WEIGHTS)), directory / WEIGHTS)
    return model.eval(), lexicon, config


class _Undrawn(TorchFunctionMode):
    """No random weights, since others are read; on the meta device torch would load a compiler."""

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        if func in (Tensor.normal_, torch.nn.init.normal_):
            return args[0] if args else kwargs["tensor"]
        return func(*args, **(kwargs or {}))


def find_model(directory: Path) -> Path:
    """The directory itself if it holds a model, or the best one of the run that it holds."""
    if not directory.is_dir():
        raise CheckpointError(
            f"there is no model directory {directory}; train one or check the name"
        )
    for place in (directory, directory / BEST, directory / f"{BEST}.previous"):
        if (place / MANIFEST).is_file():
            return place
    if (directory / "last" / MANIFEST).is_file():
        raise CheckpointError(
            f"the run in {directory} has not been validated yet; give {directory / 'last'}, or wait"
        )
    missing = f"{directory / MANIFEST} is missing"
    raise CheckpointError(f"{directory} is no model directory: {missing}; copy the model again")


def fill(model: KeyphraseModel, weights: Mapping[str, Tensor], path: Path) -> None:
    """Give a model, maybe one without memory, these weights; one that does not fit is named."""
    wanted = model.state_dict()
    for name, tensor in wanted.items():
        found = weights.get(name)
        if found is None:
            raise CheckpointError(f"{path} lacks {name}; it was saved with another configuration")
        if found.shape != tensor.shape:
            raise CheckpointError(
                f"{path}: {name} is {tuple(found.shape)}, not {tuple(tensor.shape)} as the"
                " configuration and the lexicon beside it say; copy the whole model again"
            )
    extra = sorted(weights.keys() - wanted.keys())
    if extra:
        raise CheckpointError(f"{path} holds {extra[0]}, which the configuration has no place for")
    # copied into memory of our own: sums may depend on how their terms are aligned
    own = {name: tensor.to(torch.float32, copy=True) for name, tensor in weights.items()}
    model.load_state_dict(own, assign=True)


def write_model(
    directory: Path,
    model: KeyphraseModel,
    lexicon: Lexicon,
    config: Config,
    *,
    card: str | None = None,
    is_packed: bool = False,
) -> None:
    """Write the parts of a model into a directory that is being built."""
    weights = model.state_dict()
    save_tensors(directory / WEIGHTS, pack(weights) if is_packed else weights)
    lexicon.save(directory / LEXICON)
    if card is not None:
        (directory / CARD).write_text(card, encoding="utf-8")
    (directory / CONFIG).write_text(config.model_dump_json(indent=1) + "\n", encoding="utf-8")


def replace_directory(
    target: Path,
    write: Callable[[Path], None],
    *,
    keep: Path,
    notes: Mapping[str, Any] | None = None,
) -> None:
    """Build a directory aside, with its manifest, then put it in place.

    Args:
        target: what is made or replaced.
        write: puts the files into the directory it is given.
        keep: where the replaced directory goes; what was there before is lost.
        notes: kept in the manifest.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    new = target.with_name(f".{target.name}.{os.getpid()}")
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir()
    try:
        write(new)
        sums = {path.name: checksum(path) for path in sorted(new.iterdir()) if path.name != CARD}
        manifest = {"format": FORMAT, "files": sums, "notes": dict(notes or {})}
        (new / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
        if target.exists():
            shutil.rmtree(keep, ignore_errors=True)
            target.rename(keep)
        new.rename(target)
    finally:
        shutil.rmtree(new, ignore_errors=True)


def check_directory(directory: Path) -> dict[str, Any]:
    """Compare every file with its checksum in the manifest, and give the manifest's notes."""
    try:
        manifest = json.loads((directory / MANIFEST).read_text(encoding="utf-8"))
        files, notes = manifest["files"].items(), dict(manifest["notes"])
    except FileNotFoundError:
        raise CheckpointError(f"{directory / MANIFEST} is missing; copy the model again") from None
    except (OSError, ValueError, KeyError, AttributeError, TypeError) as error:
        raise CheckpointError(f"{directory / MANIFEST} is damaged: {error}") from None
    if manifest.get("format") != FORMAT:
        raise CheckpointError(f"{directory} was written by another version of phraseloom")
    for name, expected in files:
        if not (directory / name).is_file():
            raise CheckpointError(f"{directory / name} is missing; copy the model again")
        if checksum(directory / name) != expected:
            raise CheckpointError(f"{directory / name} is damaged; copy the model again")
    return notes


def read_notes(directory: Path) -> dict[str, Any] | None:
    """Figures kept with a model that was saved, without checking its files; none if not there."""
    try:
        notes = json.loads((directory / MANIFEST).read_text(encoding="utf-8"))["notes"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return dict(notes)


def load_config_file(path: Path) -> Config:
    """The configuration saved with a model."""
    try:
        return parse_config(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, ConfigError) as error:
        raise CheckpointError(f"{path} is damaged or of another version: {error}") from None


def save_tensors(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """Write tensors, under the file mode that other files get."""
    path.touch()
    mode = path.stat().st_mode
    save_file({name: tensor.detach().contiguous() for name, tensor in tensors.items()}, path)
    path.chmod(mode)  # safetensors would let only the owner read it


def load_tensors(path: Path) -> dict[str, Tensor]:
    """Read tensors; a damaged file is named."""
    try:
        return load_file(path)
    except (OSError, SafetensorError) as error:
        raise CheckpointError(f"{path} is damaged ({error}); copy the model again") from None


def checksum(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
