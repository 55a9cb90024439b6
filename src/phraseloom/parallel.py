"""Processes and threads: one pool for whoever needs several processes, and one thread in each.

Threads that multiply small matrices mostly wait for each other, and spin while they wait: on a
machine with other work, two of them are several times slower than one.
"""

import multiprocessing
import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import cache
from itertools import islice
from multiprocessing import connection, parent_process
from threading import Lock, Thread
from types import TracebackType
from typing import Any, ParamSpec, Self, TypeVar

from phraseloom.errors import KilledError

Item = TypeVar("Item")
Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")

_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS")
_CHILD_ENVIRONMENT = {**dict.fromkeys(_THREADS, "1"), "PYTHONSAFEPATH": "1"}
BATCHES_PER_PROCESS = 3
"""That are read ahead: one at work, one waiting, one done."""
_UNGUARDED = (
    "no process could start: each imports the main module of your program, so put what it does"
    ' below if __name__ == "__main__":'
)


class WorkerPool:
    """Processes of one thread each, which do not outlive who started them.

    They are spawned, since forking a process that has threads is unsafe; so the main module of a
    program must be importable. See `safe_spawning` for what they are kept from.
    """

    def __init__(self, processes: int) -> None:
        context = multiprocessing.get_context("spawn")
        end_reimport()
        aborted, self._abort = context.Pipe(duplex=False)  # closed: all of them end at once
        self._begun, begun = context.Pipe(duplex=False)
        with safe_spawning():  # locks start a process of their own that counts them
            self._executor = ProcessPoolExecutor(
                processes, context, initializer=start_worker, initargs=(aborted, begun)
            )

    def submit(
        self,
        work: Callable[Arguments, Result],
        /,
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Future[Result]:
        """Have some picklable work done; what it raises arrives with its result.

        A process that was killed shows as `BrokenProcessPool`, here or at the result.
        """
        with safe_spawning():  # a process may start at any submission
            return self._executor.submit(work, *args, **kwargs)

    def close(self, *, wait: bool = True) -> None:
        """Give up what has not begun, and end the processes when they are done."""
        self._executor.shutdown(wait=wait, cancel_futures=True)

    def abort(self) -> None:
        """End the processes in the middle of their work."""
        self._abort.close()
        self.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is None:
            self.close()
            return
        self.abort()
        if kind is BrokenProcessPool and not self._begun.poll():
            raise KilledError(_UNGUARDED) from None


def end_reimport() -> None:
    """End a process that was spawned and, as it imports the main module, begins all its work again.

    In silence: the process that spawned it says what is wrong.
    """
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise SystemExit(1)


@contextmanager
def safe_spawning() -> Iterator[None]:
    """Processes started inside use one thread each, and import nothing from where they start.

    Python puts the current directory first on the path of a spawned process, so that it would run a
    ``pickle.py`` that lies there. And a control-C is held back until `start_worker` leaves it to
    the parent: before that it would end in a traceback of each process.
    """
    before = {name: os.environ.get(name) for name in _CHILD_ENVIRONMENT}
    os.environ.update(_CHILD_ENVIRONMENT)
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def start_worker(
    aborted: connection.Connection | None = None, begun: connection.Connection | None = None
) -> None:
    """Leave an interrupt to the parent, and end as soon as it is gone, even if it was killed.

    Args:
        aborted: whose other end the parent closes to end this process.
        begun: told that this process could start.
    """
    if begun is not None:
        begun.send(None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    parent = parent_process()
    ends = [end for end in (parent and parent.sentinel, aborted) if end is not None]
    if ends:
        Thread(target=_exit_after, args=(ends,), daemon=True).start()


def _exit_after(ends: Sequence[connection.Connection | int]) -> None:
    connection.wait(ends)
    os._exit(1)


def in_batches(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Items in lists of ``size``, the last one shorter; read only as they are taken."""
    stream = iter(items)
    while batch := list(islice(stream, size)):
        yield batch


def ordered_stream(
    batches: Iterable[Item],
    work: Callable[[Item], Result],
    *,
    processes: int,
    is_apart: bool = False,
) -> Iterator[Result]:
    """What some work makes of each batch, in order, done in several processes.

    No more than a few batches are held at a time, so there may be endlessly many.

    Args:
        batches: read only as fast as the results are taken.
        work: done in the processes, so it must be picklable; what it raises arrives here.
        processes: how many; with one, the work is done in this process.
        is_apart: whether even one must be another than this, which it may not take along if it is
            killed.
    """
    if processes <= 1 and not is_apart:
        yield from map(work, batches)
        return
    to_come, waiting = iter(batches), deque[Future[Result]]()
    try:
        with WorkerPool(processes) as pool:
            while True:
                room = processes * BATCHES_PER_PROCESS - len(waiting)
                waiting.extend(pool.submit(work, batch) for batch in islice(to_come, room))
                if not waiting:
                    return
                yield waiting.popleft().result()
    except BrokenProcessPool:
        raise KilledError(
            "a process was killed, perhaps for want of memory; use fewer processes"
        ) from None


class _ThreadLimit:
    """How many threads NumPy may use while anyone in this process holds it back.

    The number belongs to the whole process. So of several Python threads the first sets it and the
    last sets it back: if each put back what it found, the last might put back the limit.
    """

    def __init__(self) -> None:
        from threadpoolctl import ThreadpoolController  # here: it looks through all libraries

        self._controller = ThreadpoolController().select(user_api="blas")
        self._lock = Lock()
        self._holders = 0
        self._limit: Any = None

    @contextmanager
    def hold(self, threads: int) -> Iterator[None]:
        with self._lock:
            if not self._holders:
                self._limit = self._controller.limit(limits=threads)
            self._holders += 1
        try:
            yield
        finally:
            with self._lock:
                self._holders -= 1
                if not self._holders:
                    self._limit.restore_original_limits()


@cache
def _thread_limit() -> _ThreadLimit:
    return _ThreadLimit()


@contextmanager
def limit_threads(threads: int | None) -> Iterator[None]:
    """Let NumPy use so many threads inside, whatever it uses outside; none: as many as it does."""
    if threads is None:
        yield
        return
    with _thread_limit().hold(threads):
        yield


def show_progress(
    results: Iterator[Result], total: int | None, title: str, *, is_shown: bool | None
) -> Iterator[Result]:
    """Pass results on, and count them in a bar on stderr; none: if that is a terminal."""
    if is_shown is False or (is_shown is None and not sys.stderr.isatty()):
        return results
    return _counted(results, total, title)


def _counted(results: Iterator[Result], total: int | None, title: str) -> Iterator[Result]:
    from rich.console import Console  # here: start-up time
    from rich.progress import track

    yield from track(results, title, total=total, console=Console(stderr=True), transient=True)
