"""Documents, targets and predictions read from files and brought together.

Two formats, told apart by the file's name. Text (one2seq): a line a document, ``title <eos> body``,
and phrases separated by ``;``. JSON lines (``.jsonl``): corpus rows with ``title``, ``abstract``,
``keywords``, prediction rows with ``phrases``, matched by ``id`` where both sides have one. Either
may be compressed (``.xz``, ``.gz``).
"""

import gzip
import json
import lzma
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from phraseloom.errors import CorpusError
from phraseloom.evaluate.phrases import Judged, judge_text, split_spaces

_EOS = "<eos>"
_OPENERS: dict[str, Callable[..., Any]] = {".xz": lzma.open, ".gz": gzip.open}


class Entry(NamedTuple):
    """What one line of a file says about a document."""

    id: str | None
    content: Any
    """Source text, or a list of phrases."""


def read_judged(
    source: Path,
    targets: Path | None,
    predictions: Path,
    *,
    split: Callable[[str], list[str]] = split_spaces,
) -> list[Judged]:
    """Read what is to be scored; whatever is wrong with the files is named with its line.

    Args:
        source: the documents.
        targets: their reference phrases; none: they stand in the source file, which is JSON lines.
        predictions: the phrases predicted for them.
        split: how text is parted into words; see `judge_text`.
    """
    if targets is None and not _is_json(source):
        raise CorpusError(f"{source} holds no targets; give them with --targets FILE")
    documents = _read_sources(source)
    wanted = _align(documents, _read_phrases(targets or source, "keywords"), source, targets)
    predicted = _align(documents, _read_phrases(predictions, "phrases"), source, predictions)
    return [
        judge_text(document.content, gold, phrases, split=split)
        for document, gold, phrases in zip(documents, wanted, predicted, strict=True)
    ]


def _align(
    documents: Sequence[Entry], entries: Sequence[Entry], source: Path, path: Path | None
) -> list[list[str]]:
    """Phrases in the order of the documents: by id where both files have ids, else by line."""
    if path is None or None in {entry.id for entry in (*documents, *entries)}:
        if len(documents) != len(entries):
            raise CorpusError(
                f"{source} has {len(documents)} documents but {path} has {len(entries)} lines; "
                "both need one line per document"
            )
        return [entry.content for entry in entries]
    phrases_of = {entry.id: entry.content for entry in entries}
    ids = {document.id for document in documents}
    if missing := [document.id for document in documents if document.id not in phrases_of]:
        raise CorpusError(
            f"{path} has no row for id {missing[0]!r} of {source} ({len(missing)} missing); "
            "add one, with an empty list if there are no phrases"
        )
    if unknown := [id for id in phrases_of if id not in ids]:
        raise CorpusError(
            f"{path} has a row for id {unknown[0]!r}, which is not in {source} "
            f"({len(unknown)} unknown); score it against the corpus it was made from"
        )
    return [phrases_of[document.id] for document in documents]


def _read_sources(path: Path) -> list[Entry]:
    if _is_json(path):
        rows = _read_rows(path)
        return [Entry(_id(row), _source_text(row, f"{path}:{i}")) for i, row in rows]
    entries = []
    for i, line in enumerate(_read_lines(path), start=1):
        if line.count(_EOS) != 1:
            raise CorpusError(
                f"{path}:{i}: expected one document written as title {_EOS} body; "
                "JSON lines need a file name with .jsonl"
            )
        entries.append(Entry(None, line.replace(_EOS, " ")))
    return entries


def _read_phrases(path: Path, field: str) -> list[Entry]:
    if _is_json(path):
        rows = _read_rows(path)
        return [Entry(_id(row), _phrases(row, field, f"{path}:{i}")) for i, row in rows]
    entries = []
    for i, line in enumerate(_read_lines(path), start=1):
        if _EOS in line or line.startswith('{"'):
            raise CorpusError(
                f"{path}:{i}: expected phrases separated by ';'; "
                "JSON lines need a file name with .jsonl"
            )
        entries.append(Entry(None, line.split(";")))
    return entries


def _source_text(row: dict[str, Any], place: str) -> str:
    title, body = row.get("title") or "", row.get("abstract")
    if not isinstance(title, str) or not isinstance(body, str):
        raise CorpusError(f'{place}: a document needs "abstract" (and may have "title"), as text')
    return f"{title} {body}"


def _phrases(row: dict[str, Any], field: str, place: str) -> list[str]:
    """Phrases of a row, which are strings or objects with a ``text``."""
    values = row.get(field)
    if not isinstance(values, list):
        raise CorpusError(f'{place}: expected "{field}" with a list of phrases')
    texts = [value.get("text") if isinstance(value, dict) else value for value in values]
    kept = [text for text in texts if isinstance(text, str)]
    if len(kept) < len(texts):
        raise CorpusError(f'{place}: each of "{field}" must be a string or an object with "text"')
    return kept


def _id(row: dict[str, Any]) -> str | None:
    return None if row.get("id") is None else str(row["id"])


def _read_rows(path: Path) -> list[tuple[int, dict[str, Any]]]:
    """JSON objects with their line numbers; each has an id of its own, or none has one."""
    rows: list[tuple[int, dict[str, Any]]] = []
    ids: set[str | None] = set()
    for i, line in enumerate(_read_lines(path), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (json.JSONDecodeError, RecursionError) as error:
            raise CorpusError(f"{path}:{i}: not valid JSON: {error}") from None
        if not isinstance(row, dict):
            raise CorpusError(f"{path}:{i}: expected a JSON object on each line")
        id = _id(row)
        if id is not None and id in ids:
            raise CorpusError(f"{path}:{i}: id {id!r} occurs twice; ids must be unique")
        if rows and (id is None) is not (None in ids):
            raise CorpusError(f'{path}:{i}: give every row an "id", or none')
        ids.add(id)
        rows.append((i, row))
    if not rows:
        raise CorpusError(f"{path} is empty; it needs one row per document")
    return rows


def _read_lines(path: Path) -> list[str]:
    """Lines of a file that is not empty; only a line feed ends a line."""
    opener = _OPENERS.get(path.suffix, open)
    try:
        with opener(path, "rt", encoding="utf-8-sig", newline="\n") as file:
            text: str = file.read()
    except UnicodeDecodeError as error:
        raise CorpusError(f"{path} is not UTF-8 text ({error.reason}); convert it first") from None
    except (lzma.LZMAError, EOFError) as error:
        raise CorpusError(f"cannot read {path}: {error}") from None
    except OSError as error:
        raise CorpusError(f"cannot read {path}: {error.strerror or error}") from None
    if not text:
        raise CorpusError(f"{path} is empty; it needs one line per document")
    return text.removesuffix("\n").split("\n")


def _is_json(path: Path) -> bool:
    return ".jsonl" in path.suffixes or ".json" in path.suffixes
