"""Numbers for words and labels: what has a row of its own in an embedding table."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from phraseloom.errors import CheckpointError

OUTSIDE = -1
"""Id of a word that the vocabulary lacks: it has no row, but is still a node of its document."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Words with a vector of their own, the most frequent first; a word's id is its place."""

    words: tuple[str, ...]
    _places: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_places", _number(self.words))

    @classmethod
    def from_counts(cls, words: Sequence[str], counts: Iterable[int], size: int) -> Self:
        """The ``size`` most frequent words, ties in alphabetical order.

        A word given twice (say, by two corpora) counts as often as both say; one that was never
        seen is left out.
        """
        if size < 1:
            raise ValueError(f"a vocabulary has at least one word, not {size}")
        totals: Counter[str] = Counter()
        for word, count in zip(words, counts, strict=True):
            totals[word] += int(count)
        seen = [word for word, count in totals.items() if count > 0]
        return cls(tuple(sorted(seen, key=lambda word: (-totals[word], word))[:size]))

    def __len__(self) -> int:
        return len(self.words)

    def id(self, word: str) -> int | None:
        """Place of a word, or none if it is outside."""
        return self._places.get(word)

    def ids(self, words: Iterable[str]) -> NDArray[np.int64]:
        """Places of many words; ``OUTSIDE`` for those without one."""
        return np.array([self._places.get(word, OUTSIDE) for word in words], dtype=np.int64)

    def save(self, path: Path) -> None:
        """Write a JSON list, one word a line."""
        _save(self.words, path)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read what `save` wrote."""
        return cls(_load(path))


@dataclass(frozen=True, slots=True)
class Labels:
    """POS tags or relations seen in training; id 0 stands for any other label.

    Another parser may use labels that training never saw: they share the unknown entry.
    """

    names: tuple[str, ...]
    """``Labels.UNKNOWN`` first, then the labels in alphabetical order."""
    _places: dict[str, int] = field(init=False, repr=False, compare=False)

    UNKNOWN = "<unknown>"

    def __post_init__(self) -> None:
        if self.names[:1] != (self.UNKNOWN,):
            raise ValueError(f"the first label is {self.UNKNOWN}")
        object.__setattr__(self, "_places", _number(self.names))

    @classmethod
    def of(cls, names: Iterable[str]) -> Self:
        """The distinct labels among these, in an order that does not depend on theirs."""
        return cls((cls.UNKNOWN, *sorted(set(names) - {cls.UNKNOWN})))

    def __len__(self) -> int:
        """Number of ids, the unknown one included."""
        return len(self.names)

    def id(self, name: str) -> int:
        """Id of a label; 0 if it was not seen."""
        return self._places.get(name, 0)

    def ids(self, names: Iterable[str]) -> NDArray[np.int64]:
        """Ids of many labels."""
        return np.array([self.id(name) for name in names], dtype=np.int64)

    def save(self, path: Path) -> None:
        """Write a JSON list, one label a line."""
        _save(self.names, path)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read what `save` wrote."""
        names = _load(path)
        if names[:1] != (cls.UNKNOWN,):
            raise CheckpointError(f"{path} is no list of labels: it does not begin with <unknown>")
        return cls(names)


def _number(names: tuple[str, ...]) -> dict[str, int]:
    places = {name: place for place, name in enumerate(names)}
    if len(places) < len(names):
        raise ValueError("every entry has one number, so none may be listed twice")
    return places


def _save(names: tuple[str, ...], path: Path) -> None:
    path.write_text(json.dumps(names, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")


def _load(path: Path) -> tuple[str, ...]:
    """A list of distinct strings, or a refusal that names the file."""
    try:
        names = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CheckpointError(f"cannot read {path}: {error.strerror}") from None
    except ValueError as error:  # not UTF-8, or not JSON
        raise CheckpointError(f"{path} is damaged ({error}); restore the model directory") from None
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise CheckpointError(f"{path} is damaged: not a list of words; restore it from a backup")
    if len(set(names)) < len(names):
        raise CheckpointError(f"{path} is damaged: a word is listed twice; restore it")
    return tuple(names)
