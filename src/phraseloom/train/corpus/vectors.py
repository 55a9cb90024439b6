"""Word vectors with subwords: every word has one, known or not.

Knows how vectors are kept, not how they are learned (that is `phraseloom.train.corpus.fasttext`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from phraseloom.errors import CheckpointError
from phraseloom.io.atomic import written_aside
from phraseloom.network.lexicon import ngram_ids
from phraseloom.network.weights import save_arrays

Matrix = NDArray[np.float32]

_FORMAT = "phraseloom-vectors-1"
_PARTS = ("matrix", "subwords", "words")


@dataclass(frozen=True, slots=True, eq=False)
class Vectors:
    """A vector for each of many words, and one for each bucket of character n-grams."""

    words: tuple[str, ...]
    """Most frequent first."""
    matrix: Matrix
    """The finished vector of each word, its subwords included, ``(V, D)``."""
    subwords: Matrix
    """Vector of each n-gram bucket, ``(buckets, D)``; no buckets: other words are all zero."""
    min_n: int = 3
    max_n: int = 6
    _rows: dict[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.matrix.ndim != 2 or self.subwords.ndim != 2:
            raise ValueError("vectors are the rows of a matrix")
        if len(self.words) != len(self.matrix):
            raise ValueError(f"{len(self.words)} words but {len(self.matrix)} vectors")
        if self.matrix.shape[1] != self.subwords.shape[1]:
            raise ValueError("words and subwords have vectors of one width")
        rows = {word: row for row, word in enumerate(self.words)}
        if len(rows) < len(self.words):
            raise ValueError("every word has one vector")
        object.__setattr__(self, "_rows", rows)

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: str) -> bool:
        return word in self._rows

    @property
    def width(self) -> int:
        return int(self.matrix.shape[1])

    def of(self, word: str) -> Matrix:
        """The word's own vector or, if it has none, the mean of its n-grams', ``(D,)``."""
        row = self._rows.get(word)
        if row is not None:
            return self.matrix[row]  # (D,)
        buckets = len(self.subwords)
        ids = ngram_ids(word, min_n=self.min_n, max_n=self.max_n, buckets=buckets)
        if not len(ids):
            return np.zeros(self.width, dtype=np.float32)  # (D,)
        mean: Matrix = self.subwords[ids].mean(axis=0)  # (D,)
        return mean

    def rows(self, words: Sequence[str]) -> Matrix:
        """The vectors of these words, to start an embedding table from, ``(len(words), D)``."""
        rows = np.empty((len(words), self.width), dtype=np.float32)
        for row, word in zip(rows, words, strict=True):
            row[:] = self.of(word)
        return rows  # (len(words), D)

    def centered(self) -> Self:
        """The same without what all words have in common: their mean is zero."""
        mean = self.matrix.mean(axis=0)  # (D,)
        return replace(self, matrix=self.matrix - mean, subwords=self.subwords - mean)

    def nearest(self, word: str, count: int = 10) -> list[tuple[str, float]]:
        """The words whose vectors point most nearly the same way, with the cosines."""
        query = self.of(word)  # (D,)
        lengths = np.linalg.norm(self.matrix, axis=1) * np.linalg.norm(query)  # (V,)
        cosines = self.matrix @ query / np.maximum(lengths, 1e-12)  # (V,)
        best = [self.words[i] for i in np.argsort(-cosines, kind="stable")[: count + 1]]
        nearest = [near for near in best if near != word][:count]
        return [(near, float(cosines[self._rows[near]])) for near in nearest]

    def save(self, path: Path) -> None:
        """Write one safetensors file; whoever looks sees the old file or the whole new one."""
        tensors: dict[str, NDArray[Any]] = {
            "matrix": self.matrix.astype(np.float32, copy=False),
            "subwords": self.subwords.astype(np.float32, copy=False),
            "words": np.frombuffer("\n".join(self.words).encode("utf-8"), dtype=np.uint8),
        }
        metadata = {"format": _FORMAT, "min_n": str(self.min_n), "max_n": str(self.max_n)}
        with written_aside(path) as new:
            save_arrays(new, tensors, metadata)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read what `save` wrote; a file cut short or of another kind is refused."""
        try:
            with safe_open(path, framework="np") as file:
                metadata = file.metadata() or {}
                parts = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        except FileNotFoundError:
            raise CheckpointError(f"there are no vectors at {path}; make them first") from None
        except OSError as error:
            raise CheckpointError(f"cannot read {path}: {error}") from None
        except SafetensorError as error:
            raise CheckpointError(
                f"{path} is no vectors file, or damaged ({error}); make it again with"
                " phraseloom vectors"
            ) from None
        if metadata.get("format") != _FORMAT or not set(_PARTS) <= set(parts):
            raise CheckpointError(f"{path} holds no word vectors; make it with phraseloom vectors")
        return cls._assemble(path, parts, metadata)

    @classmethod
    def _assemble(
        cls, path: Path, parts: Mapping[str, NDArray[np.generic]], metadata: Mapping[str, str]
    ) -> Self:
        try:
            text = parts["words"].astype(np.uint8).tobytes().decode("utf-8")
            return cls(
                words=tuple(text.split("\n")) if text else (),
                matrix=parts["matrix"].astype(np.float32, copy=False),
                subwords=parts["subwords"].astype(np.float32, copy=False),
                min_n=int(metadata["min_n"]),
                max_n=int(metadata["max_n"]),
            )
        except (KeyError, ValueError) as error:
            raise CheckpointError(
                f"{path} is damaged ({error}); make it again with phraseloom vectors"
            ) from None
