"""Parse a text, list its dependency arcs, and write a picture of them to graph.html."""

from pathlib import Path

from phraseloom import Source
from phraseloom.text.parsers import load_parser
from phraseloom.web.html_page import document_html

TEXT = "Graph networks read whole sentences. Each phrase they copy changes the graph."


def main() -> None:
    [document] = load_parser().parse_batch([Source(TEXT, title="Graph networks")])
    for sentence in document.sentences:
        for token in sentence.tokens:
            head = sentence.tokens[token.head].text
            print(f"{head:>12} --{token.relation}--> {token.text}")
    Path("graph.html").write_text(document_html(document), encoding="utf-8")


if __name__ == "__main__":
    main()
