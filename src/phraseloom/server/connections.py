"""Connections whose client does nothing: closed in time, and never so many as to shut others out.

uvicorn waits for ever for the first request of a connection, for the rest of one whose headers come
byte by byte, and for a client that takes no answer. After an answer it waits for five seconds,
which is also how long many clients keep a connection: a request that they send just then is lost.
We wait for longer than they do.
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

_MOST_ACCEPTED = 128
_READ_AT_ONCE = 1 << 16  # bytes; asyncio's own 256 KB of tiny chunks hold the event loop for 0.2 s
_LINES = 200  # of log in a burst
_LINES_PER_SECOND = 20


def accepted_at_once() -> int:
    """How many connections to accept in one go."""
    return min(_MOST_ACCEPTED, _descriptors() // 8)


def connection_limit(requests: int) -> int:
    """How many connections to hold: room for all requests and as many again that are idle.

    Half of the descriptors are left to connections that were just accepted, or that the event loop
    has yet to close; an eighth to files and libraries.
    """
    return min(2 * requests, 3 * _descriptors() // 8)


def request_limit(requests: int) -> int:
    """How many requests to answer at once: on half of the connections, at most.

    However many send their requests byte by byte, others find room, if only to be refused.
    """
    return min(requests, connection_limit(requests) // 2)


def _descriptors() -> int:
    try:
        import resource  # here: not everywhere
    except ImportError:
        return 1024
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 1 << 20 if soft == resource.RLIM_INFINITY else soft


class ConnectionBounds:
    """What the connections of one server share.

    Args:
        connections: held at once; one more, and the one is closed whose client has done nothing for
            longest.
        idle_seconds: for the headers of a request, however slowly they come.
        kept_seconds: between an answer and the first byte of the next request.
        write_seconds: for a client to take an answer.
    """

    def __init__(
        self, connections: int, *, idle_seconds: float, kept_seconds: float, write_seconds: float
    ) -> None:
        self.connections = connections
        self.idle_seconds = idle_seconds
        self.kept_seconds = kept_seconds
        self.write_seconds = write_seconds
        self.waiting: dict[BoundedProtocol, asyncio.TimerHandle] = {}
        """Connections that wait for their client, to ask or to read, and what will close each; who
        waits for longest is first."""
        self.buffer = bytearray(_READ_AT_ONCE)
        """What was read last, of whichever connection."""
        self._turns: deque[Callable[[], None]] = deque()

    def take_turns(self, loop: asyncio.AbstractEventLoop, go_on: Callable[[], None]) -> None:
        """Have some connection go on, but only one of them in each round of the event loop.

        Who sends many requests without waiting for an answer would else hold up those who wait.
        """
        self._turns.append(go_on)
        if len(self._turns) == 1:
            loop.call_soon(self._next_turn, loop)

    def _next_turn(self, loop: asyncio.AbstractEventLoop) -> None:
        go_on = self._turns.popleft()
        if self._turns:
            loop.call_soon(self._next_turn, loop)
        go_on()


class BoundedProtocol(H11Protocol, asyncio.BufferedProtocol):
    """HTTP/1.1 on one connection, with bounds on how long it may be silent.

    It brings the buffer that is read into, since that bounds how much comes at once.
    """

    def __init__(self, bounds: ConnectionBounds, **settings: Any) -> None:
        super().__init__(**settings)
        self._bounds = bounds
        self._is_kept = False  # open after an answer, with nothing of the next request

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept a connection, and close another one if they are too many."""
        super().connection_made(transport)
        self._wait(self._bounds.idle_seconds, self._on_timeout)
        if len(self.connections) > self._bounds.connections:
            next(iter(self._bounds.waiting)).give_up()

    def get_buffer(self, sizehint: int) -> bytearray:
        """Where the event loop puts what it reads."""
        return self._bounds.buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Take what was read, before anything else is."""
        self.data_received(bytes(memoryview(self._bounds.buffer)[:nbytes]))

    def data_received(self, data: bytes) -> None:
        """Begin to wait for the rest of the headers, if these are the first bytes of a request."""
        if self._is_kept:
            self._is_kept = False
            self._wait(self._bounds.idle_seconds, self._on_timeout)
        super().data_received(data)

    def handle_events(self) -> None:
        """Take note of a request that has begun; its own time limit holds from here on."""
        super().handle_events()
        if self._is_at_work():
            self._let_work()

    def on_response_complete(self) -> None:
        """Wait for the next request; one that has come already has to wait for its turn."""
        self._is_kept = True
        self._wait(self._bounds.kept_seconds, self._on_timeout)
        pipelined, _ = self.conn.trailing_data
        if pipelined:
            self._bounds.take_turns(self.loop, super().on_response_complete)
        else:
            super().on_response_complete()

    def pause_writing(self) -> None:
        """Wait until the client has read; what it asks for meanwhile gains it no time."""
        self._wait(self._bounds.write_seconds, self.give_up)
        super().pause_writing()

    def resume_writing(self) -> None:
        """Go on where it was when the client stopped to read."""
        super().resume_writing()
        if self._is_at_work():
            self._let_work()
        else:
            bounds = self._bounds
            seconds = bounds.kept_seconds if self._is_kept else bounds.idle_seconds
            self._wait(seconds, self._on_timeout)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._stop_waiting()
        super().connection_lost(exc)

    def give_up(self) -> None:
        """Close the connection at once, whatever is still to be sent."""
        self._stop_waiting()
        self.connections.discard(self)
        self.transport.abort()

    def _on_timeout(self) -> None:
        if self.transport.get_write_buffer_size():  # the client is slow to read, not silent
            self._wait(self._bounds.write_seconds, self.give_up)
        else:
            self.give_up()

    def _is_at_work(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _let_work(self) -> None:
        if self.transport.is_closing():  # after a body that is no HTTP; the client has to read why
            self._wait(self._bounds.write_seconds, self.give_up)
        elif not self.flow.write_paused:
            self._stop_waiting()

    def _wait(self, seconds: float, on_timeout: Callable[[], None]) -> None:
        if self.flow.write_paused:
            return  # before all else it has to read
        self._stop_waiting()
        self._bounds.waiting[self] = self.loop.call_later(seconds, on_timeout)

    def _stop_waiting(self) -> None:
        if timer := self._bounds.waiting.pop(self, None):
            timer.cancel()


class RateLimit(logging.Filter):
    """Lets a burst of lines through, then so many a second; the next one says how many are missing.

    Whoever can make a server write a line could else fill its disk.
    """

    def __init__(self) -> None:
        super().__init__()
        self._room = float(_LINES)
        self._last = time.monotonic()
        self._missing = 0

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a line is written."""
        now = time.monotonic()
        self._room = min(_LINES, self._room + (now - self._last) * _LINES_PER_SECOND)
        self._last = now
        if self._room < 1:
            self._missing += 1
            return False
        self._room -= 1
        if self._missing:
            record.msg = f"{record.getMessage()} ({self._missing} lines left out before this)"
            record.args = ()
            self._missing = 0
        return True
