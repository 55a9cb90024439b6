"""Being asked to stop: the step at hand is finished and a checkpoint written first."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class StopRequest:
    """Whether someone asked."""

    def __init__(self) -> None:
        self.is_made = False


@contextmanager
def stop_requests() -> Iterator[StopRequest]:
    """Take the first Ctrl-C or SIGTERM as a request; the second Ctrl-C interrupts as ever."""
    request = StopRequest()
    if threading.current_thread() is not threading.main_thread():
        yield request  # only the main thread gets signals
        return

    def ask(number: int, frame: FrameType | None) -> None:
        if request.is_made:
            raise KeyboardInterrupt
        request.is_made = True

    earlier = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield request
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)
