"""Parse corpora once, in several processes, into a cache that training maps into memory.

The job may be killed at any moment. Each chunk of documents becomes a part file, which appears
whole or not at all; the same command skips the parts that are there. When all of them are, they
are merged, and the last act of that is to write ``meta.json``.
"""

import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import cache
from itertools import chain, islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

from phraseloom.data.cache import (
    DOCUMENTS,
    FORMAT,
    META,
    PARTS,
    STEMS,
    WORDS,
    import_pyarrow,
    read_meta,
)
from phraseloom.data.corpus import CorpusDocument, CorpusReader, count_lines, target_of
from phraseloom.data.merge import merge_parts
from phraseloom.data.parts import write_json, write_part
from phraseloom.errors import CorpusError
from phraseloom.text.document import Source
from phraseloom.text.parse import Parser, load_parser
from phraseloom.text.workers import single_threaded, start_worker

_CHUNK = 256  # documents in a part
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


class Outcome(NamedTuple):
    documents: int
    skipped: int
    """Bad lines, each of which was reported."""


def prepare_corpus(
    paths: Sequence[Path],
    out: Path,
    options: PrepareOptions,
    *,
    on_progress: OnProgress = ignore_progress,
) -> Outcome:
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
        shutil.rmtree(out / PARTS, ignore_errors=True)
        meta = read_meta(out)
        return Outcome(meta["documents"], meta["skipped"])
    _claim(out, signature)
    paths_of_parts = _write_parts(reader, out / PARTS, options, on_progress)
    if not paths_of_parts:
        raise CorpusError(f"no documents in {', '.join(map(str, paths))}")
    meta = {"signature": signature, "skipped": reader.skipped}
    documents = merge_parts(paths_of_parts, out, meta)
    for leftover in out.glob("*.tmp"):
        leftover.unlink()
    shutil.rmtree(out / PARTS)
    return Outcome(documents, reader.skipped)


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
    known = {PARTS, DOCUMENTS, WORDS, STEMS}
    for entry in out.iterdir() if out.exists() else ():
        if entry.name not in known and entry.suffix != ".tmp":
            raise CorpusError(f"{out} holds something else ({entry.name}); choose another --out")
    mark = out / PARTS / _SIGNATURE
    if mark.exists() and json.loads(mark.read_text(encoding="utf-8")) != signature:
        raise CorpusError(f"{out} holds an unfinished corpus {_OTHERWISE}")
    try:
        mark.parent.mkdir(parents=True, exist_ok=True)
        write_json(mark, signature)
    except OSError as error:
        raise CorpusError(f"cannot write to {out}: {error.strerror}") from None


def _write_parts(
    reader: CorpusReader, directory: Path, options: PrepareOptions, on_progress: OnProgress
) -> list[Path]:
    """Write the parts that are not there yet; returns all of them in order."""
    total = sum(count_lines(file) for file in reader.files)
    done = 0
    parts: list[Path] = []

    def finish(documents: int) -> None:
        nonlocal done
        done += documents
        on_progress(done, total - reader.skipped)

    def missing() -> Iterator[tuple[Path, list[CorpusDocument]]]:
        for chunk in _chunks(reader, options.lower_case):
            parts.append(directory / f"{len(parts):06}.arrow")
            if parts[-1].exists():
                finish(len(chunk))
            else:
                yield parts[-1], chunk

    on_progress(0, total)
    for documents in _run(missing(), options):
        finish(documents)
    return parts


def _chunks(documents: Iterable[CorpusDocument], fraction: float) -> Iterator[list[CorpusDocument]]:
    prepared = (
        _lowered(document) if is_lowered(document.id, ordinal, fraction) else document
        for ordinal, document in enumerate(documents)
    )
    while chunk := list(islice(prepared, _CHUNK)):
        yield chunk


def _lowered(document: CorpusDocument) -> CorpusDocument:
    source = Source(document.source.text.lower(), document.source.title.lower())
    return document._replace(source=source)


def _run(
    chunks: Iterator[tuple[Path, list[CorpusDocument]]], options: PrepareOptions
) -> Iterator[int]:
    """Hand chunks to worker processes; gives the size of each as it is done, in any order.

    Workers are replaced from time to time: a parser's own tables grow with every new word.
    """
    for first in chunks:
        some = chain([first], islice(chunks, _CHUNKS_OF_POOL - 1))
        with single_threaded(), _pool(options.processes) as pool:
            try:
                yield from _submit(pool, some, options)
            except BrokenProcessPool:
                raise CorpusError(
                    "a worker process was killed, perhaps for want of memory; "
                    "run the same command again to go on, with fewer --processes"
                ) from None
            finally:
                pool.shutdown(wait=False, cancel_futures=True)


def _pool(processes: int) -> Executor:
    context = get_context("spawn")  # forking a process that has threads is unsafe
    return ProcessPoolExecutor(processes, context, initializer=start_worker)


def _submit(
    pool: Executor, chunks: Iterator[tuple[Path, list[CorpusDocument]]], options: PrepareOptions
) -> Iterator[int]:
    pending: set[Future[int]] = set()
    for path, chunk in chunks:
        pending.add(pool.submit(_work, path, chunk, options.parser))
        if len(pending) >= options.processes * _AHEAD:
            finished, pending = wait(pending, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in finished)
    while pending:
        finished, pending = wait(pending, return_when=FIRST_COMPLETED)
        yield from (future.result() for future in finished)


def _work(path: Path, chunk: Sequence[CorpusDocument], parser: str) -> int:
    write_part(path, chunk, _parser(parser))
    return len(chunk)


@cache
def _parser(name: str) -> Parser:
    """One parser per worker process, loaded when its first chunk arrives."""
    return load_parser(name)
