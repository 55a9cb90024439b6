"""Documents, reference phrases and predictions in files, brought together to be scored.

Documents are whatever `phraseloom.io.records` reads. Predictions are JSON lines with ``phrases``,
matched by ``id`` where both sides have one, or text: a line a document, ``;`` between its phrases.
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from phraseloom.errors import CorpusError, ReadingError
from phraseloom.evaluate.phrases import Judged, Split, judge_text
from phraseloom.evaluate.report import Report, score_documents
from phraseloom.io.atomic import write_text
from phraseloom.io.compressed import display_name, kind_of, read_lines
from phraseloom.io.files import ROW_KINDS, decode, has_rows
from phraseloom.io.records import (
    Columns,
    CorpusDocument,
    keywords_of,
    read_columns,
    read_corpus,
    read_records,
)


class _Row(NamedTuple):
    """What one row of a file says about a document."""

    place: str
    id: str | None
    """Its own, not one that is made of its line."""
    text: str
    phrases: Sequence[str]


def read_judged(
    source: Path, targets: Path | None, predictions: Path, *, split: Split = Split.spaces
) -> list[Judged]:
    """Read what is to be scored; whatever is wrong with the files is named with its line.

    Args:
        source: the documents.
        targets: their reference phrases; none: they stand with the documents.
        predictions: the phrases predicted for them.
        split: how text is parted into words.

    Raises:
        CorpusError: a file cannot be read, or they do not fit each other.
    """
    try:
        documents = _read_documents(source, targets)
        predicted = _align(documents, _read_phrases(predictions, _predicted), source, predictions)
    except ReadingError as problem:
        raise CorpusError(str(problem)) from None
    return [
        judge_text(document.text, document.phrases, phrases, split=split.cut)
        for document, phrases in zip(documents, predicted, strict=True)
    ]


def read_documents(corpus: Path) -> list[CorpusDocument]:
    """Documents of a corpus that can be scored: some of them have reference phrases.

    Raises:
        CorpusError: a row cannot be read, or there are no such documents.
    """
    documents = list(read_corpus(corpus, strict=True))
    if not documents:
        raise CorpusError(f"{corpus} has no documents")
    if not any(document.keywords for document in documents):
        raise CorpusError(f"{corpus} has no reference phrases to score against")
    return documents


def score_predictions(
    documents: Sequence[CorpusDocument], lists: Sequence[Sequence[str]], split: Split
) -> Report:
    """Score lists of phrases, one a document, as `read_judged` and `score_documents` would."""
    return score_documents(
        [
            judge_text(
                f"{document.source.title} {document.source.text}",
                document.keywords,
                phrases,
                split=split.cut,
            )
            for document, phrases in zip(documents, lists, strict=True)
        ]
    )


def write_predictions(
    path: Path, documents: Sequence[CorpusDocument], lists: Sequence[Sequence[object]]
) -> None:
    """Write rows that `read_judged` reads: phrases are strings, or objects with ``text``."""
    rows = (
        {"id": document.id, "phrases": phrases}
        for document, phrases in zip(documents, lists, strict=True)
    )
    write_text(path, (json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def _read_documents(source: Path, targets: Path | None) -> list[_Row]:
    if targets is None and not has_rows(source):
        raise CorpusError(f"{source} holds no targets; give them with --targets FILE")
    is_pair = targets is not None and kind_of(source) not in ROW_KINDS
    rows = []
    for record in read_records(source, target=targets if is_pair else None):
        if isinstance(record, ReadingError):
            raise record
        has_phrases = is_pair or targets is None
        phrases = keywords_of(record.columns, record.name) if has_phrases else ()
        text = f"{record.source.title} {record.source.text}"
        rows.append(_Row(record.name, _own_id(record.columns), text, phrases))
    _check(rows, source)
    if targets is None or is_pair:
        return rows
    aligned = _align(rows, _read_phrases(targets, keywords_of), source, targets)
    return [row._replace(phrases=phrases) for row, phrases in zip(rows, aligned, strict=True)]


def _read_phrases(path: Path, phrases_of: Callable[[Columns, str], Sequence[str]]) -> list[_Row]:
    name, rows = display_name(path), []
    if kind_of(path) in ROW_KINDS:
        for number, columns in read_columns(path):
            if isinstance(columns, ReadingError):
                raise columns
            place = f"{name}:{number}"
            rows.append(_Row(place, _own_id(columns), "", phrases_of(columns, place)))
    else:
        for number, content in enumerate(read_lines(path), start=1):
            place = f"{name}:{number}"
            line = decode(content, place)
            if "<eos>" in line or line.startswith('{"'):
                raise CorpusError(
                    f"{place}: expected phrases separated by ';';"
                    " JSON lines need a file name with .jsonl"
                )
            rows.append(_Row(place, None, "", line.split(";")))
    _check(rows, path)
    return rows


def _predicted(columns: Columns, place: str) -> list[str]:
    """Phrases of a row, which are strings or objects with a ``text``."""
    values = columns.get("phrases")
    if not isinstance(values, list):
        raise CorpusError(f'{place}: expected "phrases" with a list of phrases')
    texts = [value.get("text") if isinstance(value, dict) else value for value in values]
    phrases = [text for text in texts if isinstance(text, str)]
    if len(phrases) < len(texts):
        raise CorpusError(f'{place}: each of "phrases" must be a string or an object with "text"')
    return phrases


def _own_id(columns: Columns) -> str | None:
    return None if columns.get("id") in (None, "") else str(columns["id"])


def _check(rows: Sequence[_Row], path: Path) -> None:
    """There are rows, and each has an id of its own, or none has one."""
    if not rows:
        raise CorpusError(f"{path} is empty; it needs one row per document")
    ids: set[str | None] = set()
    for row in rows:
        if row.id is not None and row.id in ids:
            raise CorpusError(f"{row.place}: id {row.id!r} occurs twice; ids must be unique")
        ids.add(row.id)
        if None in ids and len(ids) > 1:
            raise CorpusError(f'{row.place}: give every row an "id", or none')


def _align(
    documents: Sequence[_Row], rows: Sequence[_Row], source: Path, path: Path
) -> list[Sequence[str]]:
    """Phrases in the order of the documents: by id where both files have ids, else by line."""
    if documents[0].id is None or rows[0].id is None:
        if len(documents) != len(rows):
            raise CorpusError(
                f"{source} has {len(documents)} documents but {path} has {len(rows)} lines;"
                " both need one line per document"
            )
        return [row.phrases for row in rows]
    phrases_of = {row.id: row.phrases for row in rows}
    ids = {document.id for document in documents}
    if missing := [document.id for document in documents if document.id not in phrases_of]:
        raise CorpusError(
            f"{path} has no row for id {missing[0]!r} of {source} ({len(missing)} missing);"
            " add one, with an empty list if there are no phrases"
        )
    if unknown := [id for id in phrases_of if id not in ids]:
        raise CorpusError(
            f"{path} has a row for id {unknown[0]!r}, which is not in {source}"
            f" ({len(unknown)} unknown); score it against the corpus it was made from"
        )
    return [phrases_of[document.id] for document in documents]
