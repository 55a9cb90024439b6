"""Draw the dependency graph of a text."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from phraseloom.cli.reading import read_text
from phraseloom.errors import PhraseloomError

if TYPE_CHECKING:
    from rich.console import Console

    from phraseloom.draw.families import Family
    from phraseloom.text.document import Document, Sentence


def graph(
    file: Annotated[Path, typer.Argument(help="text file, UTF-8; - for standard input")],
    out: Annotated[
        list[Path] | None,
        typer.Option(help="picture to write: .html, .svg or .dot; may be given several times"),
    ] = None,
    title: Annotated[str, typer.Option(help="title of the text, parsed apart from it")] = "",
    parser: Annotated[str, typer.Option(help="spacy, stanza or conllu")] = "spacy",
    sentences: Annotated[int, typer.Option(min=1, help="sentences drawn, at most")] = 100,
    show: Annotated[bool, typer.Option("--show", help="draw in the terminal too")] = False,
) -> None:
    """Draw the dependency graph of a text: in the terminal, or into files with --out."""
    pictures = [(path, _drawing(path)) for path in out or []]
    document = _parse(read_text(file), title, parser)
    if not document.sentences:
        raise PhraseloomError(f"{file} holds no words, so there is nothing to draw")
    if len(document.sentences) > sentences:
        typer.echo(
            f"drawing the first {sentences} of {len(document.sentences)} sentences; "
            f"--sentences {len(document.sentences)} draws all",
            err=True,
        )
        document = replace(document, sentences=document.sentences[:sentences])
    if show or not pictures:
        _show(document)
    for path, draw in pictures:
        _write(path, draw(document))
        typer.echo(f"wrote {path}", err=True)


def _drawing(path: Path) -> Callable[["Document"], str]:
    """What draws the kind of picture that a file name asks for."""
    from phraseloom.draw.dot import document_dot
    from phraseloom.draw.html import document_html
    from phraseloom.draw.svg import document_svg

    drawings = {".html": document_html, ".svg": document_svg, ".dot": document_dot}
    try:
        return drawings[path.suffix.lower()]
    except KeyError:
        raise PhraseloomError(
            f"cannot tell the kind of picture from {path}; end it in .html, .svg or .dot"
        ) from None


def _parse(text: str, title: str, parser: str) -> "Document":
    from phraseloom.text.document import Source  # here: --help loads no parser
    from phraseloom.text.parse import load_parser

    return load_parser(parser).parse_batch([Source(text, title)])[0]


def _write(path: Path, picture: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(picture, encoding="utf-8", errors="replace")
    except OSError as error:
        raise PhraseloomError(f"cannot write {path}: {error.strerror}") from None


def _show(document: "Document") -> None:
    """Draw a document in the terminal, a table for each sentence."""
    from rich.console import Console

    console = Console(highlight=False)
    for sentence in document.sentences:
        _show_sentence(console, sentence)


def _show_sentence(console: "Console", sentence: "Sentence") -> None:
    from rich.table import Table
    from rich.text import Text

    from phraseloom.draw.boxes import draw_boxes
    from phraseloom.draw.families import family_of

    table = Table(box=None, show_header=False, padding=(0, 1, 0, 0))
    for i, (cells, token) in enumerate(zip(draw_boxes(sentence), sentence.tokens, strict=True)):
        colour = _colour(family_of(token.relation))
        is_root = token.head == i
        head = "" if is_root else sentence.tokens[token.head].text
        table.add_row(
            Text.assemble(*((cell.character, _colour(cell.family)) for cell in cells)),
            Text(token.text, "bold reverse" if is_root else "bold"),
            Text(token.pos, "dim"),
            Text(token.relation, "bold" if is_root else colour),
            Text(head and f"of {head}", "dim"),
        )
    console.print(table)
    console.print()


def _colour(family: "Family | None") -> str:
    """A terminal colour that reads well on dark and on light."""
    from phraseloom.draw.families import Family

    colours = {
        Family.SUBJECT: "blue",
        Family.OBJECT: "red",
        Family.NOUN: "green",
        Family.PREPOSITION: "magenta",
        Family.ADVERB: "yellow",
        Family.CLAUSE: "bright_magenta",
        Family.COORDINATION: "cyan",
    }
    return colours.get(family, "bright_black") if family else "bright_black"
