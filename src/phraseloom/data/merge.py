"""Parts become one corpus: ids are renumbered in document order, one part in memory at a time."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from phraseloom.data.cache import DOCUMENTS, FORMAT, META, STEMS, WORDS, import_pyarrow
from phraseloom.data.parts import (
    TABLES,
    Numbering,
    check_labels,
    read_part,
    schema,
    write_arrow,
    write_json,
)
from phraseloom.errors import CorpusError

_TABLE_OF = {"word": "words", "pos": "pos_tags", "relation": "relations", "origin": "origins"}


class _Merger:
    """Renumbers parts as they pass, and counts words."""

    def __init__(self) -> None:
        self.tables = {name: Numbering() for name in TABLES}
        self.word_counts: Counter[int] = Counter()
        self.word_stems: list[int] = []
        self.parsers: set[str] = set()
        self.documents = 0

    def renumber(self, paths: Sequence[Path]) -> Iterator[Any]:
        """Record batches of the parts with the ids of the whole corpus."""
        for path in paths:
            batch, names = read_part(path)
            self._check_parser(path, names["parser"][0])
            ids = {table: self._ids(table, names[table]) for table in TABLES}
            self._number_stems(names)
            columns = [
                _mapped(batch.column(field.name), ids[_TABLE_OF[field.name]])
                if field.name in _TABLE_OF
                else batch.column(field.name)
                for field in batch.schema
            ]
            words = _flat(columns[batch.schema.get_field_index("word")])
            for word, count in zip(*np.unique(words, return_counts=True), strict=True):
                self.word_counts[int(word)] += int(count)
            self.documents += len(batch)
            yield import_pyarrow().RecordBatch.from_arrays(columns, schema=schema())

    def _ids(self, table: str, names: list[str]) -> Any:
        numbering = self.tables[table]
        ids = np.array([numbering[name] for name in names], np.int32)
        if table in ("pos_tags", "relations"):
            check_labels(list(numbering.ids), table)
        return ids

    def _number_stems(self, names: dict[str, list[str]]) -> None:
        """Words of this part that are new to the corpus come with their stems."""
        words, stems = self.tables["words"], self.tables["stems"]
        for word, stem in zip(names["words"], names["word_stems"], strict=True):
            if words[word] == len(self.word_stems):
                self.word_stems.append(stems[stem])

    def _check_parser(self, path: Path, name: str) -> None:
        self.parsers.add(name)
        if len(self.parsers) > 1:
            raise CorpusError(
                f"{path.parent} has parts of two parsers ({', '.join(sorted(self.parsers))}); "
                "delete it and prepare again"
            )


def merge_parts(paths: Sequence[Path], out: Path, meta: dict[str, Any]) -> int:
    """Write the finished corpus from its parts, ``meta.json`` last; returns its documents."""
    pa = import_pyarrow()
    merger = _Merger()
    write_arrow(out / DOCUMENTS, schema(), merger.renumber(paths))
    words = pa.record_batch(
        {
            "word": pa.array(list(merger.tables["words"].ids), pa.string()),
            "count": pa.array([merger.word_counts[i] for i in range(len(merger.word_stems))]),
            "stem": pa.array(merger.word_stems, pa.int32()),
        }
    )
    stems = pa.record_batch({"stem": pa.array(list(merger.tables["stems"].ids), pa.string())})
    write_arrow(out / WORDS, words.schema, [words])
    write_arrow(out / STEMS, stems.schema, [stems])
    labels = {name: list(merger.tables[name].ids) for name in TABLES[2:]}
    sizes = {name: (out / name).stat().st_size for name in (DOCUMENTS, WORDS, STEMS)}
    facts = {"format": FORMAT, "documents": merger.documents, "parser": min(merger.parsers)}
    write_json(out / META, {**facts, **meta, **labels, "files": sizes})
    return merger.documents


def _mapped(column: Any, ids: Any) -> Any:
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
