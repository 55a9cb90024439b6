"""Texts with their phrases marked, as one web page that needs nothing else."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from phraseloom.draw.frame import page_foot, page_head, resource
from phraseloom.draw.highlight import (
    Highlighted,
    Marked,
    Stretch,
    body_stretches,
    levels,
    title_stretches,
)
from phraseloom.draw.svg import escape

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
        return "".join(_mark(each, number, strength, named) for each in stretches)

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
    text = f'<a href="#d{number}p{phrase.rank}" dir="auto">{escape(phrase.text)}</a>'
    bar = f'<span class="bar s{strength[phrase.rank]}" style="--score:{phrase.score:.4f}"></span>'
    return (
        f'<li data-ranks="{phrase.rank}"><span class="rank">{phrase.rank}</span>'
        f'<span class="phrase">{text}{times}</span><span class="score">{phrase.score:.3f}</span>'
        f"{bar}</li>"
    )
