"""Plain text of Markdown and of web pages: what a reader sees, blocks apart by an empty line."""

import re
from typing import Any

from phraseloom.errors import ReadingError
from phraseloom.text.document import Source

MAX_ELEMENTS = 3_000_000
"""Of a page or a Word file, which then takes some seconds; more is a trap, not a text."""
_MAX_DEPTH = 1_000
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n.*?^---[ \t]*$\n?", re.MULTILINE | re.DOTALL)
_INLINE = frozenset(  # any other element is a block of its own
    ("a", "abbr", "acronym", "b", "bdi", "bdo", "big", "button", "cite", "code", "data", "del")
    + ("dfn", "em", "font", "i", "img", "ins", "kbd", "label", "mark", "q", "rp", "rt", "ruby", "s")
    + ("samp", "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr")
)
_HIDDEN = frozenset(["script", "style", "template", "noscript", "svg", "math", "select"])
_SPACES = re.compile(r"[ \t\r\n\f\u200b]+")
_FED_AT_ONCE = 1 << 16  # characters: whoever exceeds a limit is stopped soon


def markdown_source(text: str, name: str) -> Source:
    """The words of a Markdown text; code blocks, targets of links and front matter are left out."""
    from markdown_it import MarkdownIt  # here: start-up time

    blocks = []
    for token in MarkdownIt("commonmark").enable("table").parse(_FRONT_MATTER.sub("", text)):
        if token.type == "html_block":
            blocks.append(html_source(token.content, name).text)
        elif token.type == "inline":
            blocks.append("".join(_inline_text(child) for child in token.children or ()))
    return Source("\n\n".join(block for block in blocks if block.strip()))


def _inline_text(token: object) -> str:
    kind = getattr(token, "type", "")
    if kind in {"softbreak", "hardbreak"}:
        return " " if kind == "softbreak" else "\n"
    return getattr(token, "content", "") if kind in {"text", "code_inline", "image"} else ""


def html_source(text: str, name: str) -> Source:
    """The words of a web page, and its title; scripts, styles and the like are left out.

    Raises:
        ReadingError: it has too many elements, or too many inside each other.
    """
    from lxml.etree import HTMLParser  # here: start-up time

    if not text.strip():
        return Source("")
    page = _Page(name)
    parser = HTMLParser(target=page, huge_tree=True)  # which keeps no tree, so nothing grows
    for start in range(0, len(text), _FED_AT_ONCE):
        parser.feed(text[start : start + _FED_AT_ONCE])
    parser.close()
    blocks = (_SPACES.sub(" ", "".join(block)).strip(" ") for block in page.blocks)
    title = _SPACES.sub(" ", "".join(page.title)).strip(" ")
    return Source("\n\n".join(block for block in blocks if block), title)


class _Page:
    """Collects text by block, as lxml's parser calls it; what is in a hidden element is dropped.

    Depth is bounded because the parser looks through all open elements at an end tag that fits
    none of them.
    """

    def __init__(self, name: str) -> None:
        self.blocks: list[list[str]] = [[]]
        self.title: list[str] = []
        self._name = name
        self._elements = 0
        self._depth = 0
        self._hidden_at: int | None = None  # depth of the outermost hidden element
        self._title_at: int | None = None

    def start(self, tag: str, attributes: Any) -> None:
        self._elements += 1
        self._depth += 1
        if self._elements > MAX_ELEMENTS:
            raise ReadingError(f"{self._name} has more than {MAX_ELEMENTS:,} elements; split it")
        if self._depth > _MAX_DEPTH:
            raise ReadingError(
                f"{self._name} has more than {_MAX_DEPTH:,} elements inside each other;"
                " save it as plain text first"
            )
        if self._hidden_at is not None:
            return
        if tag in _HIDDEN:
            self._hidden_at = self._depth
        elif tag == "title" and not self.title:
            self._title_at = self._depth
        else:
            self._end_block(tag)

    def end(self, tag: str) -> None:
        if self._hidden_at is None and self._title_at is None:
            self._end_block(tag)
        if self._hidden_at == self._depth:
            self._hidden_at = None
        if self._title_at == self._depth:
            self._title_at = None
        self._depth -= 1

    def data(self, text: str) -> None:
        if self._title_at is not None:
            self.title.append(text)
        elif self._hidden_at is None:
            self.blocks[-1].append(text)

    def close(self) -> None:
        """Called by the parser at the end."""

    def _end_block(self, tag: str) -> None:
        if tag not in _INLINE and self.blocks[-1]:
            self.blocks.append([])
