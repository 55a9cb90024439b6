"""Rows as Arrow columns: types that hold all rows of all files, and what is added to them."""

import io
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from phraseloom.io.arrow import import_arrow, to_rows
from phraseloom.io.delimited import MAX_COLUMNS
from phraseloom.text.words import replace_surrogates

if TYPE_CHECKING:
    from phraseloom.keyphrase import Keyphrase

KEYPHRASES = "keyphrases"
Types = dict[str, Any]
"""Type of each column, by its name."""


def keyphrase_type() -> Any:
    """Type of a cell with keyphrases: a list, best first."""
    pa = import_arrow()
    spans = pa.list_(pa.struct([("start", pa.int32()), ("end", pa.int32())]))
    fields = [("text", pa.string()), ("score", pa.float64())]
    fields += [("spans", spans), ("title_spans", spans), ("label", pa.string())]
    return pa.list_(pa.struct(fields))


def keyphrase_column(lists: "Iterable[Sequence[Keyphrase] | None]") -> Any:
    """Keyphrases of each row as a column; none is null."""
    cells = [
        None if phrases is None else [_cell(phrase) for phrase in phrases] for phrases in lists
    ]
    return import_arrow().array(cells, keyphrase_type())


def _cell(phrase: "Keyphrase") -> dict[str, Any]:
    spans, title_spans = (
        [{"start": start, "end": end} for start, end in places]
        for places in (phrase.spans, phrase.title_spans)
    )
    return {
        "text": phrase.text,
        "score": phrase.score,
        "spans": spans,
        "title_spans": title_spans,
        "label": phrase.label,
    }


def with_keyphrases(table: Any, column: Any) -> Any:
    """A table with one column more; one that has its name already becomes ``row_keyphrases``."""
    names = table.column_names
    if KEYPHRASES in names:
        free = f"row_{KEYPHRASES}"
        while free in names:
            free = f"row_{free}"
        names[names.index(KEYPHRASES)] = free
    return table.rename_columns(names).append_column(KEYPHRASES, column)


def infer_types(rows: Sequence[Mapping[str, Any]]) -> Types:
    """Types of the columns of some rows; of mixed ones, text, as of more than can be kept."""
    names = dict.fromkeys(name for row in rows for name in row)
    if len(names) > MAX_COLUMNS:
        return dict.fromkeys(names, import_arrow().string())
    return {name: _infer([row.get(name) for row in rows]) for name in names}


def _infer(values: list[Any]) -> Any:
    pa = import_arrow()
    try:
        type = pa.array(values).type
        return type if _count_fields(type) <= MAX_COLUMNS else pa.string()
    except (pa.ArrowException, OverflowError, UnicodeError):
        return pa.string()


def _count_fields(type: Any) -> int:
    """Columns that a type makes: one, but for structs in which rows have different names."""
    fields = [type.field(place) for place in range(type.num_fields)]
    return sum(_count_fields(field.type) for field in fields) or 1


def unify_types(first: Types, second: Types) -> Types:
    """Types that hold what either holds; where only text can, text."""
    unified = dict(first)
    for name, type in second.items():
        unified[name] = _unify(first[name], type) if name in first else type
    return unified


def _unify(first: Any, second: Any) -> Any:
    pa = import_arrow()
    schemas = [pa.schema([("", type)]) for type in (first, second)]
    try:
        type = pa.unify_schemas(schemas, promote_options="permissive").field(0).type
        return type if _count_fields(type) <= MAX_COLUMNS else pa.string()
    except pa.ArrowException:
        return pa.string()


def to_schema(types: Types) -> Any:
    """A schema that Parquet can store; what it cannot, such as nothing at all, is text."""
    pa = import_arrow()
    return pa.schema(
        [(name, type if _is_stored(type) else pa.string()) for name, type in types.items()]
    )


def _is_stored(type: Any) -> bool:
    pa = import_arrow()
    try:
        pa.parquet.write_table(pa.schema([("", type)]).empty_table(), io.BytesIO())
    except (pa.ArrowException, NotImplementedError):
        return False
    return not pa.types.is_null(type)


def to_table(rows: Sequence[Mapping[str, Any]], schema: Any) -> Any:
    """Rows as a table; cells that a row does not have are null."""
    columns = [_to_column([row.get(field.name) for row in rows], field.type) for field in schema]
    return import_arrow().table(columns, schema=schema)


def _to_column(values: list[Any], type: Any) -> Any:
    pa = import_arrow()
    try:
        return pa.array(values, type)
    except (pa.ArrowException, UnicodeError, OverflowError, TypeError):
        is_text = pa.types.is_string(type)
        return pa.array([_clean(value, is_text=is_text) for value in values], type)


def _clean(value: Any, *, is_text: bool) -> Any:
    """A value as its column can hold it: as text, or with integers as numbers like the others."""
    if is_text and (value is None or isinstance(value, str)):
        return value and replace_surrogates(value)
    text = replace_surrogates(json.dumps(value, ensure_ascii=False, default=str))
    return text if is_text else json.loads(text, parse_int=float)


def take_rows(table: Any, rows: Sequence[int]) -> Any:
    """Some rows of a table, or none."""
    pa = import_arrow()
    return table.take(pa.array(rows, pa.int64()))


def fit_table(table: Any, schema: Any) -> Any:
    """A table with the columns of a schema; those that it does not have are null."""
    pa = import_arrow()
    columns = [
        _cast(table[field.name], field.type)
        if field.name in table.column_names
        else pa.nulls(len(table), field.type)
        for field in schema
    ]
    return pa.table(columns, schema=schema)


def _cast(column: Any, type: Any) -> Any:
    try:
        return column.cast(type)
    except import_arrow().ArrowException:  # such as a struct that has to become text
        rows = to_rows(import_arrow().table({"cell": column}), "")
        return _to_column([row["cell"] if isinstance(row, dict) else None for row in rows], type)
