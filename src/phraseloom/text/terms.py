"""Terms of a vocabulary in a document: what their forms are called, and where they stand.

A form is told by its words and marks as they are written, as "universities" are none of the
universe, though their stems are one. Case and plurals do not count, nor do the points of initials.
Parsers cut "C++" or "U.S." in their own ways, so both sides are cut further, into units.
"""

import unicodedata
from collections import Counter
from collections.abc import Collection, Container, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from phraseloom.text.document import Document, Sentence
from phraseloom.text.matching import cut_units
from phraseloom.text.phrases import Stems

MAX_TERM_WORDS = 6
"""Words of a form that is looked for, at most."""
_SINGULARS = {"women": "woman", "men": "man", "children": "child"}
_SINGULARS |= {word: word for word in ("its", "does", "these")}  # "these" are no thesis
_HISSING = ("se", "xe", "ze", "che", "she")  # without its last letter, one as a plural has it


class Place(NamedTuple):
    """Tokens ``[start, end)`` of a sentence."""

    sentence: int
    start: int
    end: int

    def is_inside(self, other: "Place") -> bool:
        """Whether it is a part of another one."""
        is_within = other.start <= self.start and self.end <= other.end
        return is_within and self.sentence == other.sentence and self != other


class TermPlace(NamedTuple):
    """A form of a term where it stands."""

    label: str
    stems: Stems
    text: str
    place: Place


class Form(NamedTuple):
    """A form of a term as it is most often written in a document."""

    text: str
    label: str


@dataclass(frozen=True, slots=True)
class TermLabels:
    """Preferred labels by what the forms are called, see `form_name`.

    A form that is written just so comes before one that is the same but for plurals and points.
    """

    labels: Mapping[str, str]
    _loose: dict[str, str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        loose: dict[str, str] = {}
        for name, label in self.labels.items():
            loose.setdefault(_loose_name(name), label)
        object.__setattr__(self, "_loose", loose)

    def find(self, document: Document) -> Iterator[TermPlace]:
        """Every place of a form; those inside a longer one, too."""
        for number, sentence in enumerate(document.sentences):
            text = document.title if sentence.in_title else document.text
            for start, end, label in self._find_in(sentence):
                tokens = sentence.tokens[start:end]
                written = " ".join(text[tokens[0].start : tokens[-1].end].split())
                stems = tuple(token.stem for token in tokens)
                yield TermPlace(label, stems, written, Place(number, start, end))

    def _find_in(self, sentence: Sentence) -> Iterator[tuple[int, int, str]]:
        exact = [form_name(token.text) for token in sentence.tokens]
        loose = list(map(_loose_name, exact))
        for start in range(len(exact)):
            name, other = exact[start], loose[start]
            for end in range(start + 1, min(start + MAX_TERM_WORDS, len(exact)) + 1):
                if end > start + 1:
                    name, other = f"{name} {exact[end - 1]}", f"{other} {loose[end - 1]}"
                label = self.labels.get(name) or self._loose.get(other)
                if label is not None:
                    yield start, end, label


@lru_cache(maxsize=100_000)
def form_name(form: str) -> str:
    """What a form is called: its units, in small letters.

    >>> form_name("Wells, Ida B."), form_name("C++")
    ('wells , ida b .', 'c + +')
    """
    plain = unicodedata.normalize("NFC", form).replace("\u2019", "'")
    return " ".join(cut_units(plain.casefold()))


@lru_cache(maxsize=100_000)
def _loose_name(name: str) -> str:
    """The same name for one and for many, and with the points of initials or without."""
    kept, last = [], ""
    for unit in name.split(" "):
        if unit != "." or len(last) != 1 or not last.isalpha():
            kept.append(_singular(unit))
        last = unit
    return " ".join(kept)


def _singular(word: str) -> str:
    """What a noun and its plural have in common: "hous" of houses, "thes" of theses."""
    if word in _SINGULARS:
        return _SINGULARS[word]
    if len(word) > 5 and word.endswith("sis"):
        return word[:-2]
    if len(word) > 2 and word[-1] == "s" and word[-2] not in "sui" + "ae" * (len(word) == 3):
        word = word[:-1]
    if len(word) > 3 and (word.endswith(_HISSING) or (word.endswith("oe") and len(word) > 4)):
        return word[:-1]
    return f"{word[:-1]}ie" if word[-1:] == "y" and word[-2:-1] not in "aeiou" else word


def label_phrases(
    document: Document, labels: TermLabels, phrases: Container[Stems]
) -> dict[Stems, Form]:
    """The phrases that are forms of terms, as they stand in a document.

    Phrases are compared by stems, so one may stand for other words too: it is a form if half of its
    places are. What stands inside a longer one of these phrases, of the same term, is none there.
    """
    found = [term for term in labels.find(document) if term.stems in phrases]
    others = Counter(stems for stems, _ in phrase_places(document, {t.stems for t in found}))
    others.subtract(term.stems for term in found)
    inner = nested_places(found)
    written: dict[Stems, Counter[Form]] = {}
    for term in found:
        if term.place not in inner:
            form = Form(term.text, term.label)
            written.setdefault(term.stems, Counter())[form] += 1
    return {
        stems: forms.most_common(1)[0][0]  # of equals, the first
        for stems, forms in written.items()
        if forms.total() >= others[stems]
    }


def nested_places(found: Collection[TermPlace]) -> set[Place]:
    """Those that are a part of a longer form of the same term."""
    by_sentence: dict[tuple[int, str], list[Place]] = {}
    for term in found:
        by_sentence.setdefault((term.place.sentence, term.label), []).append(term.place)
    return {
        place
        for places in by_sentence.values()
        for place in places
        if any(map(place.is_inside, places))
    }


def phrase_places(document: Document, phrases: Collection[Stems]) -> Iterator[tuple[Stems, Place]]:
    """Every place where one of these phrases stands, by its stems."""
    longest = max(map(len, phrases), default=0)
    for number, sentence in enumerate(document.sentences if phrases else ()):
        stems = tuple(token.stem for token in sentence.tokens)
        for start in range(len(stems)):
            for end in range(start + 1, min(start + longest, len(stems)) + 1):
                if stems[start:end] in phrases:
                    yield stems[start:end], Place(number, start, end)
