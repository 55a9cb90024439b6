"""Parse corpora once, in several processes, into a corpus that training maps into memory.

The job may be killed at any moment. Each chunk of documents becomes a shard, a file that appears
whole or not at all; the same command skips the shards that are there. When all of them are, they
are merged, and the last act of that is to write ``meta.json``.
"""

import hashlib
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import cache
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from phraseloom.errors import CorpusError
from phraseloom.io.atomic import remove_leftovers, sign_directory
from phraseloom.io.files import target_of
from phraseloom.io.records import CorpusDocument, CorpusReader, count_lines
from phraseloom.parallel import WorkerPool, in_batches, limit_threads
from phraseloom.text.document import Source
from phraseloom.text.parsers import Parser, load_parser
from phraseloom.train.corpus.prepared import (
    DOCUMENTS,
    FORMAT,
    META,
    SHARDS,
    STEMS,
    WORDS,
    import_pyarrow,
    read_meta,
)
from phraseloom.train.corpus.shards import merge_shards, write_shard

_CHUNK = 256  # documents in a shard
_AHEAD = 2  # chunks that wait for each process: it never idles, and memory stays bounded
_CHUNKS_OF_POOL = 200  # handed to a set of workers before fresh ones take over
_SIGNATURE = "signature.json"

OnProgress = Callable[[int, int], None]
"""Told how many documents are done, and of how many."""


def ignore_progress(done: int, total: int) -> None:
    """Progress for callers who do not watch."""


@dataclass(frozen=True, slots=True)
class PrepareOptions:
    """How a corpus is parsed; ``processes`` and ``strict`` have no influence on the result."""

    parser: str = "spacy"
    lower_case: float = 0.0
    """Share of the documents that are lower-cased before parsing, as benchmark text is."""
    processes: int = 2
    strict: bool = False


class PrepareResult(NamedTuple):
    documents: int
    skipped: int
    """Bad lines, each of which was reported."""


def prepare_corpus(
    paths: Sequence[Path],
    out: Path,
    options: PrepareOptions,
    *,
    on_progress: OnProgress = ignore_progress,
) -> PrepareResult:
    """Parse corpora into the directory ``out``, going on where an earlier call was stopped.

    Raises:
        CorpusError: a corpus cannot be read, or ``out`` holds something else.
    """
    import_pyarrow()
    if options.lower_case and options.parser == "conllu":
        raise CorpusError("--lower-case would spoil the tags of conllu; lower-case its words first")
    reader = CorpusReader(paths, strict=options.strict)
    signature = _signature(reader.files, options)
    if _is_finished(out, signature):
        shutil.rmtree(out / SHARDS, ignore_errors=True)
        meta = read_meta(out)
        return PrepareResult(meta["documents"], meta["skipped"])
    _claim(out, signature)
    shards = _write_shards(reader, out / SHARDS, options, on_progress)
    if not shards:
        raise CorpusError(f"no documents in {', '.join(map(str, paths))}")
    meta = {"signature": signature, "skipped": reader.skipped}
    documents = merge_shards(shards, out, meta)
    shutil.rmtree(out / SHARDS)
    return PrepareResult(documents, reader.skipped)


def is_lowered(identity: str, ordinal: int, fraction: float) -> bool:
    """Whether a document is among the share to be lower-cased: always the same documents."""
    digest = hashlib.sha256(f"{ordinal}\n{identity}".encode()).digest()
    return int.from_bytes(digest[:8], "big") < fraction * 2**64


def _signature(files: Sequence[Path], options: PrepareOptions) -> dict[str, Any]:
    """Everything that the result depends on, by content: files may be moved, but not changed."""
    inputs = []
    for file in files:
        for path in filter(None, (file, target_of(file))):
            with path.open("rb") as stream:
                inputs.append([path.name, hashlib.file_digest(stream, "sha256").hexdigest()])
    chosen = {"parser": options.parser, "lower_case": options.lower_case}
    return {"format": FORMAT, "chunk": _CHUNK, **chosen, "inputs": inputs}


def _is_finished(out: Path, signature: dict[str, Any]) -> bool:
    if not (out / META).exists():
        return False
    if read_meta(out)["signature"] != signature:
        raise CorpusError(f"{out} holds a corpus made {_OTHERWISE}")
    return True


_OTHERWISE = "from other files or with other options; delete it, or choose another --out"


def _claim(out: Path, signature: dict[str, Any]) -> None:
    """Mark the directory as belonging to this job, unless it belongs to another."""
    if out.exists() and not out.is_dir():
        raise CorpusError(f"{out} is a file; choose another --out")
    remove_leftovers(out)
    for entry in out.iterdir() if out.exists() else ():
        if entry.name not in {SHARDS, DOCUMENTS, WORDS, STEMS}:
            raise CorpusError(f"{out} holds something else ({entry.name}); choose another --out")
    mark = out / SHARDS / _SIGNATURE
    sign_directory(mark, signature, other=f"{out} holds an unfinished corpus {_OTHERWISE}")


def _write_shards(
    reader: CorpusReader, directory: Path, options: PrepareOptions, on_progress: OnProgress
) -> list[Path]:
    """Write the shards that are not there yet; returns all of them in order."""
    total = sum(count_lines(file) for file in reader.files)
    done = 0
    shards: list[Path] = []

    def count(documents: int) -> None:
        nonlocal done
        done += documents
        on_progress(done, total - reader.skipped)

    def missing() -> Iterator[tuple[Path, list[CorpusDocument]]]:
        for chunk in in_batches(_lower_some(reader, options.lower_case), _CHUNK):
            shards.append(directory / f"{len(shards):06}.arrow")
            if shards[-1].exists():
                count(len(chunk))
            else:
                yield shards[-1], chunk

    on_progress(0, total)
    for documents in _parse_chunks(missing(), options):
        count(documents)
    return shards


def _lower_some(documents: Iterable[CorpusDocument], fraction: float) -> Iterator[CorpusDocument]:
    for ordinal, document in enumerate(documents):
        if is_lowered(document.id, ordinal, fraction):
            text, title = document.source.text.lower(), document.source.title.lower()
            document = document._replace(source=Source(text, title))
        yield document


def _parse_chunks(
    chunks: Iterator[tuple[Path, list[CorpusDocument]]], options: PrepareOptions
) -> Iterator[int]:
    """Hand chunks to worker processes; gives the size of each as it is done, in any order.

    With one process there is no worker, so that a script needs no guard. Parsers are replaced from
    time to time: their own tables grow with every new word.
    """
    for first in chunks:
        some = chain([first], islice(chunks, _CHUNKS_OF_POOL - 1))
        if options.processes <= 1:
            with limit_threads(1):
                yield from (_parse_chunk(*of_chunk, options.parser) for of_chunk in some)
            _parser_of_process.cache_clear()
            continue
        try:
            with WorkerPool(options.processes) as pool:
                yield from _submit(pool, some, options)
        except BrokenProcessPool:
            raise CorpusError(
                "a worker process was killed, perhaps for want of memory; "
                "run the same command again to go on, with fewer --jobs"
            ) from None


def _submit(
    pool: WorkerPool, chunks: Iterator[tuple[Path, list[CorpusDocument]]], options: PrepareOptions
) -> Iterator[int]:
    pending: set[Future[int]] = set()
    for path, chunk in chunks:
        pending.add(pool.submit(_parse_chunk, path, chunk, options.parser))
        if len(pending) >= options.processes * _AHEAD:
            finished, pending = wait(pending, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in finished)
    while pending:
        finished, pending = wait(pending, return_when=FIRST_COMPLETED)
        yield from (future.result() for future in finished)


def _parse_chunk(path: Path, chunk: Sequence[CorpusDocument], parser: str) -> int:
    write_shard(path, chunk, _parser_of_process(parser))
    return len(chunk)


@cache
def _parser_of_process(name: str) -> Parser:
    """Loaded when a process parses its first chunk."""
    return load_parser(name)
