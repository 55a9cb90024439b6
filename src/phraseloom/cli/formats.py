"""Documents with their keyphrases in the formats that ``phraseloom extract`` writes."""

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from phraseloom.cli.console import say
from phraseloom.io.records import Record
from phraseloom.text.words import escape_controls, printable, replace_surrogates

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from phraseloom.keyphrase import Keyphrase
    from phraseloom.web.highlight import Highlighted

_MARK_STYLES = {1: "yellow", 2: "bold yellow", 3: "black on yellow", 4: "bold black on yellow"}
_CSV_COLUMNS = ("file", "row", "id", "rank", "text", "score", "start", "end", "label")
_FORMULA = re.compile(r"[=+\-@\t\r\n＝＋－＠]")  # what a spreadsheet takes for the start of one
_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)*(?:[eE][+-]?\d+)?")


class Format(StrEnum):
    """How results are written."""

    table = "table"
    text = "text"
    json = "json"
    jsonl = "jsonl"
    csv = "csv"
    html = "html"
    parquet = "parquet"


class Result(NamedTuple):
    """A document and its phrases, best first."""

    record: Record
    phrases: "list[Keyphrase]"


@dataclass(frozen=True)
class View:
    """How to show results.

    Attributes:
        format: of the whole.
        is_many: there may be several documents, so each says its name.
        highlight: show the text too, with the phrases marked.
        keep: repeat the other columns of a row.
        width: of the terminal, in characters; None if the results go elsewhere, without colours.
    """

    format: Format
    is_many: bool
    highlight: bool
    keep: bool
    width: int | None = None


def render(results: Iterable[Result], view: View) -> Iterator[str]:
    """The results as text, piece by piece as they come."""
    if view.format is Format.html:
        from phraseloom.web.highlight import highlight_page  # here: start-up time

        pieces = highlight_page(map(_highlighted, results))
        return pieces if view.width is None else map(printable, pieces)
    renderers = {
        Format.table: _tables,
        Format.text: _lines,
        Format.json: _json,
        Format.jsonl: _json_lines,
        Format.csv: _csv,
    }
    return renderers[view.format](results, view)


def _json(results: Iterable[Result], view: View) -> Iterator[str]:
    if not view.is_many:
        for result in results:
            yield _phrase_a_line(_fields(result, view), view)
        return
    before = "[\n"
    for result in results:
        yield before + _shown(_fields(result, view), view)
        before = ",\n"
    yield "[]\n" if before == "[\n" else "\n]\n"


def _phrase_a_line(fields: dict[str, Any], view: View) -> str:
    """An object laid out for people: its phrases stand one below the other."""
    lines = [f" {_shown(phrase, view)}" for phrase in fields.pop("phrases")]
    start = _shown(fields, view).removesuffix("}")
    return start + ', "phrases": [\n' + ",\n".join(lines) + "\n]}\n"


def _json_lines(results: Iterable[Result], view: View) -> Iterator[str]:
    for result in results:
        yield _shown(_fields(result, view), view) + "\n"


def _shown(value: object, view: View) -> str:
    return _dump(value) if view.width is None else escape_controls(_dump(value))


def _dump(value: object) -> str:
    return replace_surrogates(json.dumps(value, ensure_ascii=False, default=str))  # dates


def _fields(result: Result, view: View) -> dict[str, Any]:
    """A result as JSON has it; ``phrases`` come last."""
    record = result.record
    fields: dict[str, Any] = {"source": record.name}
    if record.row is not None:
        fields["row"] = record.row
    if record.columns.get("id") is not None:
        fields["id"] = record.columns["id"]
    if view.keep:
        fields["columns"] = _other_columns(record)
    if view.highlight:
        fields |= {"title": record.source.title, "text": record.source.text}
    fields["phrases"] = [
        {
            "text": phrase.text,
            "score": phrase.score,
            "rank": phrase.rank,
            "stems": phrase.stems,
            "spans": phrase.spans,
            "title_spans": phrase.title_spans,
            **({"label": phrase.label} if phrase.label is not None else {}),
        }
        for phrase in result.phrases
    ]
    return fields


def _other_columns(record: Record) -> dict[str, Any]:
    """Columns of a row but for its id and what was read as title and text."""
    return {
        name: value
        for name, value in record.columns.items()
        if name != "id" and value not in (record.source.text, record.source.title)
    }


def _csv(results: Iterable[Result], view: View) -> Iterator[str]:
    kept: list[str] | None = None
    dropped: set[str] = set()
    for result in results:
        record = result.record
        others = _other_columns(record) if view.keep else {}
        if kept is None:
            kept = list(others)
            names = [f"row_{name}" if name in _CSV_COLUMNS else name for name in kept]
            header = _csv_row([*_CSV_COLUMNS, *names])
            yield header if view.width is None else printable(header)
        if new := others.keys() - {*kept, *dropped}:
            dropped |= new
            say(f"left out of CSV, as the first row has none: {', '.join(sorted(new))}; take jsonl")
        id = record.columns.get("id")
        for phrase in result.phrases:
            first = phrase.spans[0] if phrase.spans else (None, None)
            place = (phrase.rank, phrase.text, phrase.score, *first, phrase.label)
            cells = [record.name, record.row, id, *place, *(others.get(name) for name in kept)]
            line = _csv_row(cells)
            yield line if view.width is None else printable(line)  # a file keeps what a row has
    if kept is None:
        yield _csv_row(_CSV_COLUMNS)


def _csv_row(cells: Iterable[object]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\r\n").writerow(map(_csv_cell, cells))  # so \r is quoted
    return replace_surrogates(line.getvalue()).removesuffix("\r\n") + "\n"


def _csv_cell(value: object) -> str:
    """A cell that no spreadsheet runs as a formula: a quote goes before it, as OWASP advises."""
    text = value if isinstance(value, str) else "" if value is None else _dump(value)
    is_formula = _FORMULA.match(text) is not None and _NUMBER.fullmatch(text) is None
    return f"'{text}" if is_formula else text


def _lines(results: Iterable[Result], view: View) -> Iterator[str]:
    for result in results:
        name = printable(result.record.name)
        if view.highlight:
            heading = f"== {name}\n\n" if view.is_many else ""
            yield heading + _marked_text(_highlighted(result), view.width)
            continue
        start = f"{name}\t" if view.is_many else ""
        for phrase in result.phrases:
            label = "" if phrase.label is None else f"\t{phrase.label}"
            yield f"{start}{printable(phrase.text + label)}\n"


def _tables(results: Iterable[Result], view: View) -> Iterator[str]:
    from rich.text import Text  # here: start-up time

    for result in results:
        name = _rich(Text(printable(result.record.name), "bold"), view.width)
        text = _marked_text(_highlighted(result), view.width) if view.highlight else ""
        phrases = _table(result) if result.phrases else Text("no keyphrases", "dim")
        yield "".join(
            [
                name if view.is_many else "",
                text and f"{text}\n",
                _rich(phrases, view.width),
                "\n" if view.is_many else "",
            ]
        )


def _table(result: Result) -> "Table":
    from rich.box import SIMPLE_HEAD  # here: start-up time
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="dim")
    table.add_column("#", justify="right", style="dim")
    table.add_column("keyphrase", style="bold", overflow="fold")
    table.add_column("score", justify="right", style="yellow")
    table.add_column("times", justify="right", style="dim")
    is_labelled = any(phrase.label for phrase in result.phrases)
    if is_labelled:
        table.add_column("label", overflow="fold")
    for phrase in result.phrases:
        times = len(phrase.spans) + len(phrase.title_spans)
        text = Text(printable(phrase.text))
        label = [Text(printable(phrase.label or ""))] * is_labelled
        table.add_row(str(phrase.rank), text, f"{phrase.score:.3f}", str(times), *label)
    return table


def _marked_text(document: "Highlighted", width: int | None) -> str:
    """The title and the text with their phrases marked: in colours, or by stars."""
    from rich.text import Text  # here: start-up time

    from phraseloom.web.highlight import body_stretches, levels, title_stretches

    strength = levels(document.phrases)
    parts = [body_stretches(document)]
    if document.source.title.strip():
        parts.insert(0, title_stretches(document))
    lines = []
    for stretches in parts:
        marked = Text()
        is_inside = False
        for stretch in [*stretches, None]:
            ranks = stretch.ranks if stretch else ()
            if width is None and bool(ranks) != is_inside:
                marked.append("**")
                is_inside = not is_inside
            level = max((strength[rank] for rank in ranks), default=0)
            marked.append(printable(stretch.text) if stretch else "", _MARK_STYLES.get(level))
        marked.rstrip()
        lines.append(marked)
    return _rich(Text("\n\n").join(lines), width)


def _rich(part: "Table | Text", width: int | None) -> str:
    from rich.console import Console  # here: start-up time

    target = io.StringIO()
    if width is None:
        console = Console(file=target, force_terminal=False, width=10_000, highlight=False)
    else:
        console = Console(file=target, force_terminal=True, width=width, highlight=False)
    console.print(part, soft_wrap=width is None)
    return target.getvalue()


def _highlighted(result: Result) -> "Highlighted":
    from phraseloom.web.highlight import Highlighted  # here: start-up time

    return Highlighted(result.record.name, result.record.source, result.phrases)
