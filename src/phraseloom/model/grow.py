"""A trained network that is to be told more than before, and at first takes no notice."""

import torch
from torch import Tensor

from phraseloom.data.example import FEATURE_SIZES
from phraseloom.data.glossary import MARK_SIZES
from phraseloom.data.lexicon import Lexicon
from phraseloom.model.network import KeyphraseModel

_FEATURES = "encoder.tokens.features."


@torch.no_grad()
def tell_known_phrases(earlier: KeyphraseModel, lexicon: Lexicon) -> KeyphraseModel:
    """The same network with the marks of known phrases among its inputs.

    Whatever reads them has zero weights for them, so until it learns it says what it said before.
    The marks' own tables are drawn at random, or nothing could be learned.

    Args:
        earlier: a network without them.
        lexicon: its own, with a glossary.
    """
    config = earlier.config.model_copy(update={"known_phrases": True})
    grown = KeyphraseModel(config, lexicon)
    first = len(FEATURE_SIZES) if config.node_features else 0  # marks come after these
    before = earlier.state_dict()
    tables = [each for name, each in before.items() if name.startswith(_FEATURES)]
    moved = sum(table.shape[1] for table in tables[first:])
    place = earlier.encoder.tokens.width - moved  # first column that moves
    old = {name: each for name, each in before.items() if not name.startswith(_FEATURES)}
    for number, table in enumerate(tables):
        now = number if number < first else number + len(MARK_SIZES)
        old[f"{_FEATURES}{now}.weight"] = table
    for name, weight in grown.state_dict().items():
        if name in old and old[name].shape == weight.shape:
            weight.copy_(old[name])
        elif name in old:
            _widen(old[name], weight, place)
    return grown


def _widen(old: Tensor, new: Tensor, place: int) -> None:
    """Copy a matrix into a wider one, with columns of zeros from ``place`` on."""
    new.zero_()
    new[:, :place] = old[:, :place]
    new[:, place + new.shape[1] - old.shape[1] :] = old[:, place:]
