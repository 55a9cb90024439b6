"""Texts through an extractor, in order, in this process or in several."""

from collections import deque
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from phraseloom.extractor import Extractor, Keyphrase
    from phraseloom.reading.named import Named
    from phraseloom.text.document import Source

_BATCH = 8


class Request(NamedTuple):
    """What to extract with."""

    model: str | None
    top: int | None
    style: str | None
    candidates: tuple[str, ...] | None = None
    seeds: tuple[str, ...] = ()
    diversity: float | None = None


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
    try:
        first = next(stream)
    except StopIteration:
        return
    waiting: deque[Item] = deque()

    def sources() -> Iterator["Source"]:
        for item in chain([first], stream):
            waiting.append(item)
            yield item.named.source

    found = _load(request.model).extract_many(
        sources(),
        top=request.top,
        style=request.style,
        candidates=request.candidates,
        seeds=request.seeds,
        diversity=request.diversity,
        batch_size=_BATCH,
        workers=jobs,
    )
    for phrases in found:
        yield Result(waiting.popleft(), phrases)


@lru_cache(maxsize=1)
def _load(model: str | None) -> "Extractor":
    from phraseloom.extractor import Extractor  # here: torch takes seconds to load

    return Extractor.load(model)
