"""Find the keyphrases of files, of directories full of them, or of standard input."""

import logging
import os
import sys
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

import typer

from phraseloom.cli.extracting import Item, Request, Result, extract_stream
from phraseloom.cli.progress import document_progress
from phraseloom.cli.results import Format, View, render
from phraseloom.errors import LanguageWarning, PhraseloomError, ReadingError
from phraseloom.reading.files import STANDARD_INPUT, Input, find_inputs, has_rows, read_file
from phraseloom.reading.named import Named, decode

_OF_SUFFIX = {
    ".txt": Format.text,
    ".json": Format.json,
    ".jsonl": Format.jsonl,
    ".csv": Format.csv,
    ".html": Format.html,
}

Diversity = Annotated[
    float | None, typer.Option(min=0, max=1, help="0: best, however alike; 1: as unlike as can be")
]
Seeds = Annotated[
    list[str] | None, typer.Option("--seed", metavar="PHRASE", help="steer towards it; repeatable")
]
Candidates = Annotated[
    Path | None, typer.Option(help="file with the only phrases that may be found, one a line")
]


def extract(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            help="text, .md, .html, .pdf, .docx, .jsonl, .csv; directories; - for stdin"
        ),
    ] = None,
    model: Annotated[str | None, typer.Option(help="name or directory of a model")] = None,
    title: Annotated[str, typer.Option(help="title of the document, if it is one")] = "",
    top: Annotated[int | None, typer.Option(min=1, help="exactly so many phrases each")] = None,
    style: Annotated[str | None, typer.Option(help="kind of annotator to imitate")] = None,
    diversity: Diversity = None,
    seeds: Seeds = None,
    candidates: Candidates = None,
    format_: Annotated[
        Format | None,
        typer.Option("--format", help="default: by the name of --out, else table; json in folders"),
    ] = None,
    highlight: Annotated[
        bool, typer.Option("--highlight", help="show the text with the phrases marked")
    ] = False,
    column: Annotated[
        str | None, typer.Option(help="of the text in .jsonl and .csv; default: text or abstract")
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="processes at work")] = 1,
    out: Annotated[
        Path | None,
        typer.Option(help="file to write; without a suffix a folder, with one result per input"),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="do again what the folder has results of")
    ] = False,
) -> None:
    """Find the keyphrases of texts, best first."""
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # what it cannot read we say ourselves
    is_folder = out is not None and (out.is_dir() or not out.suffix)
    chosen = format_ or _default_format(out, is_folder)
    if highlight and chosen is Format.csv:
        raise PhraseloomError("--highlight has no place in CSV; take table, text, json or html")
    inputs = _find_inputs(files, out if is_folder else None)
    is_many = len(inputs) > 1 or any(has_rows(each.path, column) for each in inputs)
    if title and is_many:
        raise PhraseloomError("--title is for one document; give titles in the column 'title'")
    only = None if candidates is None else _read_phrases(candidates)
    request = Request(model, top, style, only, tuple(seeds or ()), diversity)
    run = _Run(inputs, request, column, title, jobs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LanguageWarning)  # said once per file, by the run
        if out is not None and is_folder:
            run.into_folder(out, View(chosen, False, highlight), force=force)
        elif out is not None:
            run.into_file(out, View(chosen, is_many, highlight))
        else:
            run.into_stream(View(chosen, is_many, highlight, _terminal_width()))
    if run.failures:
        raise typer.Exit(1)


class _Run:
    """One pass over some inputs, which counts what could not be read."""

    def __init__(
        self, inputs: list[Input], request: Request, column: str | None, title: str, jobs: int
    ) -> None:
        self.inputs = inputs
        self.failures = 0
        self._request = request
        self._column = column
        self._title = title
        self._jobs = jobs

    def into_stream(self, view: View) -> None:
        """Write everything to standard output, each result as soon as it is there."""
        stream = sys.stdout  # held here: a progress bar takes the name for itself
        is_shown = view.width is None  # on a terminal the results themselves show progress
        for piece in render(self._results(range(len(self.inputs)), is_shown=is_shown), view):
            stream.write(piece)
            stream.flush()

    def into_file(self, path: Path, view: View) -> None:
        """Write everything into one file, which appears when it is whole."""
        _write(path, render(self._results(range(len(self.inputs))), view))
        typer.echo(f"wrote {path}", err=True)

    def into_folder(self, folder: Path, view: View, *, force: bool) -> None:
        """Write a file for each input; those that are there are left as they are."""
        suffix = ".txt" if view.format in {Format.table, Format.text} else f".{view.format}"
        targets = [folder / each.below.with_name(each.below.name + suffix) for each in self.inputs]
        if twice := [path for path, times in Counter(targets).items() if times > 1]:
            raise PhraseloomError(
                f"two inputs would both be written to {twice[0]}; give each a folder of its own"
            )
        todo = [place for place, path in enumerate(targets) if force or not path.exists()]
        written = 0
        for place, group in groupby(self._results(todo), key=lambda result: result.item.place):
            is_many = has_rows(self.inputs[place].path, self._column)
            _write(targets[place], render(group, View(view.format, is_many, view.highlight)))
            written += 1
        typer.echo(f"wrote {written} files into {folder}", err=True)
        if done := len(targets) - len(todo):
            typer.echo(f"{done} were there already; --force writes them again", err=True)

    def _results(self, places: Iterable[int], *, is_shown: bool = True) -> Iterator[Result]:
        """Results in the order of the inputs, with a bar if someone is looking."""
        todo = list(places)
        is_shown = is_shown and len(todo) > 1 and sys.stderr.isatty()
        bar: Any = document_progress("files") if is_shown else nullcontext(lambda done, total: None)
        with bar as on_progress:
            done = 0
            for result in extract_stream(self._read(todo), self._request, self._jobs):
                yield result
                while todo[done] != result.item.place:
                    done += 1
                on_progress(done, len(todo))
            on_progress(len(todo), len(todo))

    def _read(self, places: Iterable[int]) -> Iterator[Item]:
        """The documents that can be read; the others are reported."""
        from phraseloom.text.language import language_problem  # here: start-up time

        for place in places:
            is_warned = False
            for read in read_file(self.inputs[place].path, self._column):
                if isinstance(read, ReadingError):
                    self.failures += 1
                    # not echo, which would write over the bar instead of above it
                    print(f"phraseloom: {read}", file=sys.stderr)
                    continue
                problem = None if is_warned else language_problem(read.source.text)
                if problem:
                    is_warned = True
                    print(f"phraseloom: {read.name}: {problem}", file=sys.stderr)
                source = read.source._replace(title=self._title) if self._title else read.source
                yield Item(place, Named(read.name, source))


def _find_inputs(files: list[Path] | None, folder: Path | None) -> list[Input]:
    """What to read; results that an earlier run left in the folder are not."""
    if not files and sys.stdin.isatty():
        raise PhraseloomError("nothing to read; name files or pipe a text, or see extract --help")
    found = find_inputs(files or [STANDARD_INPUT])
    kept = found.files
    if folder is not None:
        results = folder.resolve()
        kept = [each for each in kept if not each.path.resolve().is_relative_to(results)]
    if found.ignored:
        kinds = Counter(file.suffix.lower() or "without suffix" for file in found.ignored)
        named = ", ".join(f"{times} {kind}" for kind, times in kinds.most_common(5))
        typer.echo(f"not read, as of other kinds: {named}", err=True)
    if not kept:
        raise PhraseloomError("no files to read in there; name a file to have it read as text")
    return kept


def _read_phrases(path: Path) -> tuple[str, ...]:
    """The lines of a file that are not blank."""
    try:
        lines = decode(path.read_bytes(), str(path)).splitlines()
    except OSError as error:
        raise ReadingError(f"cannot read {path}: {error.strerror}") from None
    phrases = tuple(line.strip() for line in lines if line.strip())
    if not phrases:
        raise ReadingError(f"no phrases in {path}; write one a line")
    return phrases


def _default_format(out: Path | None, is_folder: bool) -> Format:
    if out is None:
        return Format.table
    if is_folder:
        return Format.json
    try:
        return _OF_SUFFIX[out.suffix.lower()]
    except KeyError:
        known = ", ".join(_OF_SUFFIX)
        raise PhraseloomError(f"cannot tell a format from {out}; end it in {known}") from None


def _terminal_width() -> int | None:
    from rich.console import Console  # here: start-up time

    console = Console()
    return console.width if console.is_terminal else None


def _write(path: Path, pieces: Iterable[str]) -> None:
    """Write a file beside its place and put it there when it is whole."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with unfinished.open("w", encoding="utf-8", errors="replace", newline="\n") as file:
                file.writelines(pieces)
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)
    except OSError as error:
        raise PhraseloomError(f"cannot write {path}: {error.strerror}") from None
