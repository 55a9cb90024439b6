"""Draw the dependency graph of a text."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from phraseloom.cli.console import say
from phraseloom.errors import PhraseloomError
from phraseloom.io.atomic import write_text
from phraseloom.io.files import read_source
from phraseloom.text.words import printable

if TYPE_CHECKING:
    from rich.console import Console

    from phraseloom.text.document import Document, Sentence
    from phraseloom.web.relation_groups import RelationGroup


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
    document = _parse(file, title, parser)
    if not document.sentences:
        raise PhraseloomError(f"{file} holds no words, so there is nothing to draw")
    if len(document.sentences) > sentences:
        say(
            f"drawing the first {sentences} of {len(document.sentences)} sentences; "
            f"--sentences {len(document.sentences)} draws all"
        )
        document = replace(document, sentences=document.sentences[:sentences])
    if show or not pictures:
        _show(document)
    for path, draw in pictures:
        write_text(path, [draw(document)])
        say(f"wrote {path}")


def _drawing(path: Path) -> Callable[["Document"], str]:
    """What draws the kind of picture that a file name asks for."""
    from phraseloom.web.dot import document_dot
    from phraseloom.web.html_page import document_html
    from phraseloom.web.svg import document_svg

    drawings = {".html": document_html, ".svg": document_svg, ".dot": document_dot}
    try:
        return drawings[path.suffix.lower()]
    except KeyError:
        raise PhraseloomError(
            f"cannot tell the kind of picture from {path}; end it in .html, .svg or .dot"
        ) from None


def _parse(file: Path, title: str, parser: str) -> "Document":
    from phraseloom.text.parsers import load_parser  # here: start-up time

    source = read_source(file)
    source = source._replace(title=title) if title else source
    return load_parser(parser).parse_batch([source])[0]


def _show(document: "Document") -> None:
    """Draw a document in the terminal, a table for each sentence."""
    from rich.console import Console

    console = Console(highlight=False)
    for sentence in document.sentences:
        _show_sentence(console, sentence)


def _show_sentence(console: "Console", sentence: "Sentence") -> None:
    from rich.table import Table
    from rich.text import Text

    from phraseloom.web.relation_groups import group_of
    from phraseloom.web.terminal import draw_tree

    table = Table(box=None, show_header=False, padding=(0, 1, 0, 0))
    for i, (cells, token) in enumerate(zip(draw_tree(sentence), sentence.tokens, strict=True)):
        colour = _colour(group_of(token.relation))
        is_root = token.head == i
        head = "" if is_root else sentence.tokens[token.head].text
        table.add_row(
            Text.assemble(*((cell.character, _colour(cell.group)) for cell in cells)),
            Text(printable(token.text), "bold reverse" if is_root else "bold"),
            Text(printable(token.pos), "dim"),
            Text(printable(token.relation), "bold" if is_root else colour),
            Text(printable(head and f"of {head}"), "dim"),
        )
    console.print(table)
    console.print()


def _colour(group: "RelationGroup | None") -> str:
    """A terminal colour that reads well on dark and on light."""
    from phraseloom.web.relation_groups import RelationGroup

    colours = {
        RelationGroup.SUBJECT: "blue",
        RelationGroup.OBJECT: "red",
        RelationGroup.NOUN: "green",
        RelationGroup.PREPOSITION: "magenta",
        RelationGroup.ADVERB: "yellow",
        RelationGroup.CLAUSE: "bright_magenta",
        RelationGroup.COORDINATION: "cyan",
    }
    return colours.get(group, "bright_black") if group else "bright_black"
