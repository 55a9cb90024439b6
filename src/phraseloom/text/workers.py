"""Worker processes that keep to one thread each and do not outlive who started them."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import connection, parent_process
from threading import Thread

_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS")


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
