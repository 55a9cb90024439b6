"""Parts of a prepared corpus: a chunk of documents parsed, matched and written as one file.

Ids in a part count from zero in order of first occurrence; its schema's metadata says what they
stand for. A part is therefore a function of its chunk, whatever process wrote it and when.
"""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from phraseloom.data.cache import import_pyarrow
from phraseloom.data.corpus import CorpusDocument
from phraseloom.data.present import split_keywords
from phraseloom.errors import CorpusError, ParserError
from phraseloom.text.document import Document
from phraseloom.text.parse import Parser

TABLES = ("words", "stems", "pos_tags", "relations", "origins")
_MOST_LABELS = 256  # ids of tags and relations are stored in one byte


class Numbering:
    """Numbers things from zero in the order in which they are first met."""

    def __init__(self) -> None:
        self.ids: dict[str, int] = {}

    def __getitem__(self, name: str) -> int:
        return self.ids.setdefault(name, len(self.ids))

    def __len__(self) -> int:
        return len(self.ids)


def schema() -> Any:
    """Columns of a document, in parts and in the finished file."""
    pa = import_pyarrow()
    ids, labels, strings = pa.list_(pa.int32()), pa.list_(pa.uint8()), pa.list_(pa.string())
    columns = {
        "id": pa.string(),
        "origin": pa.int32(),
        "title": pa.string(),
        "text": pa.string(),
        "word": ids,
        "pos": labels,
        "head": ids,
        "relation": labels,
        "start": ids,
        "end": ids,
        "sentence": ids,
        "title_tokens": pa.int32(),
        "phrase_start": ids,
        "phrase_length": ids,
        "present": strings,
        "absent": strings,
    }
    return pa.schema([pa.field(name, kind, nullable=False) for name, kind in columns.items()])


def write_part(path: Path, documents: Sequence[CorpusDocument], parser: Parser) -> None:
    """Parse a chunk of documents and write it, whole or not at all."""
    parsed = _parse(documents, parser)
    tables = {name: Numbering() for name in TABLES}
    word_stems: dict[str, str] = {}
    rows = [
        _row(document, parse, tables, word_stems)
        for document, parse in zip(documents, parsed, strict=True)
    ]
    for word in tables["words"].ids:
        tables["stems"][word_stems[word]]
    metadata = {name: list(table.ids) for name, table in tables.items()}
    metadata["word_stems"] = [word_stems[word] for word in tables["words"].ids]
    metadata["parser"] = [parser.name]
    pa = import_pyarrow()
    columns = schema().with_metadata({"tables": json.dumps(metadata)})
    write_arrow(path, columns, [pa.RecordBatch.from_pylist(rows, schema=columns)])


def read_part(path: Path) -> tuple[Any, dict[str, list[str]]]:
    """Record batch of a part, and what the ids in it stand for."""
    pa = import_pyarrow()
    try:
        reader = pa.ipc.open_file(pa.memory_map(str(path)))
        return reader.get_batch(0), json.loads(reader.schema.metadata[b"tables"])
    except (OSError, ValueError, KeyError) as error:
        raise CorpusError(f"{path} is damaged ({error}); delete it and run again") from None


def write_arrow(path: Path, columns: Any, batches: Any) -> None:
    """Write record batches to a file that appears only when it is complete and on the disk."""
    pa = import_pyarrow()
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    with temporary.open("wb") as file:
        with pa.ipc.new_file(file, columns) as writer:
            for batch in batches:
                writer.write_batch(batch)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)
    sync_directory(path.parent)


def write_json(path: Path, value: Any) -> None:
    """Write a JSON file that appears only when it is complete and on the disk."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    with temporary.open("w", encoding="utf-8") as file:
        json.dump(value, file, indent=1)
        file.write("\n")
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)
    sync_directory(path.parent)


def sync_directory(path: Path) -> None:
    """Make renames in a directory outlast a power cut, where the system can."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def check_labels(names: Sequence[str], kind: str) -> None:
    """Refuse more tags or relations than a byte can number."""
    if len(names) > _MOST_LABELS:
        raise CorpusError(f"the parser gave {len(names)} {kind}; at most {_MOST_LABELS} fit")


def _parse(documents: Sequence[CorpusDocument], parser: Parser) -> list[Document]:
    try:
        return parser.parse_batch([document.source for document in documents])
    except ParserError:
        for document in documents:  # which one was it?
            try:
                parser.parse_batch([document.source])
            except ParserError as error:
                raise ParserError(f"document {document.id}: {error}") from None
        raise


def _row(
    document: CorpusDocument,
    parsed: Document,
    tables: dict[str, Numbering],
    word_stems: dict[str, str],
) -> dict[str, Any]:
    tokens = list(parsed.tokens())
    heads: list[int] = []
    sentences: list[int] = []
    for sentence in parsed.sentences:
        sentences.append(len(heads))
        heads += [sentences[-1] + token.head for token in sentence.tokens]
    word_stems.update((token.word, token.stem) for token in tokens)
    split = split_keywords(parsed, document.keywords)
    return {
        "id": document.id,
        "origin": tables["origins"][document.origin],
        "title": parsed.title,
        "text": parsed.text,
        "word": [tables["words"][token.word] for token in tokens],
        "pos": [tables["pos_tags"][token.pos] for token in tokens],
        "head": heads,
        "relation": [tables["relations"][token.relation] for token in tokens],
        "start": [token.start for token in tokens],
        "end": [token.end for token in tokens],
        "sentence": sentences,
        "title_tokens": sum(len(s.tokens) for s in parsed.sentences if s.in_title),
        "phrase_start": [occurrence.start for occurrence in split.present],
        "phrase_length": [occurrence.length for occurrence in split.present],
        "present": [occurrence.phrase for occurrence in split.present],
        "absent": list(split.absent),
    }
