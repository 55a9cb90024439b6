"""Web pages that need nothing else: their frame, and the dependency graph of a document in it.

They are light or dark as the viewer is, and only our own script may run in them.
"""

from phraseloom.text.document import Document, Sentence
from phraseloom.web.layout import RowLayout, lay_out
from phraseloom.web.relation_groups import RelationGroup
from phraseloom.web.resources import resource, script_policy
from phraseloom.web.svg import draw_row, escape, group_class, row_height, stylesheet

_HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
{policy}
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
"""

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


def page_head(title: str, *, style: str, script: str) -> str:
    """What comes before a page's content; only the given script may run in it."""
    return _HEAD.format(policy=script_policy(script), title=escape(title), style=style)


def page_foot(script: str) -> str:
    """What comes after a page's content."""
    return f"<script>{script}</script>\n</body>\n</html>\n"


def document_html(document: Document) -> str:
    """A page with a picture of each sentence; pointing at a word shows what hangs on it."""
    script = resource("page.js")
    title = document.title or "Dependency graph"
    words = sum(len(sentence.tokens) for sentence in document.sentences)
    head = page_head(title, style=stylesheet() + resource("page.css"), script=script)
    content = _CONTENT.format(
        title=escape(title),
        summary=f"{_count(len(document.sentences), 'sentence')}, {_count(words, 'word')}",
        legend="\n".join(_legend_item(group) for group in RelationGroup),
        figures="\n".join(_figure(sentence) for sentence in document.sentences),
    )
    return head + content + page_foot(script)


def _figure(sentence: Sentence) -> str:
    row = lay_out(sentence)
    name = escape(" ".join(token.text for token in sentence.tokens))
    place = "<figcaption>title</figcaption>" if sentence.in_title else ""
    return f'<figure>{place}<div class="scroll" tabindex="0">{_picture(row, name)}</div></figure>'


def _picture(row: RowLayout, name: str) -> str:
    width, height = row.width + 2 * _MARGIN, row_height(row)
    return (
        f'<svg width="{width:g}" height="{height:g}" viewBox="{-_MARGIN:g} 0 {width:g} {height:g}" '
        f'role="img" aria-label="{name}">\n{draw_row(row)}\n</svg>'
    )


def _legend_item(group: RelationGroup) -> str:
    style = group_class(group)
    return f'<li class="{style}" data-group="{style}">{escape(group.value)}</li>'


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
