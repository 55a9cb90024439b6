"""Phrases are found where a loop over all windows finds them."""

from hypothesis import given
from hypothesis import strategies as st

from phraseloom.text.document import Document, Sentence, Source, Token
from phraseloom.text.parsers import Parser
from phraseloom.text.phrases import Occurrences, SpanIndex
from phraseloom.text.words import stem, stem_phrase

WORDS = ["graph", "Graphs", "GRAPH", "theory", "of"]


def build(title: list[list[str]], body: list[list[str]]) -> Document:
    """A document of these sentences, its words two spaces apart."""
    strings, sentences = [], []
    for part, in_title in ((title, True), (body, False)):
        string = ""
        for words in part:
            tokens: list[Token] = []
            for word in words:
                start = len(string)
                string += f"{word}  "
                end = start + len(word)
                tokens.append(
                    Token(word, start, end, "NN", len(tokens), "root", word.lower(), stem(word))
                )
            sentences.append(Sentence(tuple(tokens), in_title))
        strings.append(string)
    return Document(strings[1], strings[0], tuple(sentences))


def naive_spans(document: Document, stems: list[str], *, in_title: bool) -> list[tuple[int, int]]:
    spans = []
    for sentence in document.sentences:
        for i in range(len(sentence.tokens) - len(stems) + 1):
            window = sentence.tokens[i : i + len(stems)]
            if sentence.in_title == in_title and [token.stem for token in window] == stems:
                spans.append((window[0].start, window[-1].end))
    return spans


parts = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6), max_size=3)


@given(parts, parts, st.lists(st.sampled_from(WORDS).map(stem), min_size=1, max_size=3))
def test_equals_a_loop_over_all_windows(
    title: list[list[str]], body: list[list[str]], stems: list[str]
) -> None:
    document = build(title, body)
    found = SpanIndex(document).find(stems)

    assert list(found.spans) == naive_spans(document, stems, in_title=False)
    assert list(found.title_spans) == naive_spans(document, stems, in_title=True)
    written = [document.title[a:b] for a, b in found.title_spans]
    written += [document.text[a:b] for a, b in found.spans]
    written = [" ".join(surface.split()) for surface in written]
    assert found.text == max(written, key=written.count, default="")


def test_no_phrase_crosses_a_sentence_and_nothing_is_nowhere() -> None:
    index = SpanIndex(build([["graph"]], [["theory"], ["of"]]))

    for stems in ([], [""], ["graph", "theori"], ["theori", "", "of"], ["tree"]):
        assert index.find(stems) == Occurrences("", (), ())


def test_in_parsed_text(spacy_parser: Parser) -> None:
    text = "Object-oriented  graphs: an object\noriented graph. \U0001f600 Object oriented graphs!"
    [document] = spacy_parser.parse_batch([Source(text, "Object-Oriented Graphs")])
    found = SpanIndex(document).find(stem_phrase("object oriented graphs"))

    assert [text[start:end] for start, end in found.spans] == [
        "Object-oriented  graphs",
        "object\noriented graph",
        "Object oriented graphs",
    ]
    assert found.title_spans == ((0, 22),)
    assert found.text == "Object-Oriented Graphs"  # four ways, once each: the first
