"""Texts through an extractor, in order, in this process or in several."""

import multiprocessing
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from phraseloom.errors import PhraseloomError

if TYPE_CHECKING:
    from phraseloom.extractor import Extractor, Keyphrase
    from phraseloom.reading.named import Named
    from phraseloom.text.document import Source

_BATCH = 8
_BATCHES_PER_PROCESS = 3  # read ahead: one at work, one waiting, one done


class Request(NamedTuple):
    """What to extract with."""

    model: str | None
    top: int | None
    style: str | None


class Item(NamedTuple):
    """A document, and the place in the list of inputs of the file it is from."""

    place: int
    named: "Named"


class Result(NamedTuple):
    """An item with its phrases."""

    item: Item
    phrases: list["Keyphrase"]


def extract_stream(items: Iterable[Item], request: Request, jobs: int) -> Iterator[Result]:
    """Extract in order; any number of processes gives the same phrases.

    No more than a few batches are held at a time. The model is loaded when the first item is
    there, so nothing is loaded for nothing.
    """
    stream = iter(items)
    batches = iter(lambda: list(islice(stream, _BATCH)), [])
    if jobs == 1:
        for batch in batches:
            yield from _pair(batch, _extract(request, [item.named.source for item in batch]))
        return
    pool = ProcessPoolExecutor(
        jobs, multiprocessing.get_context("spawn"), initializer=_start_worker
    )
    try:
        yield from _extract_in(pool, batches, request, ahead=jobs * _BATCHES_PER_PROCESS)
    except BrokenProcessPool:
        raise PhraseloomError(
            "a process was killed, perhaps for want of memory; run again with fewer --jobs"
        ) from None
    finally:
        pool.shutdown(cancel_futures=True)


def _extract_in(
    pool: ProcessPoolExecutor, batches: Iterator[list[Item]], request: Request, *, ahead: int
) -> Iterator[Result]:
    from phraseloom.text.workers import single_threaded  # here: start-up time

    waiting: deque[tuple[list[Item], Future[list[list[Keyphrase]]]]] = deque()
    while True:
        with single_threaded():  # a worker may start at any submission
            for batch in islice(batches, ahead - len(waiting)):
                sources = [item.named.source for item in batch]
                waiting.append((batch, pool.submit(_extract, request, sources)))
        if not waiting:
            return
        batch, future = waiting.popleft()
        yield from _pair(batch, future.result())


def _pair(batch: list[Item], phrases: list[list["Keyphrase"]]) -> Iterator[Result]:
    return (Result(item, found) for item, found in zip(batch, phrases, strict=True))


def _start_worker() -> None:
    import torch  # here: start-up time

    from phraseloom.text.workers import start_worker

    start_worker()
    torch.set_num_threads(1)


def _extract(request: Request, sources: list["Source"]) -> list[list["Keyphrase"]]:
    extractor = _load(request.model)
    found = extractor.extract_many(sources, top=request.top, style=request.style, batch_size=_BATCH)
    return list(found)


@lru_cache(maxsize=1)
def _load(model: str | None) -> "Extractor":
    from phraseloom.extractor import Extractor  # here: torch takes seconds to load

    return Extractor.load(model)
