"""What every request passes before any of it is read: host, token, room, size and time."""

import asyncio
import hmac
from collections.abc import Collection

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from phraseloom.server.connections import request_limit
from phraseloom.server.problems import problem_of, respond
from phraseloom.server.settings import LOOPBACK, Limits

_LINGER = 1.0  # seconds for the rest of a request that is answered before all of it was read


class AccessMiddleware:
    """Lets a request in: by its host and token, while there is room, with so much body and time.

    Pages of others may not call a server on this machine by a name that they have made to lead
    here, so only names that are known are answered.
    """

    PROTECTED = ("/v1/", "/metrics")
    """Beginnings of the paths that are not for everyone."""
    OPEN = ("/healthz", "/readyz")
    """Paths that hold nothing; who asks after the server's health knows it by any name."""

    def __init__(
        self, app: ASGIApp, limits: Limits, token: str | None, hosts: Collection[str]
    ) -> None:
        self._app = app
        self._limits = limits
        self._token = token
        self._hosts = {host.lower().strip("[]") for host in (*LOOPBACK, *hosts)}
        self._requests = request_limit(limits.requests)
        self._inside = 0
        self._lingering = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            receive, send = self._reading_to_the_end(receive, send)
        if scope["type"] != "http" or scope["path"] in self.OPEN:
            await self._app(scope, receive, send)
            return
        is_protected = scope["path"].startswith(self.PROTECTED)
        if refusal := self._refuse(Headers(scope=scope), is_protected=is_protected):
            problem = problem_of(refusal.status_code, refusal.detail)
            await respond(problem, refusal.headers)(scope, receive, send)
            return
        if not is_protected:
            await self._app(scope, receive, send)
            return
        self._inside += 1
        try:
            await self._pass(scope, receive, send)
        finally:
            self._inside -= 1

    def _reading_to_the_end(self, receive: Receive, send: Send) -> tuple[Receive, Send]:
        """The same two; the end of an answer waits a moment for the end of the request.

        A connection that is closed while something still comes is reset, and its client may never
        see why it was refused.
        """
        is_read = False

        async def receive_noting() -> Message:
            nonlocal is_read
            message = await receive()
            is_read = not message.get("more_body", False)
            return message

        async def send_at_last(message: Message) -> None:
            is_last = message["type"] == "http.response.body" and not message.get("more_body")
            if is_last and not is_read and self._lingering < self._requests / 8:
                await send({**message, "more_body": True})
                self._lingering += 1
                try:
                    async with asyncio.timeout(_LINGER):
                        while not is_read:
                            await receive_noting()
                except TimeoutError:
                    pass
                finally:
                    self._lingering -= 1
                message = {"type": "http.response.body"}
            await send(message)

        return receive_noting, send_at_last

    def _refuse(self, headers: Headers, *, is_protected: bool) -> HTTPException | None:
        if not self._knows_host(headers.get("host", "")):
            detail = "this server is not called that; start it with --allow-host NAME"
            return HTTPException(421, detail)
        if not is_protected:
            return None
        if not self._knows_token(headers):
            bearer = {"WWW-Authenticate": "Bearer"}
            return HTTPException(401, "send the header Authorization: Bearer TOKEN", bearer)
        if self._inside >= self._requests:
            return HTTPException(503, "too many requests at once", {"Retry-After": "1"})
        length = headers.get("content-length", "0")
        if length.isdecimal() and int(length) > self._limits.body_bytes:
            return self._too_large()
        return None

    def _knows_host(self, host: str) -> bool:
        if "*" in self._hosts:
            return True
        name, colon, port = host.rpartition(":")
        name = name if colon and port.isdecimal() else host  # of [::1], the last part is no port
        return name.lower().strip("[]") in self._hosts

    def _knows_token(self, headers: Headers) -> bool:
        if self._token is None:
            return True
        scheme, _, token = headers.get("authorization", "").partition(" ")
        is_right = hmac.compare_digest(token.strip().encode(), self._token.encode())
        return scheme.lower() == "bearer" and is_right

    def _too_large(self) -> HTTPException:
        detail = f"a request may have {self._limits.body_bytes} bytes; send fewer documents"
        return HTTPException(413, detail, {"Connection": "close"})  # the rest is not read

    async def _pass(self, scope: Scope, receive: Receive, send: Send) -> None:
        size = 0
        has_answered = False

        async def receive_some() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > self._limits.body_bytes:
                raise self._too_large()
            return message

        async def note_answer(message: Message) -> None:
            nonlocal has_answered
            has_answered = True
            await send(message)

        try:
            async with asyncio.timeout(self._limits.seconds):
                await self._app(scope, receive_some, note_answer)
        except TimeoutError:
            if has_answered:
                raise
            detail = f"not done after {self._limits.seconds:g} seconds; ask for less at once"
            await respond(problem_of(503, detail))(scope, receive, send)
