"""Shards of a corpus that is being prepared, each a chunk of documents, and how they become one.

Ids in a shard count from zero in order of first occurrence; its schema's metadata says what they
stand for. A shard is therefore a function of its chunk, whatever process wrote it and when. Merging
renumbers the shards in document order, with one of them in memory at a time.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from phraseloom.errors import CorpusError, ParserError
from phraseloom.io.atomic import write_json, written_aside
from phraseloom.io.records import CorpusDocument
from phraseloom.text.document import Document
from phraseloom.text.matching import split_keywords
from phraseloom.text.parsers import Parser
from phraseloom.train.corpus.prepared import DOCUMENTS, FORMAT, META, STEMS, WORDS, import_pyarrow

_LABELS = ("pos_tags", "relations")
_TABLES = ("words", "stems", *_LABELS, "origins")
_TABLE_OF = {"word": "words", "pos": "pos_tags", "relation": "relations", "origin": "origins"}
_MAX_LABELS = 256  # ids of tags and relations are stored in one byte


class IdTable:
    """Numbers names from zero in the order in which they are first met."""

    def __init__(self) -> None:
        self.ids: dict[str, int] = {}

    def __getitem__(self, name: str) -> int:
        return self.ids.setdefault(name, len(self.ids))


def write_shard(path: Path, documents: Sequence[CorpusDocument], parser: Parser) -> None:
    """Parse a chunk of documents and write it, whole or not at all."""
    parsed = _parse(documents, parser)
    tables = {name: IdTable() for name in _TABLES}
    word_stems: dict[str, str] = {}
    rows = [
        _row(document, parse, tables, word_stems)
        for document, parse in zip(documents, parsed, strict=True)
    ]
    words = list(tables["words"].ids)
    for word in words:
        tables["stems"][word_stems[word]]
    metadata = {name: list(table.ids) for name, table in tables.items()}
    metadata["word_stems"] = [word_stems[word] for word in words]
    metadata["parser"] = [parser.name]
    pa = import_pyarrow()
    schema = _schema().with_metadata({"tables": json.dumps(metadata)})
    _write_arrow(path, schema, [pa.RecordBatch.from_pylist(rows, schema=schema)])


def merge_shards(paths: Sequence[Path], out: Path, meta: dict[str, Any]) -> int:
    """Write the finished corpus from its shards, ``meta.json`` last; returns its documents."""
    pa = import_pyarrow()
    merger = _Merger()
    _write_arrow(out / DOCUMENTS, _schema(), merger.renumber(paths))
    words = pa.record_batch(
        {
            "word": pa.array(list(merger.tables["words"].ids), pa.string()),
            "count": pa.array([merger.word_counts[i] for i in range(len(merger.word_stems))]),
            "stem": pa.array(merger.word_stems, pa.int32()),
        }
    )
    stems = pa.record_batch({"stem": pa.array(list(merger.tables["stems"].ids), pa.string())})
    _write_arrow(out / WORDS, words.schema, [words])
    _write_arrow(out / STEMS, stems.schema, [stems])
    labels = {name: list(merger.tables[name].ids) for name in (*_LABELS, "origins")}
    sizes = {name: (out / name).stat().st_size for name in (DOCUMENTS, WORDS, STEMS)}
    facts = {"format": FORMAT, "documents": merger.documents, "parser": min(merger.parsers)}
    write_json(out / META, {**facts, **meta, **labels, "files": sizes})
    return merger.documents


class _Merger:
    """Renumbers shards as they pass, and counts words."""

    def __init__(self) -> None:
        self.tables = {name: IdTable() for name in _TABLES}
        self.word_counts: Counter[int] = Counter()
        self.word_stems: list[int] = []
        self.parsers: set[str] = set()
        self.documents = 0

    def renumber(self, paths: Sequence[Path]) -> Iterator[Any]:
        """Record batches of the shards with the ids of the whole corpus."""
        for path in paths:
            batch, names = _read_shard(path)
            self._check_parser(path, names["parser"][0])
            ids = {table: self._ids(table, names[table]) for table in _TABLES}
            self._number_stems(names)
            columns = [
                _replace_ids(batch.column(field.name), ids[_TABLE_OF[field.name]])
                if field.name in _TABLE_OF
                else batch.column(field.name)
                for field in batch.schema
            ]
            words = _flat(columns[batch.schema.get_field_index("word")])
            for word, count in zip(*np.unique(words, return_counts=True), strict=True):
                self.word_counts[int(word)] += int(count)
            self.documents += len(batch)
            yield import_pyarrow().RecordBatch.from_arrays(columns, schema=_schema())

    def _ids(self, table: str, names: list[str]) -> Any:
        ids = np.array([self.tables[table][name] for name in names], np.int32)
        count = len(self.tables[table].ids)
        if table in _LABELS and count > _MAX_LABELS:
            raise CorpusError(f"the parser gave {count} {table}; at most {_MAX_LABELS} fit")
        return ids

    def _number_stems(self, names: dict[str, list[str]]) -> None:
        """Words of this shard that are new to the corpus come with their stems."""
        words, stems = self.tables["words"], self.tables["stems"]
        for word, stem in zip(names["words"], names["word_stems"], strict=True):
            if words[word] == len(self.word_stems):
                self.word_stems.append(stems[stem])

    def _check_parser(self, path: Path, name: str) -> None:
        self.parsers.add(name)
        if len(self.parsers) > 1:
            raise CorpusError(
                f"{path.parent} has shards of two parsers ({', '.join(sorted(self.parsers))}); "
                "delete it and prepare again"
            )


def _replace_ids(column: Any, ids: Any) -> Any:
    """A column with every id replaced by the corpus's; lists keep their shape."""
    pa = import_pyarrow()
    if not pa.types.is_list(column.type):
        return pa.array(ids[column.to_numpy(zero_copy_only=False)], column.type)
    values = ids[_flat(column)] if len(ids) else np.zeros(0, np.int32)
    return pa.ListArray.from_arrays(
        column.offsets, pa.array(values, column.type.value_type), type=column.type
    )


def _flat(column: Any) -> Any:
    return column.values.to_numpy(zero_copy_only=False)


def _read_shard(path: Path) -> tuple[Any, dict[str, list[str]]]:
    """Record batch of a shard, and what the ids in it stand for."""
    pa = import_pyarrow()
    try:
        reader = pa.ipc.open_file(pa.memory_map(str(path)))
        return reader.get_batch(0), json.loads(reader.schema.metadata[b"tables"])
    except (OSError, ValueError, KeyError) as error:
        raise CorpusError(f"{path} is damaged ({error}); delete it and run again") from None


def _write_arrow(path: Path, schema: Any, batches: Iterable[Any]) -> None:
    pa = import_pyarrow()
    with (
        written_aside(path, is_durable=True) as new,
        pa.ipc.new_file(str(new), schema) as writer,
    ):
        for batch in batches:
            writer.write_batch(batch)


def _schema() -> Any:
    """Columns of a document, in shards and in the finished file."""
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
    tables: dict[str, IdTable],
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
