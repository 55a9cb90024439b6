"""Find the keyphrases of files, of directories full of them, of standard input, or of a text."""

import errno
import os
import sys
import warnings
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from itertools import chain, groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from phraseloom.cli import arguments
from phraseloom.cli.console import document_progress, say
from phraseloom.cli.formats import Format, Result, View, render
from phraseloom.cli.parts import Parts, write_parts
from phraseloom.errors import LanguageWarning, PhraseloomError, ReadingError
from phraseloom.io.atomic import remove_leftovers, write_text
from phraseloom.io.compressed import STANDARD_INPUT, display_name
from phraseloom.io.files import Input, find_inputs, has_rows, read_phrases
from phraseloom.io.records import SAID_PER_FILE, Record, read_records
from phraseloom.text.document import Source

if TYPE_CHECKING:
    from phraseloom.keyphrase import Keyphrase
    from phraseloom.options import Options

_FORMAT_OF = {
    ".txt": Format.text,
    ".json": Format.json,
    ".jsonl": Format.jsonl,
    ".csv": Format.csv,
    ".html": Format.html,
    ".parquet": Format.parquet,
}
_BATCH = 8
_NOTHING_CAN_BE_WRITTEN = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO}

Files = Annotated[
    list[Path] | None,
    typer.Argument(
        readable=False,
        help="text, .md, .html, .pdf, .docx, .jsonl, .csv, .parquet; directories; s3://..."
        " addresses; - for stdin",
    ),
]
FormatName = Annotated[
    Format | None,
    typer.Option("--format", help="default: by the name of --out, else table; json in folders"),
]
Highlight = Annotated[
    bool, typer.Option("--highlight", help="show the text with the phrases marked")
]
Column = Annotated[
    str | None, typer.Option(help="of the text in rows; default: text, abstract, body, content …")
]
Keep = Annotated[
    bool | None,
    typer.Option("--keep/--no-keep", help="repeat the other columns of rows; default: in parquet"),
]
Jobs = Annotated[
    int | None, typer.Option(min=1, help="processes at work; default: 1, in a cluster all cores")
]
Cluster = Annotated[
    str | None,
    typer.Option(metavar="[ADDRESS]", help="let Ray do it; without an address, on this machine"),
]
PartRows = Annotated[int, typer.Option(min=1, help="rows of each file of a parquet folder")]
Out = Annotated[
    Path | None,
    typer.Option(help="file to write; without a suffix a folder, with one result per input"),
]
Force = Annotated[bool, typer.Option("--force", help="do again what the folder has results of")]


def extract(
    files: Files = None,
    text: Annotated[str | None, typer.Option(help="a text itself, instead of files")] = None,
    model: arguments.Model = None,
    title: Annotated[str, typer.Option(help="title of the document, if it is one")] = "",
    top: arguments.Top = None,
    style: arguments.Style = None,
    candidates: arguments.Candidates = None,
    seeds: arguments.Seeds = None,
    diversity: arguments.Diversity = None,
    exclude: arguments.Exclude = None,
    min_words: arguments.MinWords = 1,
    max_words: arguments.MaxWords = None,
    min_score: arguments.MinScore = None,
    format_: FormatName = None,
    highlight: Highlight = False,
    column: Column = None,
    keep: Keep = None,
    jobs: Jobs = None,
    threads: arguments.Threads = 1,
    out: Out = None,
    force: Force = False,
    vocabulary: arguments.Vocabulary = None,
    cluster: Cluster = None,
    part_rows: PartRows = 1000,
) -> None:
    """Find the keyphrases of texts, best first."""
    from phraseloom.options import Options  # here: start-up time

    options = Options(
        top=top,
        style=style,
        candidates=None if candidates is None else read_phrases(candidates),
        seeds=arguments.expand_phrases(seeds),
        diversity=diversity,
        exclude=arguments.expand_phrases(exclude),
        min_words=min_words,
        max_words=max_words,
        min_score=min_score,
    )
    is_folder = out is not None and (os.path.isdir(out) or not out.suffix)
    chosen = format_ or _default_format(out, is_folder=is_folder, cluster=cluster)
    if highlight and chosen in {Format.csv, Format.parquet}:
        raise PhraseloomError(f"--highlight has no place in {chosen}; take table, text, json, html")
    work = _Work(model, options, jobs or 1, threads, vocabulary)
    run = _Run(work, text, title, column)
    run.find_inputs(files, out if is_folder or chosen is Format.parquet else None)
    if chosen is Format.parquet:
        run.into_dataset(out, Parts(keep is not False, part_rows, jobs, threads, cluster, force))
    elif cluster is not None:
        raise PhraseloomError("a cluster writes --format parquet; leave --cluster or --format out")
    else:
        run.write(out, View(chosen, run.is_many, highlight, bool(keep)), is_folder, force=force)
    if run.failures:
        raise typer.Exit(1)


class _Work(NamedTuple):
    """What to extract, and with what."""

    model: str | None
    options: "Options"
    jobs: int
    threads: int
    vocabulary: Path | None

    @contextmanager
    def with_vocabulary(self) -> Iterator[Path | str | None]:
        """The model, or one with the vocabulary in it: other processes load it from a directory."""
        if self.vocabulary is None:
            yield self.model
            return
        from phraseloom.extractor import Extractor  # here: start-up time

        with TemporaryDirectory() as folder:
            place = Path(folder, "model")
            extractor = Extractor.load(self.model, parser="conllu")  # nothing is parsed
            extractor.with_vocabulary(arguments.read_terms(self.vocabulary)).save_pretrained(place)
            yield place

    def extract(self, sources: Iterator[Source]) -> "Iterator[list[Keyphrase]]":
        from phraseloom.extractor import Extractor  # here: start-up time

        extractor = Extractor.load(self.model, threads=self.threads)
        if self.vocabulary is not None:
            extractor = extractor.with_vocabulary(arguments.read_terms(self.vocabulary))
        return extractor.extract_many(
            sources, self.options, batch_size=_BATCH, workers=self.jobs, progress=False
        )


class _Run:
    """One pass over some inputs, which counts what could not be read or written."""

    def __init__(self, work: _Work, text: str | None, title: str, column: str | None) -> None:
        self.failures = 0
        self._inputs: list[Input] = []
        self._work = work
        self._text = text
        self._title = title
        self._column = column

    @property
    def is_many(self) -> bool:
        """Whether there may be more than one document."""
        return len(self._inputs) > 1 or any(map(self._has_rows, self._inputs))

    def find_inputs(self, files: list[Path] | None, folder: Path | None) -> None:
        """Say what to read; results that an earlier run left in the folder are not."""
        if self._text is not None:
            if files:
                raise PhraseloomError("give --text or files, not both")
            self._inputs = [Input(Path("text"), Path("text"))]
            return
        if not files and sys.stdin is not None and sys.stdin.isatty():
            raise PhraseloomError(
                "nothing to read; name files, pipe a text, give --text, or see extract --help"
            )
        found = find_inputs(files or [STANDARD_INPUT])
        results = None if folder is None or folder.is_file() else os.path.realpath(folder)
        self._inputs = [file for file in found.files if not _is_below(file.path, results)]
        if found.ignored:
            kinds = Counter(file.suffix.lower() or "without suffix" for file in found.ignored)
            named = ", ".join(f"{times} {kind}" for kind, times in kinds.most_common(5))
            say(f"not read, as of other kinds: {named}")
        for problem in found.problems:
            self._report(problem)
        if not self._inputs and not self.failures:
            raise PhraseloomError("no files to read in there; name a file to have it read as text")
        if self._title and self.is_many:
            raise PhraseloomError("--title is for one document; give titles in the column 'title'")

    def write(self, out: Path | None, view: View, is_folder: bool, *, force: bool) -> None:
        """Write results where they are wanted."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LanguageWarning)  # said once per file, as it is read
            if out is None:
                self.into_stream(replace(view, width=_terminal_width()))
            elif is_folder:
                self.into_folder(out, view, force=force)
            else:
                self.into_file(out, view)

    def into_stream(self, view: View) -> None:
        """Write everything to standard output, each result as soon as it is there."""
        stream = sys.stdout  # held here: a progress bar takes the name for itself
        is_shown = view.width is None  # on a terminal the results themselves show progress
        for piece in render(self._all_results(is_shown=is_shown), view):
            stream.write(piece)
            stream.flush()

    def into_file(self, path: Path, view: View) -> None:
        """Write everything into one file, which appears when it is whole."""
        write_text(path, render(self._all_results(), view))
        say(f"wrote {path}")

    def into_folder(self, folder: Path, view: View, *, force: bool) -> None:
        """Write a file for each input; those that are there are left as they are.

        A batch that lacks one is searched whole: a run that was stopped goes on to the same bytes.
        """
        targets = self._targets(folder, view.format)
        is_missing = [force or not os.path.exists(path) for path in targets]
        batches = {index // _BATCH for index, missing in enumerate(is_missing) if missing}
        todo = [index for index in range(len(targets)) if index // _BATCH in batches]
        written = 0
        for index, group in groupby(self._results(todo), key=lambda numbered: numbered[0]):
            if not is_missing[index]:
                continue
            results = (result for _, result in group)
            is_many = self._has_rows(self._inputs[index])
            try:
                write_text(targets[index], render(results, replace(view, is_many=is_many)))
                written += 1
            except PhraseloomError as problem:
                cause = problem.__cause__
                if not isinstance(cause, OSError) or cause.errno in _NOTHING_CAN_BE_WRITTEN:
                    raise
                self._report(problem)
        say(f"wrote {written} files into {folder}")
        if done := is_missing.count(False):
            say(f"{done} were there already; --force writes them again")

    def into_dataset(self, out: Path | None, parts: Parts) -> None:
        """Write a folder of Parquet, and go on with one that was begun."""
        if out is None or self._text is not None or self._title:
            raise PhraseloomError("parquet is for files of rows: give files, --out, no --title")
        paths, work = [file.path for file in self._inputs], self._work
        if STANDARD_INPUT in paths:  # a run that was stopped reads its rows again
            raise PhraseloomError(
                "parquet is not made of standard input; write the rows to a file, such as"
                " rows.jsonl, and name it"
            )
        with work.with_vocabulary() as model:
            self.failures += write_parts(
                paths, out, work.options, parts, model=model, column=self._column
            )

    def _targets(self, folder: Path, format: Format) -> list[Path]:
        """Where the result of each input goes, in a folder that can be written to."""
        suffix = ".txt" if format in {Format.table, Format.text} else f".{format}"
        targets = [folder / file.below.with_name(file.below.name + suffix) for file in self._inputs]
        if twice := [path for path, times in Counter(targets).items() if times > 1]:
            raise PhraseloomError(
                f"two inputs would both be written to {twice[0]}; give each a folder of its own"
            )
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise PhraseloomError(f"cannot make folder {folder}: {error.strerror}") from None
        for parent in {path.parent for path in targets}:
            remove_leftovers(parent)
        return targets

    def _all_results(self, *, is_shown: bool = True) -> Iterator[Result]:
        everything = range(len(self._inputs))
        return (result for _, result in self._results(everything, is_shown=is_shown))

    def _results(
        self, todo: Sequence[int], *, is_shown: bool = True
    ) -> Iterator[tuple[int, Result]]:
        """Results in the order of the inputs, with a bar if someone is looking."""
        is_shown = is_shown and len(todo) > 1 and sys.stderr.isatty()
        bar: Any = document_progress("files") if is_shown else nullcontext(lambda done, total: None)
        with bar as on_progress:
            done = 0
            for index, result in self._extract(self._read(todo)):
                yield index, result
                while todo[done] != index:
                    done += 1
                on_progress(done, len(todo))
            on_progress(len(todo), len(todo))

    def _extract(self, records: Iterator[tuple[int, Record]]) -> Iterator[tuple[int, Result]]:
        """Phrases of each record, in order; the model is loaded when the first one is there."""
        first = next(records, None)
        if first is None:
            return
        waiting: deque[tuple[int, Record]] = deque()

        def sources() -> Iterator[Source]:
            for numbered in chain([first], records):
                waiting.append(numbered)
                yield numbered[1].source

        for phrases in self._work.extract(sources()):
            index, record = waiting.popleft()
            yield index, Result(record, phrases)

    def _read(self, todo: Iterable[int]) -> Iterator[tuple[int, Record]]:
        """The documents that can be read, with the index of their input; others are reported."""
        from phraseloom.text.language import language_problem  # here: start-up time

        for index in todo:
            is_warned, bad = False, 0
            for record in self._records(self._inputs[index]):
                if isinstance(record, ReadingError):
                    bad += 1
                    self._report(record, is_said=bad <= SAID_PER_FILE)
                    continue
                problem = None if is_warned else language_problem(record.source.text)
                if problem:
                    is_warned = True
                    say(f"phraseloom: {record.name}: {problem}")
                yield index, record
            if bad > SAID_PER_FILE:
                name = display_name(self._inputs[index].path)
                say(f"phraseloom: {name}: {bad - SAID_PER_FILE} more rows cannot be read")

    def _records(self, file: Input) -> Iterator[Record | ReadingError]:
        if self._text is not None:
            yield Record("text", None, "text", Source(self._text, self._title), {})
            return
        try:
            for record in read_records(file.path, column=self._column):
                if self._title and isinstance(record, Record):
                    record = record._replace(source=record.source._replace(title=self._title))
                yield record
        except ReadingError as problem:
            yield problem

    def _has_rows(self, file: Input) -> bool:
        return self._text is None and has_rows(file.path, self._column)

    def _report(self, problem: PhraseloomError, *, is_said: bool = True) -> None:
        self.failures += 1
        if is_said:
            say(f"phraseloom: {problem}")


def _is_below(path: Path, folder: str | None) -> bool:
    """Whether a file is in a folder, links followed; a loop of them is no error here."""
    return folder is not None and Path(os.path.realpath(path)).is_relative_to(folder)


def _default_format(out: Path | None, *, is_folder: bool, cluster: str | None) -> Format:
    if cluster is not None or (out is not None and out.suffix.lower() == ".parquet"):
        return Format.parquet
    if out is None:
        return Format.table
    if is_folder:
        return Format.json
    try:
        return _FORMAT_OF[out.suffix.lower()]
    except KeyError:
        known = ", ".join(_FORMAT_OF)
        raise PhraseloomError(f"cannot tell a format from {out}; end it in {known}") from None


def _terminal_width() -> int | None:
    from rich.console import Console  # here: start-up time

    console = Console()
    return console.width if console.is_terminal else None
