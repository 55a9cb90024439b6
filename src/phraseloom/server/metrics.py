"""What a server counts about itself, for Prometheus, and the layer that counts it."""

import logging
import time
from collections.abc import Collection

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from phraseloom.server.jobs import describe
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
_SIZES = (1, 2, 4, 8, 16, 32, 64)


class Metrics:
    """Counters of one application; each has its own, so that several can live in a process."""

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        self.requests = Counter(
            "phraseloom_requests", "answered", ["path", "status"], registry=registry
        )
        self.request_seconds = Histogram(
            "phraseloom_request_seconds", "until the answer", ["path"], registry=registry
        )
        self.batch_documents = Histogram(
            "phraseloom_batch_documents",
            "searched together",
            buckets=_SIZES,
            registry=registry,
        )
        self.batch_seconds = Histogram(
            "phraseloom_batch_seconds", "searching a batch", registry=registry
        )
        self.in_progress = Gauge(
            "phraseloom_requests_in_progress", "not yet answered", registry=registry
        )
        self.queue = Gauge("phraseloom_queue_documents", "waiting", registry=registry)

    def saw_request(self, path: str, status: int, seconds: float) -> None:
        """Count an answer."""
        self.requests.labels(path, str(status)).inc()
        self.request_seconds.labels(path).observe(seconds)

    def saw_batch(self, documents: int, seconds: float) -> None:
        """Count documents that were searched together."""
        self.batch_documents.observe(documents)
        self.batch_seconds.observe(seconds)

    def render(self) -> bytes:
        """Everything in Prometheus' text format."""
        return generate_latest(self._registry)


class MetricsMiddleware:
    """The outermost layer: counts, a line of log, headers; an exception becomes a plain 500.

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
