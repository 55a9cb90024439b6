"""Plain text of Markdown and of web pages: what a reader sees, blocks apart by an empty line."""

import re
from html.parser import HTMLParser

from phraseloom.text.document import Source

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n.*?^---[ \t]*$\n?", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(  # any other element is a block of its own
    r"a|abbr|acronym|b|bdi|bdo|big|button|cite|code|data|del|dfn|em|font|i|img|ins|kbd|label|mark|q"
    r"|rp|rt|ruby|s|samp|small|span|strike|strong|sub|sup|time|tt|u|var|wbr"
)
_UNSEEN = frozenset(["head", "script", "style", "template", "noscript", "svg", "math", "select"])
_SPACES = re.compile(r"[ \t\r\n\f\u200b]+")


def markdown_source(text: str) -> Source:
    """The words of a Markdown text; code blocks, targets of links and front matter are left out."""
    from markdown_it import MarkdownIt  # here: start-up time

    blocks = []
    for token in MarkdownIt("commonmark").enable("table").parse(_FRONT_MATTER.sub("", text)):
        if token.type == "html_block":
            blocks.append(html_source(token.content).text)
        elif token.type == "inline":
            blocks.append("".join(_inline_text(child) for child in token.children or ()))
    return Source("\n\n".join(block for block in blocks if block.strip()))


def _inline_text(token: object) -> str:
    kind = getattr(token, "type", "")
    if kind in {"softbreak", "hardbreak"}:
        return " " if kind == "softbreak" else "\n"
    return getattr(token, "content", "") if kind in {"text", "code_inline", "image"} else ""


def html_source(text: str) -> Source:
    """The words of a web page, and its title; scripts, styles and the like are left out."""
    page = _Page()
    page.feed(text)
    page.close()
    blocks = (_SPACES.sub(" ", "".join(block)).strip(" ") for block in page.blocks)
    title = _SPACES.sub(" ", "".join(page.title)).strip(" ")
    return Source("\n\n".join(block for block in blocks if block), title)


class _Page(HTMLParser):
    """Collects text by block; what is inside an unseen element is dropped."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.blocks: list[list[str]] = [[]]
        self.title: list[str] = []
        self._unseen: list[str] = []
        self._is_title = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "body":
            self._unseen.clear()  # the end of the head may be left out
        if tag in _UNSEEN:
            self._unseen.append(tag)
        elif tag == "title":
            self._is_title = self._unseen in ([], ["head"]) and not self.title
        elif not _INLINE.fullmatch(tag):
            self.blocks.append([])

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if not _INLINE.fullmatch(tag):
            self.blocks.append([])

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._is_title = False
        elif tag in self._unseen:
            del self._unseen[self._unseen.index(tag) :]
        elif not _INLINE.fullmatch(tag):
            self.blocks.append([])

    def handle_data(self, data: str) -> None:
        if self._is_title:
            self.title.append(data)
        elif not self._unseen:
            self.blocks[-1].append(data)
