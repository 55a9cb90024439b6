"""What turns strings into numbers for one model: words, labels, subwords, styles, phrases."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phraseloom.data.glossary import Glossary
from phraseloom.data.subwords import ngram_ids
from phraseloom.data.vocab import Labels, Vocabulary
from phraseloom.errors import CheckpointError


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Every numbering that a network was trained with; saved beside its weights."""

    words: Vocabulary
    pos_tags: Labels
    relations: Labels
    styles: tuple[str, ...]
    min_n: int
    max_n: int
    buckets: int
    glossary: Glossary = field(default_factory=Glossary)

    @property
    def edge_types(self) -> int:
        """How many kinds of edges there are: the self-loop, and each relation both ways."""
        return 1 + 2 * len(self.relations)

    def ngrams(self, word: str) -> NDArray[np.int64]:
        """Buckets of the character n-grams that stand in for a word outside the vocabulary."""
        return ngram_ids(word, min_n=self.min_n, max_n=self.max_n, buckets=self.buckets)

    def save(self, path: Path) -> None:
        """Write as JSON."""
        values = {
            "words": self.words.words,
            "pos_tags": self.pos_tags.names,
            "relations": self.relations.names,
            "styles": self.styles,
            "subwords": {"min_n": self.min_n, "max_n": self.max_n, "buckets": self.buckets},
            "glossary": self.glossary.columns(),
        }
        path.write_text(json.dumps(values, ensure_ascii=False), encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> "Lexicon":
        """Read what `save` wrote; a damaged file is named."""
        try:
            values: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            return cls(
                words=Vocabulary(tuple(values["words"])),
                pos_tags=Labels(tuple(values["pos_tags"])),
                relations=Labels(tuple(values["relations"])),
                styles=tuple(values["styles"]),
                min_n=int(values["subwords"]["min_n"]),
                max_n=int(values["subwords"]["max_n"]),
                buckets=int(values["subwords"]["buckets"]),
                # models from before there were glossaries have none
                glossary=Glossary.of_columns(values["glossary"])
                if "glossary" in values
                else Glossary(),
            )
        except OSError as error:
            raise CheckpointError(f"cannot read {path}: {error.strerror}") from None
        except (ValueError, KeyError, TypeError) as error:
            raise CheckpointError(f"{path} is damaged: {error}; copy the model again") from None


def style_id(styles: Sequence[str], style: str | None) -> int:
    """Number of a style; without a name, the first."""
    if style is None or not styles:
        return 0
    return list(styles).index(style)
