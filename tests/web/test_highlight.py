"""Marks lie exactly on the phrases, however they overlap, and text never turns into markup."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from phraseloom.text.document import Source
from phraseloom.text.phrases import Span
from phraseloom.web.highlight import LEVELS, Highlighted, cut, highlight_page, levels


@dataclass(frozen=True)
class Phrase:
    rank: int
    spans: Sequence[Span] = ()
    title_spans: Sequence[Span] = ()
    text: str = "phrase"
    score: float = 0.5
    label: str | None = None


@st.composite
def marked_texts(draw: st.DrawFn) -> tuple[str, list[list[Span]]]:
    text = draw(st.text("ab <&\"'>😀\n", max_size=20))
    place = st.integers(0, len(text))
    span = st.tuples(place, place).filter(lambda ends: ends[0] < ends[1])
    spans = st.lists(span, max_size=4) if text else st.just([])
    return text, draw(st.lists(spans, max_size=4))


@given(marked_texts())
def test_a_character_is_in_a_stretch_of_the_phrases_over_it(
    marked: tuple[str, list[list[Span]]],
) -> None:
    text, spans = marked
    stretches = cut(text, list(enumerate(spans, start=1)))
    assert "".join(stretch.text for stretch in stretches) == text
    ranks = [stretch.ranks for stretch in stretches for _ in stretch.text]
    for place in range(len(text)):
        over = [
            rank
            for rank, of_phrase in enumerate(spans, start=1)
            if any(start <= place < end for start, end in of_phrase)
        ]
        assert ranks[place] == tuple(over)


class Page(HTMLParser):
    """The elements of a page, its marked text and the text of its bodies."""

    def __init__(self, documents: Sequence[Highlighted]) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.names: list[str] = []
        self.marks: list[tuple[str, str]] = []
        self.body = ""
        self._ranks: str | None = None
        self._is_body = False
        self.feed("".join(highlight_page(documents)))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.tags.append(tag)
        self.names += sorted(values)
        self._is_body |= values.get("class") == "body"
        if tag == "mark":
            self._ranks = values["data-ranks"]

    def handle_endtag(self, tag: str) -> None:
        self._is_body &= tag != "div"
        self._ranks = None

    def handle_data(self, data: str) -> None:
        if self._ranks:
            self.marks.append((self._ranks, data))
        if self._is_body:
            self.body += data


@given(marked_texts())
def test_the_page_holds_the_text_and_its_marks(marked: tuple[str, list[list[Span]]]) -> None:
    text, spans = marked
    phrases = [Phrase(rank, of_phrase) for rank, of_phrase in enumerate(spans, start=1)]
    page = Page([Highlighted("name", Source(text), phrases)])
    stretches = cut(text, list(enumerate(spans, start=1)))
    assert page.body == text
    assert page.marks == [(" ".join(map(str, s.ranks)), s.text) for s in stretches if s.ranks]


@given(st.text("<>&\"'/scriptonx= \\", min_size=1, max_size=12))
def test_text_adds_no_element_and_no_attribute(text: str) -> None:
    def page(text: str) -> Page:
        phrase = Phrase(1, [(0, len(text))], [(0, len(text))], text)
        return Page([Highlighted(text, Source(text, text), [phrase])])

    hostile, plain = page(text), page("x")
    assert (hostile.tags, hostile.names) == (plain.tags, plain.names)


def test_every_phrase_of_the_list_can_be_jumped_to() -> None:
    phrases = [Phrase(1, [(2, 5), (7, 9)]), Phrase(2, [(2, 3)], [(0, 1)]), Phrase(3, [(7, 8)])]
    document = Highlighted("name", Source("0123456789", "T"), phrases)
    page = "".join(highlight_page([document, document]))
    links, anchors = re.findall(r'href="#(.+?)"', page), re.findall(r'<a id="(.+?)"', page)
    assert sorted(links) == sorted(anchors)
    assert len(set(anchors)) == len(anchors) == 6


def test_the_page_loads_nothing() -> None:
    page = "".join(highlight_page([Highlighted("name", Source("text"), [])]))
    assert "default-src 'none'" in page
    assert not re.search(r"(src|href)\s*=\s*[\"']?(http|//)|url\(|@import", page)
    assert "No keyphrases" in page


def test_better_phrases_are_marked_no_weaker() -> None:
    phrases = [Phrase(1, score=0.6), Phrase(2, score=0.3), Phrase(3, score=0.0001)]
    assert levels(phrases) == {1: LEVELS, 2: LEVELS // 2, 3: 1}
    assert levels([Phrase(1, score=0.0)]) == {1: 1}
