"""Mark the keyphrases of a text: with brackets on the screen, and on a page, highlighted.html."""

from pathlib import Path

from phraseloom import Extractor, Source
from phraseloom.web.highlight import Highlighted, highlight_page

TEXT = Path(__file__).with_name("abstract.txt")


def bracketed(text: str, spans: list[tuple[int, int]]) -> str:
    """The text with brackets around spans; of two that overlap, the first."""
    pieces, end = [], 0
    for start, stop in sorted(spans):
        if start >= end:
            pieces += [text[end:start], f"[{text[start:stop]}]"]
            end = stop
    return "".join([*pieces, text[end:]])


def main() -> None:
    source = Source(TEXT.read_text(encoding="utf-8"))
    phrases = Extractor.load().extract(source.text, top=6)
    print(bracketed(source.text, [span for phrase in phrases for span in phrase.spans]))
    page = highlight_page([Highlighted(TEXT.name, source, phrases)])
    Path("highlighted.html").write_text("".join(page), encoding="utf-8")


if __name__ == "__main__":
    main()
