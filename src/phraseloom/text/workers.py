"""Worker processes that keep to one thread each and do not outlive who started them."""

import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import islice
from multiprocessing import connection, parent_process
from threading import Thread
from typing import TypeVar

from phraseloom.errors import PhraseloomError

Item = TypeVar("Item")
Done = TypeVar("Done")

_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS")
_BATCHES_PER_PROCESS = 3  # read ahead: one at work, one waiting, one done


@contextmanager
def single_threaded() -> Iterator[None]:
    """Processes started inside use one thread each: two that use two each are slower than one."""
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def start_worker() -> None:
    """Leave an interrupt to the parent, and end as soon as it is gone, even if it was killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    if parent is None:
        return

    def watch(sentinel: int) -> None:
        connection.wait([sentinel])
        os._exit(1)

    Thread(target=watch, args=(parent.sentinel,), daemon=True).start()


def in_batches(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Items in lists of ``size``, the last one shorter; read only as they are taken."""
    stream = iter(items)
    while batch := list(islice(stream, size)):
        yield batch


def ordered_stream(
    batches: Iterable[Item], work: Callable[[Item], Done], *, processes: int
) -> Iterator[Done]:
    """What some work makes of each batch, in order, done in several processes.

    No more than a few batches are held at a time, so there may be endlessly many.

    Args:
        batches: read only as fast as the results are taken.
        work: done in the processes, so it must be picklable; what it raises arrives here.
        processes: how many; with one, the work is done in this process.
    """
    if processes <= 1:
        yield from map(work, batches)
        return
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(processes, context, initializer=start_worker)
    try:
        yield from _in_pool(pool, iter(batches), work, ahead=processes * _BATCHES_PER_PROCESS)
    except BrokenProcessPool:
        raise PhraseloomError(
            "a process was killed, perhaps for want of memory; use fewer processes"
        ) from None
    finally:
        pool.shutdown(cancel_futures=True)


def _in_pool(
    pool: ProcessPoolExecutor, batches: Iterator[Item], work: Callable[[Item], Done], *, ahead: int
) -> Iterator[Done]:
    waiting: deque[Future[Done]] = deque()
    while True:
        for batch in islice(batches, ahead - len(waiting)):
            with single_threaded():  # a worker may start at any submission
                waiting.append(pool.submit(work, batch))
        if not waiting:
            return
        yield waiting.popleft().result()
