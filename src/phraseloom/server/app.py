"""The application: routes, limits and pages around the workers that search."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI

from phraseloom import __version__
from phraseloom.server.batching import Batcher
from phraseloom.server.docs_page import STYLE, docs_page
from phraseloom.server.guard import Gate, Watch
from phraseloom.server.limits import Limits
from phraseloom.server.metrics import Metrics
from phraseloom.server.openapi import describe_app
from phraseloom.server.pages import file_route, page_routes
from phraseloom.server.problems import add_handlers
from phraseloom.server.routes import Parts, router
from phraseloom.server.schema import ModelInfo, Models
from phraseloom.server.workers import Worker


def create_app(
    workers: Sequence[Worker],
    *,
    limits: Limits | None = None,
    token: str | None = None,
    models: Sequence[ModelInfo] = (),
) -> FastAPI:
    """An application that searches with some workers; it closes them when it ends.

    Args:
        workers: one for each batch that may be searched at a time.
        limits: on requests and queue.
        token: what clients of ``/v1`` and ``/metrics`` must send; None lets everyone in.
        models: to be told to clients.
    """
    limits = limits or Limits()
    metrics = Metrics()
    batcher = Batcher(workers, limits, metrics)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        batcher.start()
        yield
        await batcher.close()

    app = FastAPI(
        title="phraseloom",
        version=__version__,
        description="Keyphrases from text, read off its dependency graph.",
        docs_url=None,  # FastAPI's own pages load their scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
    )
    styles = list(workers[0].styles)
    known = Models(models=list(models), styles=styles)
    app.state.parts = Parts(batcher, limits, metrics, known)
    app.include_router(router)
    add_handlers(app)
    document = describe_app(app, styles, has_token=token is not None)
    app.openapi = lambda: document  # type: ignore[method-assign]
    paths = [*document["paths"], *_add_pages(app, document)]
    app.add_middleware(Gate, limits=limits, token=token)
    app.add_middleware(Watch, paths=paths, metrics=metrics)  # added last: the outermost
    return app


def _add_pages(app: FastAPI, document: dict[str, Any]) -> list[str]:
    """Add what people look at, and say at which paths."""
    pages = [
        *page_routes(),
        file_route("/docs", docs_page(document), ".html"),
        file_route("/docs.css", STYLE, ".css"),
    ]
    app.router.routes.extend(pages)
    return [page.path for page in pages]
