"""A model directory with a card that people can read."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from phraseloom.config import Config
from phraseloom.errors import CheckpointError
from phraseloom.network.lexicon import Lexicon
from phraseloom.network.model import KeyphraseModel
from phraseloom.network.ops import QuantizedTable
from phraseloom.network.weights import CARD, load_config_file, read_notes, save_model
from phraseloom.network.weights import CONFIG as CONFIG_FILE


def save_with_card(
    directory: Path,
    model: KeyphraseModel,
    config: Config,
    *,
    origin: Path | None = None,
    notes: Mapping[str, Any] | None = None,
    card: str | None = None,
) -> None:
    """Write a model, its card, and the notes of the directory that it came from.

    Args:
        directory: to be made; a model that is there is replaced, anything else is not.
        model: to save.
        config: whose parts ``model`` and ``search`` hold; what it learned from is the origin's.
        origin: where the model was loaded from, if it was.
        notes: to keep; without them, those of the origin.
        card: in Markdown; without one, that of the origin, or a short one.
    """
    directory = directory.resolve()
    if notes is None:
        notes = read_notes(origin) if origin else None
    if origin is not None:
        learned = load_config_file(origin / CONFIG_FILE)
        config = learned.model_copy(
            update={part: getattr(config, part) for part in ("model", "search", "ranking", "kinds")}
        )
    is_quantized = any(isinstance(array, QuantizedTable) for array in model.weights.values())
    card = card or _read_card(origin)
    card = card or make_card(directory.name, model.lexicon, config, notes or {})
    try:
        save_model(directory, model, config, notes=notes, card=card, is_quantized=is_quantized)
    except OSError as error:
        raise CheckpointError(f"cannot write {directory}: {error.strerror}") from None


def make_card(name: str, lexicon: Lexicon, config: Config, notes: Mapping[str, Any]) -> str:
    """A short model card in Markdown."""
    lines = [
        "---",
        "library_name: phraseloom",
        "language: en",
        "tags: [keyphrase-extraction]",
        "---",
        "",
        f"# {name}",
        "",
        "Finds the keyphrases of English texts; made for abstracts of scientific papers.",
        "",
        "```python",
        "from phraseloom import Extractor",
        "",
        f'phrases = Extractor.from_pretrained("{name}").extract(text)',
        "```",
        "",
        f"- network: {config.model.variant}, {config.model.layers} layers of {config.model.width}",
        f"- vocabulary: {len(lexicon.words)} words; others are read by their character n-grams",
        f"- styles: {', '.join(lexicon.styles) or 'one'}",
        *(f"- {key}: {value}" for key, value in notes.items()),
    ]
    return "\n".join(lines) + "\n"


def _read_card(origin: Path | None) -> str | None:
    try:
        return (origin / CARD).read_text(encoding="utf-8") if origin else None
    except (OSError, UnicodeDecodeError):
        return None
