"""Show how the keyphrases of a text were found, as a page that needs no server."""

from pathlib import Path
from typing import Annotated

import typer

from phraseloom.cli.progress import document_progress
from phraseloom.errors import PhraseloomError, ReadingError
from phraseloom.reading.files import STANDARD_INPUT, has_rows, read_file
from phraseloom.text.document import Source


def show(
    file: Annotated[
        Path, typer.Argument(help="text, .md, .html, .pdf or .docx; - for standard input")
    ],
    out: Annotated[Path, typer.Option(help="page to write, such as page.html")],
    model: Annotated[str | None, typer.Option(help="name or directory of a model")] = None,
    title: Annotated[str, typer.Option(help="title of the text, if it is known apart")] = "",
    style: Annotated[str | None, typer.Option(help="kind of annotator to imitate")] = None,
    most: Annotated[int, typer.Option(min=1, max=30, help="phrases that can be asked for")] = 15,
) -> None:
    """Write a page that shows a text's keyphrases and the graph from phrase to phrase."""
    if out.suffix.lower() not in {".html", ".htm"}:
        raise PhraseloomError(f"the page would be hard to open as {out}; end it in .html")
    source = _read(file, title)

    from phraseloom.extractor import Extractor  # here: --help loads neither torch nor a parser
    from phraseloom.web.saved import saved_page, search_for_page

    extractor = Extractor.load(model)
    with document_progress("numbers of phrases") as on_progress:
        found = search_for_page(extractor, source, style=style, most=most, on_progress=on_progress)
    _write(out, saved_page(found))
    typer.echo(f"wrote {out}", err=True)


def _read(file: Path, title: str) -> Source:
    if file.is_dir() or has_rows(file, None):
        raise PhraseloomError(f"{file} may hold many documents; show takes a file with one")
    [read] = read_file(file)
    if isinstance(read, ReadingError):
        raise read
    source = read.source._replace(title=title) if title else read.source
    if not f"{source.title}{source.text}".strip():
        name = "standard input" if file == STANDARD_INPUT else str(file)
        raise PhraseloomError(f"there is no text in {name}, so there is nothing to show")
    return source


def _write(path: Path, page: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page, encoding="utf-8")
    except OSError as error:
        raise PhraseloomError(f"cannot write {path}: {error.strerror}") from None
