"""Show how the keyphrases of a text were found, as a page that needs no server."""

from pathlib import Path
from typing import Annotated

import typer

from phraseloom.cli import arguments
from phraseloom.cli.console import document_progress, say
from phraseloom.errors import PhraseloomError
from phraseloom.io.atomic import write_text
from phraseloom.io.compressed import display_name
from phraseloom.io.files import read_phrases, read_source
from phraseloom.text.document import Source


def show(
    file: Annotated[
        Path, typer.Argument(help="text, .md, .html, .pdf or .docx; - for standard input")
    ],
    out: Annotated[Path, typer.Option(help="page to write, such as page.html")],
    model: arguments.Model = None,
    title: Annotated[str, typer.Option(help="title of the text, if it is known apart")] = "",
    style: arguments.Style = None,
    candidates: arguments.Candidates = None,
    seeds: arguments.Seeds = None,
    diversity: arguments.Diversity = None,
    exclude: arguments.Exclude = None,
    min_words: arguments.MinWords = 1,
    max_words: arguments.MaxWords = None,
    min_score: arguments.MinScore = None,
    most: Annotated[int, typer.Option(min=1, max=30, help="phrases that can be asked for")] = 15,
) -> None:
    """Write a page that shows a text's keyphrases and the graph from phrase to phrase."""
    if out.suffix.lower() not in {".html", ".htm"}:
        raise PhraseloomError(f"the page would be hard to open as {out}; end it in .html")
    source = _read(file, title)

    from phraseloom.extractor import Extractor  # here: start-up time
    from phraseloom.options import Options
    from phraseloom.web.saved import saved_page, search_for_page

    options = Options(
        style=style,
        candidates=None if candidates is None else read_phrases(candidates),
        seeds=arguments.expand_phrases(seeds),
        diversity=diversity,
        exclude=arguments.expand_phrases(exclude),
        min_words=min_words,
        max_words=max_words,
        min_score=min_score,
    )
    extractor = Extractor.load(model)
    with document_progress("numbers of phrases") as on_progress:
        search = search_for_page(extractor, source, options, most=most, on_progress=on_progress)
    write_text(out, [saved_page(search)])
    say(f"wrote {out}")


def _read(file: Path, title: str) -> Source:
    source = read_source(file)
    source = source._replace(title=title) if title else source
    if not f"{source.title}{source.text}".strip():
        raise PhraseloomError(f"there is no text in {display_name(file)}, so nothing to show")
    return source
