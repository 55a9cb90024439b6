"""A prepared corpus: parsed documents as memory-mapped columns, read without copying.

A directory holds ``documents.arrow`` (one row per document), ``words.arrow`` and ``stems.arrow``
(what the ids in it stand for), and ``meta.json``, which is written last: without it the directory
is unfinished. All numbers are ids into the tables of this corpus; two corpora share no numbering.
"""

import hashlib
import json
from bisect import bisect_right
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from phraseloom.errors import CorpusError, import_extra

if TYPE_CHECKING:
    import pyarrow

FORMAT = 1
"""Raised whenever the columns, or the meaning of one, change."""
META, DOCUMENTS, WORDS, STEMS = "meta.json", "documents.arrow", "words.arrow", "stems.arrow"
SHARDS = "shards"
"""Directory that is there while a corpus is being prepared."""

TOKEN_COLUMNS: dict[str, type[np.generic]] = {
    "word": np.int32,
    "pos": np.uint8,
    "head": np.int32,
    "relation": np.uint8,
    "start": np.int32,
    "end": np.int32,
}
"""One value per token."""
PHRASE_COLUMNS: dict[str, type[np.generic]] = {
    "phrase_start": np.int32,
    "phrase_length": np.int32,
}
"""One value per present keyphrase."""


class PreparedDocument(NamedTuple):
    """The numbers of one document: read-only views into the memory-mapped file."""

    id: str
    origin: int
    """The set that the document came from: an index into ``corpus.origins``."""
    word: NDArray[np.int32]
    """Index into ``corpus.words``; the stem is ``corpus.word_stems[word]``."""
    pos: NDArray[np.uint8]
    """Index into ``corpus.pos_tags``."""
    head: NDArray[np.int32]
    """Token that governs this one, counted in the document; a root governs itself."""
    relation: NDArray[np.uint8]
    """Index into ``corpus.relations``."""
    start: NDArray[np.int32]
    """First character, in the title's own string for the first ``title_tokens``, else the text."""
    end: NDArray[np.int32]
    sentence: NDArray[np.int32]
    """First token of each sentence."""
    title_tokens: int
    phrase_start: NDArray[np.int32]
    """Token at which each present keyphrase first stands, in ascending order."""
    phrase_length: NDArray[np.int32]
    """Tokens in it."""

    def phrase_spans(self) -> list[tuple[int, int]]:
        """Tokens ``[start, end)`` at which each present keyphrase first stands."""
        ends = (self.phrase_start + self.phrase_length).tolist()
        return list(zip(self.phrase_start.tolist(), ends, strict=True))


class PreparedCorpus:
    """Documents of a prepared directory; opening reads the tables, and no document."""

    def __init__(self, path: Path, meta: dict[str, Any], tables: "_Tables") -> None:
        self.path = path
        self.meta = meta
        self.pos_tags: list[str] = meta["pos_tags"]
        self.relations: list[str] = meta["relations"]
        self.origins: list[str] = meta["origins"]
        self.words = tables.words
        self.word_counts = tables.word_counts
        self.word_stems = tables.word_stems
        self.stems = tables.stems
        self._batches = [_RecordBatch(batch) for batch in tables.batches]
        sizes = [len(batch) for batch in self._batches]
        self._firsts = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).tolist()
        self.document_origins = _join([batch.origin for batch in self._batches])
        self.lengths = _join([np.diff(batch.tokens) for batch in self._batches])
        self.phrase_counts = _join([np.diff(batch.phrases) for batch in self._batches])

    @classmethod
    def open(cls, path: Path | str) -> Self:
        """Map a directory that ``phraseloom prepare`` has finished.

        Raises:
            CorpusError: it is missing, unfinished, damaged, or of another version.
        """
        path = Path(path)
        meta = read_meta(path)
        try:
            tables = _read_tables(path)
            return cls(path, meta, tables)
        except (OSError, ValueError, KeyError) as error:  # pyarrow's errors are ValueErrors
            raise CorpusError(_damaged(path, str(error))) from None

    @property
    def fingerprint(self) -> str:
        """Changes when it is prepared otherwise, or from other documents."""
        return hashlib.sha256(json.dumps(self.meta, sort_keys=True).encode()).hexdigest()

    def __len__(self) -> int:
        return int(self._firsts[-1])

    def document(self, i: int) -> PreparedDocument:
        """Numbers of document ``i``, counted from zero in the order of the corpus."""
        batch, row = self._locate(i)
        return batch.document(row)

    def stems_of(self, document: PreparedDocument) -> list[str]:
        """Stem of every token."""
        return [self.stems[stem] for stem in self.word_stems[document.word].tolist()]

    def title(self, i: int) -> str:
        batch, row = self._locate(i)
        return batch.string("title", row)

    def text(self, i: int) -> str:
        """Body of document ``i``, as it was parsed: lower-cased if that was asked for."""
        batch, row = self._locate(i)
        return batch.string("text", row)

    def present(self, i: int) -> list[str]:
        """Keyphrases that stand in document ``i``, in the order of ``document(i).phrase_start``."""
        batch, row = self._locate(i)
        return batch.strings("present", row)

    def absent(self, i: int) -> list[str]:
        """Keyphrases that do not, in the order of the corpus."""
        batch, row = self._locate(i)
        return batch.strings("absent", row)

    def _locate(self, i: int) -> tuple["_RecordBatch", int]:
        if not 0 <= i < len(self):
            raise IndexError(f"document {i} of {len(self)}")
        number = bisect_right(self._firsts, i) - 1
        return self._batches[number], i - self._firsts[number]


class _RecordBatch:
    """One record batch: its buffers as numpy arrays, made once and sliced for every document."""

    def __init__(self, batch: "pyarrow.RecordBatch") -> None:
        self._batch = batch
        self.origin = _buffer(batch.column("origin"), np.int32)
        self.title_tokens = _buffer(batch.column("title_tokens"), np.int32)
        self.tokens = _offsets(batch.column("word"))
        self.sentences = _offsets(batch.column("sentence"))
        self.phrases = _offsets(batch.column("phrase_start"))
        self.ids = _offsets(batch.column("id"))
        self._id_bytes = batch.column("id").buffers()[2]
        self._sentence = _buffer(batch.column("sentence").values, np.int32)
        self._token_values = _values(batch, TOKEN_COLUMNS)
        self._phrase_values = _values(batch, PHRASE_COLUMNS)

    def __len__(self) -> int:
        return len(self.origin)

    def document(self, row: int) -> PreparedDocument:
        first, last = self.tokens[row : row + 2].tolist()
        word, pos, head, relation, start, end = [v[first:last] for v in self._token_values]
        first, last = self.phrases[row : row + 2].tolist()
        phrase_start, phrase_length = [v[first:last] for v in self._phrase_values]
        first, last = self.sentences[row : row + 2].tolist()
        sentence = self._sentence[first:last]
        first, last = self.ids[row : row + 2].tolist()
        return PreparedDocument(
            id=self._id_bytes[first:last].to_pybytes().decode(),
            origin=int(self.origin[row]),
            word=word,
            pos=pos,
            head=head,
            relation=relation,
            start=start,
            end=end,
            sentence=sentence,
            title_tokens=int(self.title_tokens[row]),
            phrase_start=phrase_start,
            phrase_length=phrase_length,
        )

    def string(self, column: str, row: int) -> str:
        return str(self._batch.column(column)[row].as_py())

    def strings(self, column: str, row: int) -> list[str]:
        return list(self._batch.column(column)[row].as_py())


class _Tables(NamedTuple):
    """What the files beside ``meta.json`` hold."""

    words: list[str]
    word_counts: NDArray[np.int64]
    word_stems: NDArray[np.int32]
    stems: list[str]
    batches: "list[pyarrow.RecordBatch]"


def read_meta(path: Path) -> dict[str, Any]:
    """Read ``meta.json``, and check that the files that it lists are here in their full size."""
    if not path.is_dir():
        raise CorpusError(f"no prepared corpus at {path}; run: phraseloom prepare … --out {path}")
    try:
        meta: dict[str, Any] = json.loads((path / META).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise CorpusError(
            f"{path} is not a finished corpus (no {META}); run the same phraseloom prepare again"
        ) from None
    except (OSError, ValueError) as error:
        raise CorpusError(_damaged(path, f"{META}: {error}")) from None
    if not isinstance(meta, dict) or meta.get("format") != FORMAT:
        raise CorpusError(
            f"{path} was prepared by another version of phraseloom; delete it and prepare it again"
        )
    for name, size in meta.get("files", {}).items():
        actual = (path / name).stat().st_size if (path / name).is_file() else None
        if actual != size:
            state = "missing" if actual is None else f"{actual} bytes long instead of {size}"
            raise CorpusError(_damaged(path, f"{name} is {state}"))
    return meta


def _damaged(path: Path, what: str) -> str:
    return f"prepared corpus {path} is damaged ({what}); delete it and prepare it again"


def import_pyarrow() -> Any:
    """Arrow is needed to prepare and to train, never to extract: hence not at the top."""
    import_extra("pyarrow.ipc", "a prepared corpus", "train")
    return import_extra("pyarrow", "a prepared corpus", "train")


def _read_tables(path: Path) -> _Tables:
    pa = import_pyarrow()

    def mapped(name: str) -> Any:
        return pa.ipc.open_file(pa.memory_map(str(path / name)))

    words = mapped(WORDS).read_all()
    documents = mapped(DOCUMENTS)
    return _Tables(
        words=words.column("word").to_pylist(),
        word_counts=words.column("count").to_numpy(),
        word_stems=words.column("stem").to_numpy(),
        stems=mapped(STEMS).read_all().column("stem").to_pylist(),
        batches=[documents.get_batch(i) for i in range(documents.num_record_batches)],
    )


def _values(
    batch: "pyarrow.RecordBatch", columns: dict[str, type[np.generic]]
) -> list[NDArray[Any]]:
    return [_buffer(batch.column(name).values, dtype) for name, dtype in columns.items()]


def _buffer(array: "pyarrow.Array", dtype: type[np.generic]) -> NDArray[Any]:
    """Values of an Arrow array, which no document lacks, as numpy sees them in place."""
    if not len(array):
        return np.zeros(0, dtype)
    return np.frombuffer(array.buffers()[1], dtype, count=len(array))


def _offsets(array: "pyarrow.Array") -> NDArray[np.int32]:
    """Where each list, or string, begins among the values; one more than there are lists."""
    return np.frombuffer(array.buffers()[1], np.int32, count=len(array) + 1)


def _join(parts: Sequence[NDArray[np.int32]]) -> NDArray[np.int32]:
    return np.concatenate(parts) if parts else np.zeros(0, np.int32)
