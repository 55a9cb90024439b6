"""Texts with their phrases marked: cut where phrases begin and end, and as one web page."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from phraseloom.text.document import Source
from phraseloom.text.phrases import Span
from phraseloom.web.html_page import page_foot, page_head
from phraseloom.web.resources import resource
from phraseloom.web.svg import escape

LEVELS = 4
"""Strengths of a mark: from 1, a weak phrase, to this, one near the best."""

_ARTICLE = """<article id="d{number}">
<section class="text">
<p class="name" dir="auto">{name}</p>
{heading}<div class="body" dir="auto">{body}</div>
</section>
<aside>
<h2>{count}</h2>
<ol>
{items}
</ol>
</aside>
</article>
"""


class Marked(Protocol):
    """A phrase with the places where it stands; an extractor's ``Keyphrase`` is one."""

    @property
    def text(self) -> str: ...
    @property
    def score(self) -> float: ...
    @property
    def rank(self) -> int: ...
    @property
    def spans(self) -> Sequence[Span]: ...
    @property
    def title_spans(self) -> Sequence[Span]: ...
    @property
    def label(self) -> str | None: ...


class Highlighted(NamedTuple):
    """A document with its phrases, best first, under the name it goes by."""

    name: str
    source: Source
    phrases: Sequence[Marked]


class Stretch(NamedTuple):
    """A piece of the text, and the ranks of the phrases that it is part of, best first."""

    text: str
    ranks: tuple[int, ...]
    begins: tuple[int, ...]
    """Ranks of the phrases of which an occurrence begins here."""


def cut(text: str, places: Iterable[tuple[int, Sequence[Span]]]) -> list[Stretch]:
    """Cut a text at every end of a phrase; joined, the stretches are the text again.

    Args:
        text: in which the spans count code points.
        places: rank and spans of each phrase; those of several phrases may overlap.

    >>> cut("deep graph nets", [(1, [(0, 10)]), (2, [(5, 15)])])  # doctest: +NORMALIZE_WHITESPACE
    [Stretch(text='deep ', ranks=(1,), begins=(1,)),
     Stretch(text='graph', ranks=(1, 2), begins=(2,)),
     Stretch(text=' nets', ranks=(2,), begins=())]
    """
    changes: dict[int, list[tuple[int, int]]] = {0: [], len(text): []}
    for rank, spans in places:
        for start, end in spans:
            changes.setdefault(start, []).append((rank, 1))
            changes.setdefault(end, []).append((rank, -1))
    borders = sorted(changes)
    depths: dict[int, int] = {}
    stretches = []
    for start, end in zip(borders, borders[1:], strict=False):
        for rank, change in changes[start]:
            depths[rank] = depths.get(rank, 0) + change
        ranks = tuple(sorted(rank for rank, depth in depths.items() if depth))
        begins = tuple(sorted(rank for rank, change in changes[start] if change > 0))
        stretches.append(Stretch(text[start:end], ranks, begins))
    return stretches


def body_stretches(document: Highlighted) -> list[Stretch]:
    """The body, cut at its phrases."""
    return cut(document.source.text, ((phrase.rank, phrase.spans) for phrase in document.phrases))


def title_stretches(document: Highlighted) -> list[Stretch]:
    """The title, cut at its phrases."""
    spans = ((phrase.rank, phrase.title_spans) for phrase in document.phrases)
    return cut(document.source.title, spans)


def levels(phrases: Sequence[Marked]) -> dict[int, int]:
    """How strongly to mark each rank: in proportion to the best score, in steps."""
    best = max((phrase.score for phrase in phrases), default=0.0)
    return {
        phrase.rank: max(1, round(LEVELS * phrase.score / best)) if best > 0 else 1
        for phrase in phrases
    }


def highlight_page(documents: Iterable[Highlighted]) -> Iterator[str]:
    """The page, piece by piece: each text with its phrases marked, their ranking beside it."""
    script = resource("highlight.js")
    yield page_head("Keyphrases", style=resource("highlight.css"), script=script)
    for number, document in enumerate(documents, start=1):
        yield _article(number, document)
    yield page_foot(script)


def _article(number: int, document: Highlighted) -> str:
    strength = levels(document.phrases)
    named: set[int] = set()  # phrases whose first place has been given a name to jump to

    def marked(stretches: Sequence[Stretch]) -> str:
        return "".join(_mark(stretch, number, strength, named) for stretch in stretches)

    title = marked(title_stretches(document))
    count = len(document.phrases)
    return _ARTICLE.format(
        number=number,
        name=escape(document.name),
        heading=f'<h1 dir="auto">{title}</h1>\n' if title.strip() else "",
        body=marked(body_stretches(document)),
        count=f"{count} keyphrase{'' if count == 1 else 's'}" if count else "No keyphrases",
        items="\n".join(_item(phrase, number, strength) for phrase in document.phrases),
    )


def _mark(stretch: Stretch, number: int, strength: Mapping[int, int], named: set[int]) -> str:
    text = escape(stretch.text)
    if not stretch.ranks:
        return text
    anchors = "".join(
        f'<a id="d{number}p{rank}"></a>' for rank in stretch.begins if rank not in named
    )
    named.update(stretch.begins)
    level = max(strength[rank] for rank in stretch.ranks)
    nested = " nested" if len(stretch.ranks) > 1 else ""
    ranks = " ".join(map(str, stretch.ranks))
    return f'{anchors}<mark class="s{level}{nested}" data-ranks="{ranks}">{text}</mark>'


def _item(phrase: Marked, number: int, strength: Mapping[int, int]) -> str:
    places = len(phrase.spans) + len(phrase.title_spans)
    times = f'<span class="times">×{places}</span>' if places > 1 else ""
    label = "" if phrase.label is None else f'<span class="label">{escape(phrase.label)}</span>'
    text = f'<a href="#d{number}p{phrase.rank}" dir="auto">{escape(phrase.text)}</a>'
    score = f'<span class="score">{phrase.score:.3f}</span>'
    bar = f'<span class="bar s{strength[phrase.rank]}" style="--score:{phrase.score:.4f}"></span>'
    return (
        f'<li data-ranks="{phrase.rank}"><span class="rank">{phrase.rank}</span>'
        f'<span class="phrase">{text}{times}{label}</span>{score}{bar}</li>'
    )
