r"""What kind of text it is: one whose keyphrases its author picks, an indexer, an editor or a reader.

A logistic model for each kind looks at the words, by their mean vector, and at the length:

.. math:: P(k) = \sigma(u_k \cdot v) \Big/ \sum_j \sigma(u_j \cdot v)

That is equation (R2); `train.ranking` fits the weights u to validation documents of each kind.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from phraseloom.network.model import KeyphraseModel
from phraseloom.ranker import count_tokens, sigmoid
from phraseloom.text.document import Document

_TOKENS = 400  # of a text that are looked at


def kind_vector(document: Document, model: KeyphraseModel) -> NDArray[np.float64]:
    """What tells the kind of a text: a bias, a mean word vector, the log length, ``(D_w + 2,)``.

    The mean is that of the first words that are in the vocabulary.
    """
    words = [token.word for token in islice(document.tokens(), _TOKENS)]
    ids = model.lexicon.words.ids(words)
    table = model.weights["encoder.words.table"]
    known = ids[ids >= 0]
    mean = table[known].mean(axis=0) if len(known) else np.zeros(table.shape[1])
    return np.array([1.0, *mean, math.log(max(count_tokens(document), 1))])


def tell_kinds(
    vector: NDArray[np.float64], weights: Mapping[str, Sequence[float]]
) -> dict[str, float]:
    """The chance of each kind, equation (R2); ``vector`` is a text's `kind_vector`."""
    odds = {kind: float(sigmoid(vector @ np.array(of))) for kind, of in weights.items()}
    total = sum(odds.values()) or 1.0
    return {kind: chance / total for kind, chance in odds.items()}
