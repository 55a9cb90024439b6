"""What every request passes before any of it is read, and every response on its way out."""

import asyncio
import hmac
import logging
import time
from collections.abc import Collection

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from phraseloom.server.jobs import describe
from phraseloom.server.limits import Limits
from phraseloom.server.metrics import Metrics
from phraseloom.server.problems import problem_of, respond

logger = logging.getLogger(__name__)

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
        " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class Watch:
    """The outermost layer: headers, counts, a line of log; an exception becomes a plain 500.

    Neither a path that we do not know nor what an exception says is ever logged: both may quote a
    text.
    """

    def __init__(self, app: ASGIApp, paths: Collection[str], metrics: Metrics) -> None:
        self._app = app
        self._paths = paths
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start = time.perf_counter()
        status: int | None = None

        async def send_safely(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        try:
            with self._metrics.in_progress.track_inprogress():
                await self._app(scope, receive, send_safely)
        except Exception as error:
            logger.error("a request failed: %s", describe(error).message)
            if status is None:
                response = respond(problem_of(500, "the server failed; its log says where"))
                await response(scope, receive, send_safely)
        finally:
            self._note(scope, status or 500, time.perf_counter() - start)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        path = scope["path"] if scope["path"] in self._paths else "other"
        self._metrics.saw_request(path, status, seconds)
        logger.info("%s %s %d %.0f ms", scope["method"], path, status, seconds * 1000)


class Gate:
    """Lets a request in: by its token, while there is room, with so much body and so much time."""

    PROTECTED = ("/v1/", "/metrics")
    """Beginnings of the paths that are not for everyone."""

    def __init__(self, app: ASGIApp, limits: Limits, token: str | None) -> None:
        self._app = app
        self._limits = limits
        self._token = token
        self._inside = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].startswith(self.PROTECTED):
            await self._app(scope, receive, send)
            return
        if refusal := self._refuse(Headers(scope=scope)):
            problem = problem_of(refusal.status_code, refusal.detail)
            await respond(problem, refusal.headers)(scope, receive, send)
            return
        self._inside += 1
        try:
            await self._pass(scope, receive, send)
        finally:
            self._inside -= 1

    def _refuse(self, headers: Headers) -> HTTPException | None:
        if not self._knows(headers):
            bearer = {"WWW-Authenticate": "Bearer"}
            return HTTPException(401, "send the header Authorization: Bearer TOKEN", bearer)
        if self._inside >= self._limits.requests:
            return HTTPException(503, "too many requests at once", {"Retry-After": "1"})
        length = headers.get("content-length", "0")
        if length.isdecimal() and int(length) > self._limits.body_bytes:
            return self._too_large()
        return None

    def _knows(self, headers: Headers) -> bool:
        if self._token is None:
            return True
        scheme, _, token = headers.get("authorization", "").partition(" ")
        is_right = hmac.compare_digest(token.strip().encode(), self._token.encode())
        return scheme.lower() == "bearer" and is_right

    def _too_large(self) -> HTTPException:
        detail = f"a request may have {self._limits.body_bytes} bytes; send fewer documents"
        return HTTPException(413, detail, {"Connection": "close"})  # the rest is not read

    async def _pass(self, scope: Scope, receive: Receive, send: Send) -> None:
        read = 0
        has_answered = False

        async def receive_some() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > self._limits.body_bytes:
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
            detail = f"not done after {self._limits.seconds:g} seconds"
            await respond(problem_of(503, detail), {"Retry-After": "5"})(scope, receive, send)
