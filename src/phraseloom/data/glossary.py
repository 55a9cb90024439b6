"""Phrases that documents list as their own: how often, of the documents in which they stand.

An author who writes "support vector machine" lists it far more often than one who writes "results".
A glossary counts that over prepared corpora and marks the words of a document by it.
"""

import json
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from phraseloom.data.cache import Corpus, Record
from phraseloom.data.parts import write_json
from phraseloom.errors import CheckpointError

LONGEST = 5
"""Words of a phrase that is looked for, at most."""
LEAST = 2
"""Documents that have to list a phrase before it is known."""
SHARE_EDGES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.4)
"""Shares of documents at which the next level begins."""
UNKNOWN = 0
MARK_SIZES = (len(SHARE_EDGES) + 2,) * 4
"""Levels of each of a word's four marks: alone, begins, goes on, ends."""
_DOUBT = 2  # documents that stand for all those not seen: a share of one in one says little


class Counts(NamedTuple):
    """Of the documents in which a phrase stands."""

    listed: int
    standing: int

    def level(self) -> int:
        """How often it is listed where it stands: 0 unknown, then from hardly ever to mostly."""
        if self.listed < LEAST:
            return UNKNOWN
        return 1 + bisect_right(SHARE_EDGES, self.listed / (self.standing + _DOUBT))


@dataclass(frozen=True, slots=True)
class Glossary:
    """Known phrases, as stems joined by spaces; without any, every mark is zero."""

    counts: Mapping[str, Counts] = field(default_factory=dict)
    corpora: frozenset[str] = frozenset()
    """Fingerprints of the corpora whose documents were counted."""

    def mark(
        self, sentences: Iterable[Sequence[str]], *, own: AbstractSet[str] | None = None
    ) -> NDArray[np.int64]:
        """The highest level of a known phrase that each word is, begins, goes on or ends.

        Args:
            sentences: stems of the document's words.
            own: phrases that the document lists, if it was counted itself. Its vote is taken back,
                or what it lists could be read off its marks.

        Returns:
            ``(T, 4)``; the last three are of phrases of several words.
        """
        rows: list[list[int]] = []
        for stems in sentences:
            marks = [[UNKNOWN] * len(MARK_SIZES) for _ in stems]
            for phrase, start, end in self._find(stems):
                counts = self.counts[phrase]
                if own is not None:
                    counts = Counts(counts.listed - (phrase in own), counts.standing - 1)
                level = counts.level()
                if end == start + 1:
                    marks[start][0] = level
                    continue
                marks[start][1] = max(level, marks[start][1])
                for place in range(start + 1, end):
                    marks[place][2] = max(level, marks[place][2])
                marks[end - 1][3] = max(level, marks[end - 1][3])
            rows += marks
        return np.array(rows, dtype=np.int64).reshape(-1, len(MARK_SIZES))

    def _find(self, stems: Sequence[str]) -> Iterator[tuple[str, int, int]]:
        """Known phrases of a sentence, with their first word and the one after their last."""
        if self.counts:
            yield from (run for run in _runs(stems) if run[0] in self.counts)

    def columns(self) -> dict[str, Any]:
        """As lists for JSON; `of_columns` reads them."""
        return {
            "phrases": list(self.counts),
            "listed": [counts.listed for counts in self.counts.values()],
            "standing": [counts.standing for counts in self.counts.values()],
            "corpora": sorted(self.corpora),
        }

    @classmethod
    def of_columns(cls, columns: Mapping[str, Any]) -> Self:
        """What `columns` gave.

        Raises:
            KeyError, TypeError, ValueError: it is something else.
        """
        counts = map(Counts, columns["listed"], columns["standing"])
        phrases = zip(columns["phrases"], counts, strict=True)
        return cls(dict(phrases), frozenset(columns["corpora"]))

    def save(self, path: Path) -> None:
        """Write one JSON file; whoever looks sees the old file or the whole new one."""
        write_json(path, self.columns())

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read what `save` wrote; a damaged file is named."""
        try:
            return cls.of_columns(json.loads(path.read_text(encoding="utf-8")))
        except OSError as error:
            raise CheckpointError(
                f"cannot read {path}: {error.strerror}; make it with phraseloom glossary"
            ) from None
        except (ValueError, KeyError, TypeError) as error:
            raise CheckpointError(
                f"{path} is no glossary, or damaged ({error}); make it with phraseloom glossary"
            ) from None


def count_glossary(
    corpora: Sequence[Corpus], *, on_progress: Callable[[int, int], None] = lambda _, __: None
) -> Glossary:
    """Count how many documents list each phrase, and in how many it stands.

    Phrases that fewer than `LEAST` documents list are left out.
    """
    total, done = 2 * sum(map(len, corpora)), 0
    listed: Counter[str] = Counter()
    standing: Counter[str] = Counter()
    for corpus in corpora:
        for record in map(corpus.record, range(len(corpus))):
            listed.update(own_phrases(corpus, record))
            done += 1
            on_progress(done, total)
    known = {
        phrase
        for phrase, count in listed.items()
        if count >= LEAST and len(phrase.split(" ")) <= LONGEST
    }
    for corpus in corpora:
        for record in map(corpus.record, range(len(corpus))):
            runs = (run for stems in sentence_stems(corpus, record) for run, _, _ in _runs(stems))
            standing.update(known.intersection(runs))
            done += 1
            on_progress(done, total)
    counts = {phrase: Counts(listed[phrase], standing[phrase]) for phrase in sorted(known)}
    return Glossary(counts, frozenset(corpus.fingerprint for corpus in corpora))


def own_phrases(corpus: Corpus, record: Record) -> set[str]:
    """Present keyphrases of a document, as stems joined by spaces."""
    stems = _stems(corpus, record)
    spans = zip(record.phrase_start.tolist(), record.phrase_length.tolist(), strict=True)
    return {" ".join(stems[start : start + length]) for start, length in spans}


def sentence_stems(corpus: Corpus, record: Record, size: int | None = None) -> list[list[str]]:
    """Stems of each sentence's words, of the first ``size`` tokens if that is given."""
    stems = _stems(corpus, record)[:size]
    bounds = pairwise([*record.sentence.tolist(), len(stems)])
    return [stems[start:end] for start, end in bounds]


def _stems(corpus: Corpus, record: Record) -> list[str]:
    return [corpus.stems[stem] for stem in corpus.word_stems[record.word].tolist()]


def _runs(stems: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """All runs of up to `LONGEST` words, with their first place and the one after their last."""
    for start in range(len(stems)):
        for end in range(start + 1, min(start + LONGEST, len(stems)) + 1):
            yield " ".join(stems[start:end]), start, end
