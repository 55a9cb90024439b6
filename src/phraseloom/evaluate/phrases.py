"""What is scored: a document's stems, its target phrases and the phrases predicted for it.

A phrase is compared as its stems joined by single spaces, as in the evaluation script that the
literature shares. No metric is computed here.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple

from phraseloom.text.words import normalise, stem

Phrase = str
"""Stems of a phrase joined by single spaces: ``"neural network"``."""

_INVALID_WORDS = frozenset({",", ".", "<unk>"})
_WORD = re.compile(r"<digit>|<unk>|\w+(?:[.'’]\w+)*|[^\w\s]")


class Judged(NamedTuple):
    """A document ready to be scored; make one with `judge_text` or `judge_stems`."""

    source: str
    """Stems of the title and the body joined by single spaces."""
    targets: tuple[Phrase, ...]
    """Reference phrases, present and absent ones; each once, in any order."""
    predictions: tuple[Phrase, ...]
    """Predicted phrases, best first; repeats are kept here and dropped by the metrics."""


def split_spaces(text: str) -> list[str]:
    """Words of text that is already tokenised, as in the benchmark files.

    >>> split_spaces("graph based methods .")
    ['graph', 'based', 'methods', '.']
    """
    return text.split()


def split_words(text: str) -> list[str]:
    """Words of natural text: hyphens part words, punctuation stands alone.

    >>> split_words("Graph-based methods (e.g. GCNs).")
    ['Graph', 'based', 'methods', '(', 'e.g', '.', 'GCNs', ')', '.']
    """
    return _WORD.findall(normalise(text))


class Split(StrEnum):
    """How text is parted into words."""

    spaces = "spaces"
    words = "words"

    def cut(self, text: str) -> list[str]:
        """Words of a text."""
        return split_words(text) if self is Split.words else split_spaces(text)


def judge_text(
    source: str,
    targets: Iterable[str],
    predictions: Iterable[str],
    *,
    split: Callable[[str], list[str]] = split_spaces,
) -> Judged:
    """Lower-case, split and stem a document, its targets and its predictions.

    Args:
        source: title and body, one after the other.
        targets: reference phrases.
        predictions: predicted phrases, best first.
        split: `split_spaces` for tokenised text, `split_words` for natural text.
    """
    return judge_stems(
        map(stem, split(source)),
        ([stem(word) for word in split(phrase)] for phrase in targets),
        ([stem(word) for word in split(phrase)] for phrase in predictions),
    )


def judge_stems(
    source: Iterable[str], targets: Iterable[Sequence[str]], predictions: Iterable[Sequence[str]]
) -> Judged:
    """Put together what is stemmed already, such as the tokens of a parsed document.

    Empty targets and repeated ones are dropped; so are predictions that are empty or contain an
    unknown word, a comma or a full stop.

    >>> judge_stems(["a", "graph"], [["graph"], ["graph"]], [["graph", "."], ["tree"]])
    Judged(source='a graph', targets=('graph',), predictions=('tree',))
    """
    wanted = dict.fromkeys(" ".join(phrase) for phrase in targets if phrase)
    valid = (phrase for phrase in predictions if phrase and _INVALID_WORDS.isdisjoint(phrase))
    return Judged(" ".join(source), tuple(wanted), tuple(" ".join(phrase) for phrase in valid))
