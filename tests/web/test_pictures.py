"""Each kind of picture holds every word and arc, and text never turns into markup."""

import re
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

import phraseloom.web
from phraseloom.text.document import Document, Sentence, Token
from phraseloom.web.dot import _COLOURS, document_dot
from phraseloom.web.html_page import document_html
from phraseloom.web.relation_groups import RelationGroup, group_of
from phraseloom.web.svg import document_svg, escape, group_class
from phraseloom.web.terminal import ARROW, ROOT, draw_tree

SVG = "{http://www.w3.org/2000/svg}"
STYLE = Path(phraseloom.web.__file__).with_name("picture.css").read_text(encoding="utf-8")


def document(words: list[str], title: str = "") -> Document:
    """Each word hangs on the one before it."""
    tokens = [
        Token(word, 0, 1, "NN", max(i - 1, 0), "amod" if i else "root", word, word)
        for i, word in enumerate(words)
    ]
    return Document(" ".join(words), title, (Sentence(tuple(tokens)),))


class Tags(HTMLParser):
    """Collects the names of a page's elements and of their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}


@given(st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=5), st.text(max_size=8))
def test_svg_is_well_formed_and_holds_every_word(words: list[str], title: str) -> None:
    root = ElementTree.fromstring(document_svg(document(words, title)))
    shown = [element.text or "" for element in root.iter(f"{SVG}text")]
    shown = [text for text in shown if text not in {"NN", "amod", *RelationGroup}]
    legible = [ElementTree.fromstring(f"<t>{escape(word)}</t>").text or "" for word in words]
    assert shown == [word for word in legible if word not in {"NN", "amod", *RelationGroup}]


@given(st.lists(st.text("<>&\"'/scriptonx= \\", min_size=1), min_size=1, max_size=4))
def test_text_adds_no_element_and_no_attribute_to_the_page(words: list[str]) -> None:
    plain = Tags(document_html(document(["word"] * len(words), "title")))
    hostile = Tags(document_html(document(words, words[0])))
    assert hostile.tags == plain.tags
    assert hostile.attributes == plain.attributes


def test_a_script_in_the_text_is_shown_not_run() -> None:
    page = document_html(document(["<script>alert(1)</script>"], "</title><script>x</script>"))
    assert page.count("<script") == 1
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_braces_and_unpaired_surrogates_survive() -> None:
    page = document_html(document(["{title}", "\ud800", "\x00"]))
    assert "{title}" in page
    assert page.encode("utf-8").count("\ufffd".encode()) >= 2


def test_every_group_has_a_colour_for_light_and_for_dark() -> None:
    for group in RelationGroup:
        name = group.name.lower()
        colours = re.findall(rf"--{name}: (#\w+)", STYLE)
        assert len(colours) == 2
        assert f".{group_class(group)} {{ --colour: var(--{name}); }}" in STYLE
        assert _COLOURS[group] == colours[0]


def test_a_subtype_has_the_group_of_its_type_and_unknown_relations_one_too() -> None:
    assert group_of("nsubj:pass") is RelationGroup.SUBJECT
    assert group_of("no-such-relation") is RelationGroup.OTHER


def test_dot_has_a_node_a_word_and_an_edge_an_arc() -> None:
    source = document_dot(document(['say "hi"', "back\\slash", "plain"]))
    assert r'label="say \"hi\"\nNN"' in source
    assert r'label="back\\slash\nNN"' in source
    assert "s0w0 -> s0w1 [label" in source
    assert source.count("constraint=false") == 2


def test_lines_join_head_and_dependent() -> None:
    """``b`` governs its neighbours and the last word hangs on the first."""
    heads = [1, 1, 1, 0]
    tokens = [Token(w, 0, 1, "NN", h, "dep", w, w) for w, h in zip("abcd", heads, strict=True)]
    lines = [
        "".join(cell.character for cell in line) for line in draw_tree(Sentence(tuple(tokens)))
    ]
    assert lines == [f"╭┬{ARROW}", f"│├{ROOT}", f"│╰{ARROW}", f"╰─{ARROW}"]
