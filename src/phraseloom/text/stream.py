"""Any number of documents through a parser, in order, in several processes, in bounded memory."""

import multiprocessing
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import lru_cache
from itertools import islice

from phraseloom.errors import ParserError
from phraseloom.text.document import Document, Source
from phraseloom.text.parse import Parser, load_parser
from phraseloom.text.workers import single_threaded, start_worker

_BATCHES_PER_PROCESS = 3  # read ahead: one being parsed, one waiting, one done


def parse_stream(
    sources: Iterable[Source], *, parser: str = "spacy", batch_size: int = 64, processes: int = 1
) -> Iterator[Document]:
    """Parse documents in order; any number of processes gives the same documents.

    No more than a few batches are held at a time, so the sources may be endless.

    Args:
        sources: read only as fast as the documents are taken.
        parser: ``spacy``, ``stanza`` or ``conllu``.
        batch_size: documents parsed together.
        processes: workers with a parser each; with one, parsing happens in this process.
    """
    batches = iter(_batches(sources, batch_size))
    if processes <= 1:
        loaded = load_parser(parser)
        for batch in batches:
            yield from loaded.parse_batch(batch)
        return
    pool = ProcessPoolExecutor(
        processes, multiprocessing.get_context("spawn"), initializer=start_worker
    )
    try:
        yield from _parse_in(pool, batches, parser, ahead=processes * _BATCHES_PER_PROCESS)
    except BrokenProcessPool:
        raise ParserError(
            "a parsing process was killed, perhaps for want of memory; use fewer processes"
        ) from None
    finally:
        pool.shutdown(cancel_futures=True)


def _parse_in(
    pool: ProcessPoolExecutor, batches: Iterator[list[Source]], parser: str, *, ahead: int
) -> Iterator[Document]:
    waiting: deque[Future[list[Document]]] = deque()
    while True:
        with single_threaded():  # a worker may start at any submission
            for batch in islice(batches, ahead - len(waiting)):
                waiting.append(pool.submit(_parse_batch, parser, batch))
        if not waiting:
            return
        yield from waiting.popleft().result()


def _batches(sources: Iterable[Source], size: int) -> Iterator[list[Source]]:
    sources = iter(sources)
    while batch := list(islice(sources, size)):
        yield batch


def _parse_batch(parser: str, batch: list[Source]) -> list[Document]:
    return _parser_of_process(parser).parse_batch(batch)


@lru_cache(maxsize=1)
def _parser_of_process(name: str) -> Parser:
    return load_parser(name)
