"""Where a phrase stands in a document, in characters, and how it is written there."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from phraseloom.text.document import Document

Span = tuple[int, int]

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


def find_spans(document: Document, stems: Sequence[str]) -> Occurrences:
    """Every occurrence of one phrase; for many phrases of a document, keep a ``SpanIndex``."""
    return SpanIndex(document).find(stems)
