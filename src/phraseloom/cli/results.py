"""Documents with their keyphrases in the formats that ``phraseloom extract`` writes."""

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from phraseloom.cli.extracting import Result

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from phraseloom.draw.highlight import Highlighted

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_MARK_STYLES = {1: "yellow", 2: "bold yellow", 3: "black on yellow", 4: "bold black on yellow"}


class Format(StrEnum):
    """How results are written."""

    table = "table"
    text = "text"
    json = "json"
    jsonl = "jsonl"
    csv = "csv"
    html = "html"


@dataclass(frozen=True)
class View:
    """How to show results.

    Attributes:
        format: of the whole.
        is_many: there may be several documents, so each says its name.
        highlight: show the text too, with the phrases marked.
        width: of the terminal, in characters; None if the results go elsewhere, without colours.
    """

    format: Format
    is_many: bool
    highlight: bool
    width: int | None = None


def render(results: Iterable[Result], view: View) -> Iterator[str]:
    """The results as text, piece by piece as they come."""
    if view.format is Format.html:
        from phraseloom.draw.highlight_page import highlight_page  # here: start-up time

        return highlight_page(map(_highlighted, results))
    kinds = {
        Format.table: _tables,
        Format.text: _lines,
        Format.json: _json,
        Format.jsonl: _json_lines,
        Format.csv: _csv,
    }
    return kinds[view.format](results, view)


def _json(results: Iterable[Result], view: View) -> Iterator[str]:
    if not view.is_many:
        for result in results:
            yield _phrase_a_line(_record(result, view))
        return
    before = "[\n"
    for result in results:
        yield before + json.dumps(_record(result, view), ensure_ascii=False)
        before = ",\n"
    yield "[]\n" if before == "[\n" else "\n]\n"


def _phrase_a_line(record: dict[str, Any]) -> str:
    """An object laid out for people: its phrases stand one below the other."""
    rest = {name: value for name, value in record.items() if name != "phrases"}
    lines = [f" {json.dumps(phrase, ensure_ascii=False)}" for phrase in record["phrases"]]
    beginning = json.dumps(rest, ensure_ascii=False).removesuffix("}")
    return beginning + ', "phrases": [\n' + ",\n".join(lines) + "\n]}\n"


def _json_lines(results: Iterable[Result], view: View) -> Iterator[str]:
    for result in results:
        yield json.dumps(_record(result, view), ensure_ascii=False) + "\n"


def _record(result: Result, view: View) -> dict[str, Any]:
    name, source = result.item.named
    phrases = [
        {
            "text": phrase.text,
            "score": round(phrase.score, 6),
            "rank": phrase.rank,
            "stems": phrase.stems,
            "spans": phrase.spans,
            "title_spans": phrase.title_spans,
        }
        for phrase in result.phrases
    ]
    shown = {"title": source.title, "text": source.text} if view.highlight else {}
    return {"source": name, **shown, "phrases": phrases}


def _csv(results: Iterable[Result], view: View) -> Iterator[str]:
    yield _csv_row("file", "rank", "text", "score", "start", "end")
    for result in results:
        name = result.item.named.name
        for phrase in result.phrases:
            first = phrase.spans[0] if phrase.spans else ("", "")
            yield _csv_row(name, phrase.rank, phrase.text, f"{phrase.score:.6f}", *first)


def _csv_row(*cells: object) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(cells)
    return line.getvalue()


def _lines(results: Iterable[Result], view: View) -> Iterator[str]:
    for result in results:
        name = _visible(result.item.named.name)
        if view.highlight:
            heading = f"== {name}\n\n" if view.is_many else ""
            yield heading + _marked_text(_highlighted(result), view.width)
            continue
        start = f"{name}\t" if view.is_many else ""
        yield "".join(f"{start}{_visible(phrase.text)}\n" for phrase in result.phrases)


def _tables(results: Iterable[Result], view: View) -> Iterator[str]:
    from rich.text import Text  # here: start-up time

    for result in results:
        name = _rich(Text(_visible(result.item.named.name), "bold"), view.width)
        text = _marked_text(_highlighted(result), view.width) if view.highlight else ""
        found = _table(result) if result.phrases else Text("no keyphrases", "dim")
        yield "".join(
            [
                name if view.is_many else "",
                text and f"{text}\n",
                _rich(found, view.width),
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
    for phrase in result.phrases:
        times = len(phrase.spans) + len(phrase.title_spans)
        text = Text(_visible(phrase.text))
        table.add_row(str(phrase.rank), text, f"{phrase.score:.3f}", str(times))
    return table


def _marked_text(document: "Highlighted", width: int | None) -> str:
    """The title and the text with their phrases marked: in colours, or by stars."""
    from rich.text import Text  # here: start-up time

    from phraseloom.draw.highlight import body_stretches, levels, title_stretches

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
            marked.append(_visible(stretch.text) if stretch else "", _MARK_STYLES.get(level))
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
    from phraseloom.draw.highlight import Highlighted  # here: start-up time

    return Highlighted(*result.item.named, result.phrases)


def _visible(text: str) -> str:
    """Text that cannot steer a terminal: control characters become U+FFFD."""
    return _CONTROL.sub("\ufffd", text.replace("\r\n", "\n"))
