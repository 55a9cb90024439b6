"""Run a server until it is told to stop."""

import logging
import socket
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import uvicorn
from fastapi import FastAPI

from phraseloom.errors import PhraseloomError
from phraseloom.network.registry import find_installed, installed_models
from phraseloom.server.app import create_app
from phraseloom.server.connections import (
    BoundedProtocol,
    ConnectionBounds,
    RateLimit,
    accepted_at_once,
    connection_limit,
)
from phraseloom.server.schema import ModelInfo
from phraseloom.server.settings import Limits, ServerSettings
from phraseloom.server.workers import ThreadWorker, Worker, load_warm, start_processes

_CLOSING_SECONDS = 5


def run_server(settings: ServerSettings, on_ready: Callable[[str], None]) -> None:
    """Load the model, then serve until a signal; what was accepted is finished.

    Args:
        settings: of this server.
        on_ready: called with the address as soon as it can be opened.

    Raises:
        PhraseloomError: the address is taken or the model cannot be loaded.
    """
    with bind(settings.host, settings.port) as listener:
        models = list_models(settings.model)
        workers: list[Worker] = (
            [ThreadWorker(load_warm(settings.model))]
            if settings.workers == 1
            else [*start_processes(settings.model, settings.workers)]
        )
        app = create_app(
            workers,
            limits=settings.limits,
            token=settings.token,
            hosts=(settings.host, *settings.hosts),
            models=models,
        )
        listener.listen(accepted_at_once())
        on_ready(_address(listener))
        logging.getLogger("uvicorn").setLevel(logging.WARNING)  # our own log says what matters
        for handler in logging.getLogger().handlers:
            handler.addFilter(RateLimit())
        make_server(app, settings.limits).run(sockets=[listener])


def make_server(app: FastAPI, limits: Limits) -> uvicorn.Server:
    """Uvicorn around an application, with bounds on connections."""
    bounds = ConnectionBounds(
        connection_limit(limits.requests),
        idle_seconds=limits.idle_seconds,
        kept_seconds=limits.kept_seconds,
        write_seconds=limits.seconds,
    )
    config = uvicorn.Config(
        app,
        http=partial(BoundedProtocol, bounds),  # type: ignore[arg-type]  # it makes a protocol
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,  # it would tell whole addresses, and who knows what is in them
        server_header=False,
        proxy_headers=False,  # nothing here asks who the client is
        timeout_keep_alive=int(limits.kept_seconds) + _CLOSING_SECONDS,  # ours is the one that acts
        backlog=accepted_at_once(),
        timeout_graceful_shutdown=int(limits.seconds) + _CLOSING_SECONDS,
    )
    return uvicorn.Server(config)


def bind(host: str, port: int) -> socket.socket:
    """A socket with that address, not yet listening.

    Raises:
        PhraseloomError: there is no such address, or another program has it.
    """
    try:
        [(family, kind, protocol, _, address), *_] = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        with ExitStack() as on_failure:
            listener = on_failure.enter_context(socket.socket(family, kind, protocol))
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            on_failure.pop_all()
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise PhraseloomError(
            f"cannot listen on {host}, port {port}: {reason.lower()}; choose others with --host"
            " and --port"
        ) from None
    return listener


def list_models(served: str | None) -> list[ModelInfo]:
    """The installed models and the one that is served, if it is not one of them."""
    path = find_installed(served)
    models = [
        ModelInfo(
            name=model.name,
            size_bytes=model.size_bytes,
            is_served=model.path == path,
            notes=model.notes,
        )
        for model in installed_models()
    ]
    if not any(model.is_served for model in models):
        size = sum(file.stat().st_size for file in Path(path).rglob("*") if file.is_file())
        own = ModelInfo(name=path.resolve().name, size_bytes=size, is_served=True, notes={})
        models.insert(0, own)
    return models


def _address(listener: socket.socket) -> str:
    host, port, *_ = listener.getsockname()
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
