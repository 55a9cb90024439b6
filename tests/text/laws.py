"""What holds for every parsed document, whoever parsed it; and texts that might break it."""

from hypothesis import strategies as st

from phraseloom.text.document import Document, Sentence
from phraseloom.text.words import DIGIT, as_word, stem

ODD_TEXTS = {
    "empty": "",
    "white space": " \t\n\r\n \u00a0\u2003 ",
    "one word": "Graphs",
    "emoji": "We \U0001f600 love 👨\u200d👩\u200d👧\u200d👦 and 🇩🇪 in e\u0301tude\u0300s 👍🏽.",
    "right to left": "שלום עולם. זה מבחן קצר. مرحبا بالعالم، هذا اختبار.",
    "NUL bytes": "a\x00b \x00\x00 graph\x00theory. \x00",
    "lone surrogates": "graph \ud800theory\udfff. \udcff",
    "combining characters": "a" + "\u0301" * 500 + " n\u0303 \u0301",
    "long word": "y" * 30_000,
    "long word of digits": "<digit>" * 3_000,
    "brackets": "(" * 300 + "x" + ")" * 300,
    "line ends": "one\r\ntwo\x85three\u2028four\u2029five\x1csix",
}


def texts(*, max_size: int = 80) -> st.SearchStrategy[str]:
    """Any Unicode at all, lone surrogates too, mixed with what our code looks for."""
    known = st.sampled_from([DIGIT, "-", "/", " ", "\n\n", ". ", "The graphs", "it's", "3.5", "%"])
    anything = st.text(st.characters(codec=None), max_size=6)
    return st.lists(known | anything, max_size=max_size // 4).map("".join)


def check_document(document: Document) -> None:
    """Assert every law of a document."""
    is_body = [not sentence.in_title for sentence in document.sentences]
    assert is_body == sorted(is_body), "the title's sentences come first"
    reached = {True: 0, False: 0}
    for sentence in document.sentences:
        string = document.title if sentence.in_title else document.text
        for token in sentence.tokens:
            assert string[token.start : token.end] == token.text
            assert token.text.split() == [token.text]
            assert reached[sentence.in_title] <= token.start < token.end
            reached[sentence.in_title] = token.end
            assert token.word == as_word(token.text)
            assert token.stem == stem(token.word) != ""
            assert token.pos
            assert token.relation == token.relation.lower() != ""
        check_trees(sentence)
    for string, in_title in ((document.title, True), (document.text, False)):
        sentences = [s for s in document.sentences if s.in_title == in_title]
        digits = sum(token.text == DIGIT for s in sentences for token in s.tokens)
        assert digits == string.count(DIGIT), "each <digit> is a token"


def check_trees(sentence: Sentence) -> None:
    """Assert that a sentence has tokens, heads inside it, a root, and no circle."""
    heads = [token.head for token in sentence.tokens]
    assert heads
    for place, token in enumerate(sentence.tokens):
        assert (token.relation == "root") == (token.head == place)
        steps = 0
        while heads[place] != place:
            assert 0 <= heads[place] < len(heads)
            place = heads[place]
            steps += 1
            assert steps < len(heads), "the heads go round in a circle"
