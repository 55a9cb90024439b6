"""The application: routes, limits and pages around the workers that search."""

from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from pathlib import PurePosixPath
from typing import Any

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from phraseloom import __version__
from phraseloom.server.access import AccessMiddleware
from phraseloom.server.batching import Batcher
from phraseloom.server.metrics import Metrics, MetricsMiddleware
from phraseloom.server.openapi import STYLE, describe_app, docs_page
from phraseloom.server.problems import add_handlers
from phraseloom.server.routes import ServerState, router
from phraseloom.server.schema import ModelInfo, Models
from phraseloom.server.settings import Limits
from phraseloom.server.workers import Worker
from phraseloom.web.saved import page_files

_MEDIA_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


def create_app(
    workers: Sequence[Worker],
    *,
    limits: Limits | None = None,
    token: str | None = None,
    hosts: Collection[str] = (),
    models: Sequence[ModelInfo] = (),
) -> FastAPI:
    """An application that searches with some workers; it closes them when it ends.

    Args:
        workers: one for each batch that may be searched at a time.
        limits: on requests and queue.
        token: what clients of ``/v1`` and ``/metrics`` must send; None lets everyone in.
        hosts: names by which clients may call the server, besides the loopback ones; ``*`` is any.
        models: what clients are told about the installed models.
    """
    limits = limits or Limits()
    metrics = Metrics()
    batcher = Batcher(workers, limits, metrics)
    styles = list(workers[0].styles)
    state = ServerState(batcher, limits, metrics, Models(models=list(models), styles=styles))

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        batcher.start()
        yield
        await batcher.close()
        state.close()

    app = FastAPI(
        title="phraseloom",
        version=__version__,
        description="Keyphrases from text, read off its dependency graph.",
        docs_url=None,  # FastAPI's own pages load their scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
    )
    app.state.server = state
    app.include_router(router)
    add_handlers(app)
    document = describe_app(app, styles, has_token=token is not None)
    app.openapi = lambda: document  # type: ignore[method-assign]
    paths = [*document["paths"], *_add_pages(app, document)]
    app.add_middleware(AccessMiddleware, limits=limits, token=token, hosts=hosts)
    app.add_middleware(MetricsMiddleware, paths=paths, metrics=metrics)  # last: the outermost
    return app


def _add_pages(app: FastAPI, document: dict[str, Any]) -> list[str]:
    """Add what people look at, and say at which paths."""
    files = {**page_files(), "docs.html": docs_page(document), "docs.css": STYLE}
    paths = {"index.html": "/", "docs.html": "/docs"}
    routes = [
        _file_route(paths.get(name, f"/{name}"), content, PurePosixPath(name).suffix)
        for name, content in files.items()
    ]
    app.router.routes.extend(routes)
    return [route.path for route in routes]


def _file_route(path: str, content: str, suffix: str) -> Route:
    async def show(request: Request) -> Response:
        headers = {"Cache-Control": "no-cache"}
        return Response(content, headers=headers, media_type=_MEDIA_TYPES[suffix])

    return Route(path, show)
