"""A model on disk: weights, configuration and lexicon in one directory, and what they must be.

A manifest, written last, holds the checksum of every other file; a directory is built aside, the
old one is renamed, and the new one takes its name. So `find_model` gives the old one or the whole
new one, even if the process that saves it dies between the two.
"""

import hashlib
import json
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import load_file, save_file

from phraseloom.config import Config, parse_config
from phraseloom.errors import CheckpointError, ConfigError
from phraseloom.io.atomic import written_aside
from phraseloom.network.lexicon import Lexicon
from phraseloom.network.model import KeyphraseModel, kind_vector_size
from phraseloom.network.ops import QuantizedTable
from phraseloom.network.shapes import weight_shapes

MANIFEST, WEIGHTS = "manifest.json", "model.safetensors"
CONFIG, LEXICON = "config.json", "lexicon.json"
CARD = "README.md"
"""For people: it may be missing or edited, so it has no checksum."""
PARTS = {MANIFEST, WEIGHTS, CONFIG, LEXICON, CARD}
FORMAT = "phraseloom-model-1"
BEST = "best"
"""Where a training run keeps its best model."""
TABLES = ("encoder.words.table", "encoder.words.ngrams")
"""What is large: one row a word or bucket; shipped in 8 bits, each row with a scale of its own."""
_SCALE = ".scale"
_LARGEST = 1e4  # what any weight may be; not a number is not even that
_NAME = re.compile(r"\w[\w.-]{0,99}", re.ASCII)
_LARGEST_JSON, _LARGEST_TEXT = 10**7, 1 << 28  # bytes of a configuration; of a lexicon

Arrays = Mapping[str, NDArray[Any]]


def load_lexicon(directory: Path) -> Lexicon:
    """Read only the lexicon of a model."""
    check_directory(directory := find_model(directory), required=(LEXICON,), others=False)
    return Lexicon.load(directory / LEXICON)


def load_model(directory: Path) -> tuple[KeyphraseModel, Config]:
    """Read a model, ready to extract; of a training run, its best one.

    Raises:
        CheckpointError: a part is missing, damaged, or does not fit the others.
    """
    directory = find_model(directory)
    check_directory(directory, required=(WEIGHTS, CONFIG, LEXICON), others=False)
    config = load_config_file(directory / CONFIG)
    lexicon = Lexicon.load(directory / LEXICON)
    _check_settings(config, lexicon, directory / CONFIG)
    arrays = load_arrays(directory / WEIGHTS)
    _check_weights(arrays, weight_shapes(config.model, lexicon), directory / WEIGHTS)
    return KeyphraseModel(config.model, lexicon, dequantize(arrays)), config


def _check_settings(config: Config, lexicon: Lexicon, path: Path) -> None:
    """Refuse settings that do not fit the lexicon or each other."""
    if config.model.styles != lexicon.styles:
        raise CheckpointError(f"{path} and the lexicon have other styles; copy the model again")
    for name, ranking in config.ranking.items():
        if ranking.network_style not in (None, *lexicon.styles):
            raise CheckpointError(
                f"{path}: ranking {name!r:.50} asks for a style that the network has not learned"
            )
        kinds = {*ranking.weights_of}.union(*ranking.taste_of.values())
        if not kinds <= config.kinds.keys():
            raise CheckpointError(f"{path}: ranking {name!r:.50} has weights of an unknown kind")
    for kind, numbers in config.kinds.items():
        if len(numbers) != kind_vector_size(config.model.word_width):
            raise CheckpointError(f"{path}: kind {kind!r:.50} does not fit the word vectors")


def _check_weights(arrays: Arrays, shapes: Mapping[str, tuple[int, ...]], path: Path) -> None:
    """Refuse weights that are missing, too many, of another shape or type, or not finite."""
    for name, shape in shapes.items():
        array = arrays.get(name)
        if array is None:
            raise CheckpointError(f"{path} lacks {name}; it was saved with another configuration")
        if array.shape != shape:
            raise CheckpointError(
                f"{path}: {name} is {array.shape}, not {shape} as the configuration and the"
                " lexicon beside it say; copy the whole model again"
            )
    for name, array in arrays.items():
        if name not in shapes and name.removesuffix(_SCALE) not in TABLES:
            raise CheckpointError(f"{path} holds {name}, which the configuration has no use for")
        if name.endswith(_SCALE) and array.shape != (shapes[name.removesuffix(_SCALE)][0], 1):
            raise CheckpointError(f"{path}: {name} does not fit its table; copy the model again")
        is_table = array.dtype == np.int8 and name + _SCALE in arrays
        if not is_table and (array.dtype.kind != "f" or not (np.abs(array) <= _LARGEST).all()):
            raise CheckpointError(
                f"{path}: {name} is not all finite numbers of a usual size; copy it again"
            )


def quantize(arrays: Arrays) -> dict[str, NDArray[Any]]:
    """Round weights: rows of the tables to 255 steps, all others to half precision."""
    rounded: dict[str, NDArray[Any]] = {}
    for name, array in arrays.items():
        if name in TABLES:
            scales = np.abs(array).max(axis=1, keepdims=True, initial=0) / np.float32(127)  # (V, 1)
            steps = array / np.maximum(scales, np.finfo(np.float32).tiny)  # (V, D_w)
            rounded[name] = np.rint(steps).astype(np.int8)
            rounded[name + _SCALE] = scales
        else:
            rounded[name] = array.astype(np.float16)
    return rounded


def dequantize(arrays: Arrays) -> dict[str, Any]:
    """Weights to compute with: float32, but for tables in 8 bits, which stay as they are."""
    weights: dict[str, Any] = {}
    for name, array in arrays.items():
        if name + _SCALE in arrays:
            weights[name] = QuantizedTable(array, arrays[name + _SCALE])
        elif not name.endswith(_SCALE):
            weights[name] = array.astype(np.float32, order="F")  # transposes lie row by row: faster
    return weights


def full_arrays(weights: Mapping[str, Any]) -> dict[str, NDArray[np.float32]]:
    """The same weights, all of them in full precision."""
    return {
        name: array[:] if isinstance(array, QuantizedTable) else array
        for name, array in weights.items()
    }


def save_model(
    directory: Path,
    model: KeyphraseModel,
    config: Config,
    *,
    notes: Mapping[str, Any] | None = None,
    card: str | None = None,
    is_quantized: bool = False,
) -> None:
    """Write everything that extraction needs; an older model there is replaced at once.

    Args:
        directory: to be made; a model that is there is replaced, anything else is not.
        model: to save.
        config: that it was made from.
        notes: figures to keep in the manifest, such as the validation perplexity.
        card: the model card, in Markdown.
        is_quantized: whether to round the weights; tables that are rounded already stay so.

    Raises:
        CheckpointError: the directory, or the one beside it that the old model goes to for a
            moment, holds something else.
    """
    kept = previous_of(directory)
    for replaced in (directory, kept):
        refuse_other_files(replaced)
    replace_directory(
        directory,
        lambda new: write_model(new, model, config, card=card, is_quantized=is_quantized),
        keep=kept,
        notes=notes,
    )
    shutil.rmtree(kept, ignore_errors=True)


def write_model(
    directory: Path,
    model: KeyphraseModel,
    config: Config,
    *,
    card: str | None = None,
    is_quantized: bool = False,
) -> None:
    """Write the parts of a model into a directory that is being built."""
    arrays: dict[str, NDArray[Any]] = {}
    for name, array in model.weights.items():
        if isinstance(array, QuantizedTable):
            arrays |= {name: array.steps, name + _SCALE: array.scales}
        else:
            arrays[name] = array
    if is_quantized:
        arrays = quantize(full_arrays(model.weights))
    save_arrays(directory / WEIGHTS, arrays)
    model.lexicon.save(directory / LEXICON)
    if card is not None:
        (directory / CARD).write_text(card, encoding="utf-8")
    (directory / CONFIG).write_text(config.model_dump_json(indent=1) + "\n", encoding="utf-8")


def previous_of(directory: Path) -> Path:
    """Where a model is while another takes its place."""
    return directory.parent / f"{directory.name}.previous"


def refuse_other_files(directory: Path) -> None:
    """Saving replaces the whole directory, so nothing but a model may be in it."""
    if not directory.exists():
        return
    if not directory.is_dir():
        raise CheckpointError(f"{directory} is a file; name a directory for the model")
    names = {path.name for path in directory.iterdir()}
    others = sorted(names if read_notes(directory) is None else names - PARTS)
    if others:
        raise CheckpointError(
            f"{directory} holds {others[0]}, which is no part of a model; name another"
        )


def find_model(directory: Path) -> Path:
    """The directory itself if it holds a model, or the best one of the run that it holds."""
    if not directory.is_dir():
        if (previous_of(directory) / MANIFEST).is_file():
            return previous_of(directory)
        raise CheckpointError(
            f"there is no model directory {directory}; train one or check the name"
        )
    for candidate in (directory, directory / BEST, previous_of(directory / BEST)):
        if (candidate / MANIFEST).is_file():
            return candidate
    if (directory / "last" / MANIFEST).is_file():
        raise CheckpointError(
            f"the run in {directory} has not been validated yet; give {directory / 'last'}, or wait"
        )
    missing = f"{directory / MANIFEST} is missing"
    raise CheckpointError(f"{directory} is no model directory: {missing}; copy the model again")


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
    with written_aside(target) as new:
        new.mkdir()
        write(new)
        sums = {path.name: checksum(path) for path in sorted(new.iterdir()) if path.name != CARD}
        manifest = {"format": FORMAT, "files": sums, "notes": dict(notes or {})}
        (new / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
        if target.exists():
            shutil.rmtree(keep, ignore_errors=True)
            target.rename(keep)


def check_directory(
    directory: Path, *, required: tuple[str, ...] = (), others: bool = True
) -> dict[str, Any]:
    """Compare files with their checksums in the manifest, and give the manifest's notes.

    Args:
        directory: with a manifest.
        required: files that the manifest has to name.
        others: whether the others that it names are compared too.
    """
    try:
        manifest = _read_json(directory / MANIFEST)
        files, notes = dict(manifest["files"]), dict(manifest["notes"])
    except FileNotFoundError:
        raise CheckpointError(f"{directory / MANIFEST} is missing; copy the model again") from None
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise CheckpointError(f"{directory / MANIFEST} is damaged: {error!s:.100}") from None
    if manifest.get("format") != FORMAT:
        raise CheckpointError(f"{directory} was written by another version of phraseloom")
    for name in (*required, *files):
        if name not in files:
            problem = f"does not name {name}"
            raise CheckpointError(f"{directory / MANIFEST} {problem}; copy the model again")
        if not _NAME.fullmatch(str(name)):
            problem = f"names {str(name)!r:.100}, which is no file of a model"
            raise CheckpointError(f"{directory / MANIFEST} {problem}; copy the model again")
        if name not in required and not others:
            continue
        if not (directory / name).is_file():
            raise CheckpointError(f"{directory / name} is missing; copy the model again")
        _check_length(directory / name)
        if checksum(directory / name) != files[name]:
            raise CheckpointError(f"{directory / name} is damaged; copy the model again")
    return notes


def _read_json(path: Path) -> Any:
    if path.stat().st_size > _LARGEST_JSON:
        raise ValueError("it is far too large")
    return json.loads(path.read_text(encoding="utf-8"))


def read_notes(directory: Path) -> dict[str, Any] | None:
    """Figures kept with a model that was saved, without checking its files; none if not there."""
    try:
        return dict(_read_json(directory / MANIFEST)["notes"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def load_config_file(path: Path) -> Config:
    """The configuration saved with a model."""
    try:
        return parse_config(_read_json(path))
    except (OSError, ValueError, ConfigError, RecursionError) as error:
        raise CheckpointError(f"{path} is damaged or of another version: {error!s:.300}") from None


def save_arrays(path: Path, arrays: Arrays, metadata: dict[str, str] | None = None) -> None:
    """Write arrays, under the file mode that other files get."""
    path.touch()
    mode = path.stat().st_mode
    contiguous = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    save_file(contiguous, path, metadata=metadata)
    path.chmod(mode)  # safetensors would let only the owner read it


def load_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Read arrays; a damaged file is named."""
    try:
        return load_file(path)
    except (OSError, SafetensorError, ValueError, KeyError, TypeError) as error:
        raise CheckpointError(f"{path} is damaged ({error}); copy the model again") from None


def _check_length(path: Path) -> None:
    """Refuse a file far too long, and weights of another length than they say, before reading."""
    try:
        if path.suffix == Path(WEIGHTS).suffix:
            with safe_open(path, framework="np"):
                return
        if path.stat().st_size > _LARGEST_TEXT:
            raise ValueError("it is far too large")
    except (OSError, SafetensorError, ValueError) as error:
        raise CheckpointError(f"{path} is damaged ({error!s:.200}); copy the model again") from None


def checksum(path: Path) -> str:
    """SHA-256 of a file."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise CheckpointError(f"cannot read {path}: {error.strerror}") from None
