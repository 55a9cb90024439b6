"""A document's dependency graph as one web page that needs nothing else."""

from phraseloom.draw.families import Family
from phraseloom.draw.frame import page_foot, page_head, resource
from phraseloom.draw.layout import Row, lay_out
from phraseloom.draw.svg import draw_row, escape, family_class, row_height, stylesheet
from phraseloom.text.document import Document, Sentence

_MARGIN = 16.0

_CONTENT = """<header>
<h1 dir="auto">{title}</h1>
<p>{summary}</p>
<ul class="legend">
{legend}
</ul>
</header>
<main>
{figures}
</main>
"""


def document_html(document: Document) -> str:
    """A page with a picture of each sentence; pointing at a word shows what hangs on it."""
    script = resource("page.js")
    title = document.title or "Dependency graph"
    words = sum(len(sentence.tokens) for sentence in document.sentences)
    head = page_head(title, style=stylesheet() + resource("page.css"), script=script)
    content = _CONTENT.format(
        title=escape(title),
        summary=f"{_count(len(document.sentences), 'sentence')}, {_count(words, 'word')}",
        legend="\n".join(_legend_item(family) for family in Family),
        figures="\n".join(_figure(sentence) for sentence in document.sentences),
    )
    return head + content + page_foot(script)


def _figure(sentence: Sentence) -> str:
    row = lay_out(sentence)
    name = escape(" ".join(token.text for token in sentence.tokens))
    place = "<figcaption>title</figcaption>" if sentence.in_title else ""
    return f'<figure>{place}<div class="scroll" tabindex="0">{_picture(row, name)}</div></figure>'


def _picture(row: Row, name: str) -> str:
    width, height = row.width + 2 * _MARGIN, row_height(row)
    return (
        f'<svg width="{width:g}" height="{height:g}" viewBox="{-_MARGIN:g} 0 {width:g} {height:g}" '
        f'role="img" aria-label="{name}">\n{draw_row(row)}\n</svg>'
    )


def _legend_item(family: Family) -> str:
    style = family_class(family)
    return f'<li class="{style}" data-family="{style}">{escape(family.value)}</li>'


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
