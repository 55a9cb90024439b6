"""Phrases in a parsed document: where they stand, and which are whole noun phrases.

A noun phrase here is a base one, a noun with the nouns, adjectives and participles before it that
it governs: "severe property damage", not "severe property" and not "damage of the storm". Words
that a hyphen joins in the text ("sign-on") are one word.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from phraseloom.text.document import Document, Token

Span = tuple[int, int]
Stems = tuple[str, ...]

REGION = 600
"""Tokens of each of the stretches that a long text has."""
_END = ""  # between sentences; no token has an empty stem, so no phrase crosses it


class Occurrences(NamedTuple):
    """All places of a phrase; offsets into the body's string and into the title's."""

    text: str
    """As it is most often written, or first where several are equal; empty if it never occurs."""
    spans: tuple[Span, ...]
    title_spans: tuple[Span, ...]


class SpanIndex:
    """The stems of a document, indexed once to look up many phrases."""

    def __init__(self, document: Document) -> None:
        self._document = document
        stems: list[str] = []
        self._spans: list[Span] = []
        self._body = 0  # the place where the title's tokens have ended
        for sentence in document.sentences:
            stems += [token.stem for token in sentence.tokens]
            stems.append(_END)
            self._spans += [(token.start, token.end) for token in sentence.tokens]
            self._spans.append((0, 0))
            if sentence.in_title:
                self._body = len(stems)
        self._stems = tuple(stems)
        self._places: dict[str, list[int]] = {}
        for place, stem in enumerate(stems):
            self._places.setdefault(stem, []).append(place)

    def find(self, stems: Sequence[str]) -> Occurrences:
        """Every place where these stems follow one another inside a sentence."""
        wanted = tuple(stems)
        places = self._places.get(wanted[0], ()) if wanted and _END not in wanted else ()
        found = [place for place in places if self._stems[place : place + len(wanted)] == wanted]
        spans = [(self._spans[i][0], self._spans[i + len(wanted) - 1][1]) for i in found]
        in_title = sum(place < self._body for place in found)
        surfaces = Counter(
            " ".join(string[start:end].split())
            for string, part in (
                (self._document.title, spans[:in_title]),
                (self._document.text, spans[in_title:]),
            )
            for start, end in part
        )
        text = surfaces.most_common(1)[0][0] if surfaces else ""  # of equals, the first
        return Occurrences(text, tuple(spans[in_title:]), tuple(spans[:in_title]))


Range = tuple[int, int]
"""Tokens ``[start, end)``."""

_MODIFYING = frozenset({"compound", "amod", "nmod", "poss"})
_ADVERBIAL = frozenset({"npadvmod", "obl:tmod", "nmod:tmod", "obl:npmod"})
_HYPHENS = "-\u2010\u2011"
_NAMES = frozenset({"NNP", "NNPS"})
_JOINING = frozenset({"of", "for", "de", "in", "on", "and"})
_NOUNS = frozenset({"NN", "NNS", "NNP", "NNPS"})
_MODIFIERS = _NOUNS | {"JJ", "JJR", "JJS", "VBN", "VBG", "CD", "FW", "AFX", "HYPH", "ADD"}


class Role(IntEnum):
    """What a token is in the noun phrase that it stands in."""

    OUTSIDE = 0
    BEGIN = 1
    INSIDE = 2
    HEAD = 3
    ALONE = 4
    """The phrase is this one token."""


def are_joined(text: str, end: int, start: int) -> bool:
    """Whether a hyphen joins what ends at ``end`` to what begins at ``start``."""
    return start == end + 1 and text[end] in _HYPHENS


def noun_phrases(tags: Sequence[str], heads: Sequence[int], joined: Sequence[bool]) -> list[Range]:
    """The maximal base noun phrases of a sentence or of several, from left to right.

    Args:
        tags: Penn Treebank tag of each token.
        heads: token that governs each; a root governs itself.
        joined: whether a hyphen joins each token to the next.
    """
    phrases = []
    end = len(tags)
    while end:
        start = _unit_start(joined, end)
        if tags[start] in _NOUNS if end == start + 1 else not _NOUNS.isdisjoint(tags[start:end]):
            while start:
                left = _unit_start(joined, start)
                if not _modifies(tags, heads, (left, start), end):
                    break
                start = left
            phrases.append((_without_number(tags, joined, start, end), end))
        end = start
    return phrases[::-1]


def phrase_roles(size: int, phrases: Sequence[Range]) -> list[Role]:
    """The role of each token of a text of ``size`` tokens."""
    roles = [Role.OUTSIDE] * size
    for start, end in phrases:
        roles[start:end] = [Role.INSIDE] * (end - start)
        roles[start] = Role.BEGIN
        roles[end - 1] = Role.HEAD if end - start > 1 else Role.ALONE
    return roles


def _unit_start(joined: Sequence[bool], end: int) -> int:
    """Where the word begins that ends at ``end``, hyphens included."""
    start = end - 1
    while start and joined[start - 1]:
        start -= 1
    return start


def _modifies(tags: Sequence[str], heads: Sequence[int], unit: Range, end: int) -> bool:
    """Whether a word may begin the noun phrase that goes on behind it up to ``end``."""
    start, stop = unit
    if stop == start + 1:
        return tags[start] in _MODIFIERS and stop <= heads[start] < end
    outer = [heads[token] for token in range(start, stop) if not start <= heads[token] < stop]
    is_modifier = not _MODIFIERS.isdisjoint(tags[start:stop])
    return is_modifier and bool(outer) and all(stop <= head < end for head in outer)


def _without_number(tags: Sequence[str], joined: Sequence[bool], start: int, end: int) -> int:
    """Where the phrase begins without the numbers in front: "three roses" are roses."""
    while start < end - 1 and tags[start] == "CD" and not joined[start]:
        start += 1
    return start


def joined_tokens(document: Document) -> list[bool]:
    """Whether a hyphen joins each token to the next; never from title to text."""
    joined: list[bool] = []
    for sentence in document.sentences:
        text = document.title if sentence.in_title else document.text
        pairs = zip(sentence.tokens, sentence.tokens[1:], strict=False)
        joined += [are_joined(text, token.end, following.start) for token, following in pairs]
        joined += [False] * bool(sentence.tokens)
    return joined


@dataclass(slots=True)
class PhraseStanding:
    """How a phrase stands in a document; a cut occurrence is none of whole, tail and joined."""

    occurrences: int = 0
    whole: int = 0
    tail: int = 0
    joined: int = 0
    split: int = 0
    """Occurrences that cut a hyphenated word apart."""
    names: int = 0
    nouns: int = 0
    """Occurrences that end in a noun, a name included."""
    name_parts: int = 0
    """Occurrences that are a part of a longer name: "Information Institute" is one."""
    modifiers: int = 0
    """Occurrences whose last word modifies another."""
    adverbials: int = 0
    """Occurrences that say when or how much, without a preposition: "last year"."""
    in_longer: int = 0
    regions: int = 0
    """Stretches of `REGION` tokens in which it stands."""
    in_title: bool = False
    first: int = 0
    last: int = 0


@dataclass(frozen=True, slots=True)
class _Sentence:
    tokens: Sequence[Token]
    stems: list[str]
    offset: int
    in_title: bool
    joined: list[bool]
    ranges: list[Range]
    """Of noun phrases."""


def count_phrases(
    document: Document, phrases: Collection[Stems], *, noun_phrases_of: range | None = None
) -> dict[Stems, PhraseStanding]:
    """Count phrases in one walk through a document.

    Args:
        document: parsed.
        phrases: to count.
        noun_phrases_of: lengths of the noun phrases that are counted beside them; none of them.
    """
    counts = {phrase: PhraseStanding() for phrase in phrases}
    sentences = list(_sentences(document))
    repeats: dict[Stems, int] = {}
    for sentence in sentences:
        for start, end in sentence.ranges:
            stems = tuple(sentence.stems[start:end])
            repeats[stems] = repeats.get(stems, 0) + 1
            if noun_phrases_of is not None and end - start in noun_phrases_of:
                counts.setdefault(stems, PhraseStanding())
    lengths_of: dict[str, set[int]] = {}
    for phrase in counts:
        lengths_of.setdefault(phrase[0], set()).add(len(phrase))
    for sentence in sentences:
        _count_in(sentence, counts, lengths_of, repeats)
    return counts


def _sentences(document: Document) -> Iterator[_Sentence]:
    joined, offset = joined_tokens(document), 0
    for sentence in document.sentences:
        tokens, end = sentence.tokens, offset + len(sentence.tokens)
        links = joined[offset:end]
        ranges = noun_phrases([t.pos for t in tokens], [t.head for t in tokens], links)
        stems = [token.stem for token in tokens]
        yield _Sentence(tokens, stems, offset, sentence.in_title, links, ranges)
        offset = end


def _count_in(
    sentence: _Sentence,
    counts: Mapping[Stems, PhraseStanding],
    lengths_of: Mapping[str, Collection[int]],
    repeats: Mapping[Stems, int],
) -> None:
    """Count in one sentence; ``lengths_of`` are those of the phrases that begin with a stem."""
    stems = sentence.stems
    range_of = {token: bounds for bounds in sentence.ranges for token in range(*bounds)}
    heads = {bounds[1] for bounds in sentence.ranges}
    for start, stem in enumerate(stems):
        for length in lengths_of.get(stem, ()):
            end = start + length
            counted = counts.get(tuple(stems[start:end]))
            if counted is None or end > len(stems):
                continue
            place = sentence.offset + start
            if not counted.occurrences:
                counted.first = place
            counted.regions += not counted.occurrences or place // REGION > counted.last // REGION
            counted.last = place
            counted.occurrences += 1
            counted.in_title |= sentence.in_title
            counted.names += sentence.tokens[end - 1].pos in _NAMES
            counted.nouns += sentence.tokens[end - 1].pos in _NOUNS
            counted.name_parts += length > 1 and _is_part_of_name(sentence, start, end, range_of)
            counted.modifiers += sentence.tokens[end - 1].relation in _MODIFYING
            counted.adverbials += sentence.tokens[end - 1].relation in _ADVERBIAL
            if sentence.joined[end - 1] or (start and sentence.joined[start - 1]):
                counted.split += 1
            elif end in heads:
                begin, _ = range_of[end - 1]  # of the noun phrase that the occurrence ends
                if begin == start:
                    counted.whole += 1
                elif begin < start:
                    counted.tail += 1
                    counted.in_longer += repeats[tuple(stems[begin:end])] > 1
                elif range_of.get(start, (-1,))[0] == start and all(
                    token in range_of or sentence.tokens[token].word in _JOINING
                    for token in range(start, end)
                ):
                    counted.joined += 1


def _is_part_of_name(
    sentence: _Sentence, start: int, end: int, range_of: Mapping[int, Range]
) -> bool:
    """Whether a proper noun goes on beyond a phrase, inside one noun phrase."""
    first, last = range_of.get(start), range_of.get(end - 1)
    cuts = [start] * (first is not None and first[0] < start)
    cuts += [end] * (last is not None and end < last[1])
    tokens = sentence.tokens
    return any(tokens[cut - 1].pos in _NAMES and tokens[cut].pos in _NAMES for cut in cuts)
