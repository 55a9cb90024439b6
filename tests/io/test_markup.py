"""Of Markdown and web pages the words come out in order, in time that grows with their length."""

import pytest

from phraseloom.errors import ReadingError
from phraseloom.io import markup
from phraseloom.io.markup import html_source, markdown_source
from phraseloom.text.document import Source


def test_markdown_loses_its_marks_and_keeps_its_words() -> None:
    text = (
        "---\nauthor: nobody\n---\n# Sparse *graphs*\n\nSee [the **paper**](http://x.example),\n"
        "`spmm` &amp; more.\n\n```python\nimport secret\n```\n\n- one\n- two\n\n<div>boxed</div>\n"
    )
    expected = "Sparse graphs\n\nSee the paper, spmm & more.\n\none\n\ntwo\n\nboxed"
    assert markdown_source(text, "a.md") == Source(expected)


def test_a_web_page_gives_its_title_and_what_it_shows() -> None:
    page = (
        "<!doctype html><html><head><title>On\n graphs</title><style>p {}</style></head><body>"
        "<script>let hidden</script><h1>Graphs</h1><p>Some <b>bold</b>er\n  text &lt;here&gt;.<p>"
        "Next<br/>line<svg><title>icon</title><a>x</a></svg> seen<!-- unseen --></body></html>"
    )
    shown = "Graphs\n\nSome bolder text <here>.\n\nNext\n\nline seen"
    assert html_source(page, "a.html") == Source(shown, "On graphs")


def test_what_is_inside_a_hidden_element_is_hidden_whatever_it_is() -> None:
    page = "<p>a<template><p>b<svg>c</svg>d</template>e<math><mi>f</math>g"
    assert html_source(page, "a.html") == Source("aeg")


def test_a_page_without_the_end_of_its_head_is_read() -> None:
    page = "<html><head><title>T</title><meta charset=utf-8><body>Text"
    assert html_source(page, "a.htm") == Source("Text", "T")


def test_a_charset_in_the_page_does_not_decode_it_again() -> None:
    page = '<meta charset="latin1"><p>naïve 😀 \u2028 図'
    assert html_source(page, "a.html").text == "naïve 😀 \u2028 図"


def test_any_text_is_no_error() -> None:
    for page in ("", " ", "<", "&", "<!", "no tag", "\0\0", "a\0b", "]]>", "\ufffe", "<p \x1b>x"):
        html_source(page, "a.html")


PARTS = ["<a ", "<!--", "<?", "</", "<![", "&", "&#", "<a href='", "<p>", "<li>", "<a>", "</p>"]


@pytest.mark.parametrize("part", PARTS)
def test_what_is_repeated_takes_no_time_of_its_square(part: str) -> None:
    """With the square it would take minutes; nothing here looks at a clock."""
    source = html_source("<p>first</p>" + part * (600_000 // len(part)), "a.html")
    assert source.text.startswith("first")


@pytest.mark.parametrize("part", ["<svg>", "<div>", "<b>", "<div></p>", "<table>x", "<i a=1>"])
def test_what_is_too_deep_is_refused(part: str) -> None:
    with pytest.raises(ReadingError, match=r"a.html has more than 1,000 elements inside each"):
        html_source(part * 100_000, "a.html")


def test_ends_without_beginnings_are_looked_for_in_bounds() -> None:
    page = "<div>" * 900 + "</p>" * 100_000 + "last"
    assert html_source(page, "a.html").text == "last"


def test_too_many_elements_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(markup, "MAX_ELEMENTS", 1_000)
    assert html_source("<p>x</p>" * 900, "a.html").text.count("x") == 900
    for read in (html_source, markdown_source):
        with pytest.raises(ReadingError, match="a.html has more than 1,000 elements; split it"):
            read("<p>x</p>" * 1_001, "a.html")
