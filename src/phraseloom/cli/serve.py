"""Serve keyphrases over HTTP, and a page to try them."""

import logging
import signal
from dataclasses import replace
from ipaddress import ip_address
from typing import Annotated

import typer

from phraseloom.cli import arguments
from phraseloom.cli.console import say
from phraseloom.errors import MissingExtraError
from phraseloom.server.settings import Limits, ServerSettings

_DEFAULT = Limits()


def serve(
    host: Annotated[str, typer.Option(help="network interface to listen on")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes any that is free")] = 8000,
    model: arguments.Model = None,
    workers: Annotated[
        int, typer.Option(min=1, help="processes that search; 1: a thread of the server")
    ] = 1,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="PHRASELOOM_TOKEN", show_envvar=True, help="that clients must send as bearer"
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="name by which clients may call it, besides localhost; * is any; repeatable",
        ),
    ] = None,
    queue: Annotated[int, typer.Option(min=1, help="documents that may wait")] = _DEFAULT.queue,
    timeout: Annotated[
        float, typer.Option(min=0.1, help="seconds for a request")
    ] = _DEFAULT.seconds,
    max_body: Annotated[int, typer.Option(min=1, help="bytes in a request")] = _DEFAULT.body_bytes,
    max_characters: Annotated[
        int, typer.Option(min=1, help="characters in a text")
    ] = _DEFAULT.characters,
    max_documents: Annotated[
        int, typer.Option(min=1, help="documents in a request for several")
    ] = _DEFAULT.documents,
    max_work: Annotated[
        int, typer.Option(min=1, help="characters times phrases in a request")
    ] = _DEFAULT.work,
    batch: Annotated[
        int, typer.Option(min=1, help="documents searched together, at most")
    ] = _DEFAULT.batch,
    gather_ms: Annotated[
        float, typer.Option(min=0, help="milliseconds to wait for others to search with")
    ] = _DEFAULT.gather_seconds * 1000,
) -> None:
    """Serve keyphrases over HTTP, and a page to try them."""
    limits = replace(
        _DEFAULT,
        queue=queue,
        seconds=timeout,
        body_bytes=max_body,
        characters=max_characters,
        documents=max_documents,
        work=max_work,
        batch=batch,
        gather_seconds=gather_ms / 1000,
    )
    _run(ServerSettings(host, port, model, workers, token, tuple(allow_host or ()), limits))


def _run(settings: ServerSettings) -> None:
    try:
        from phraseloom.server.run import run_server  # here: start-up time, and an extra
    except ModuleNotFoundError as error:
        if str(error.name).startswith("phraseloom"):
            raise
        raise MissingExtraError("phraseloom serve", "serve") from None

    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # what uvicorn ends with, when all is answered
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    is_open = settings.token is None and not _is_loopback(settings.host)
    try:
        run_server(settings, on_ready=lambda address: _announce(address, is_open=is_open))
    except KeyboardInterrupt:  # what ends a server that is waited for
        say("phraseloom: stopped")


def _announce(address: str, *, is_open: bool) -> None:
    say(f"phraseloom: {address} (control-C stops it)")
    if is_open:
        say("phraseloom: open to everyone who can reach it; see --token")


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
