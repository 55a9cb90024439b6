"""A server in the test's own process: a tiny real model behind a parser with weak spots."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from threading import Event, Thread
from typing import Any, TypeVar

from fastapi import FastAPI
from httpx import ASGITransport, AsyncClient, Response

from phraseloom.config import ModelConfig, SearchConfig
from phraseloom.extractor import Extractor
from phraseloom.network.model import KeyphraseModel
from phraseloom.server.app import create_app
from phraseloom.server.run import make_server
from phraseloom.server.settings import Limits
from phraseloom.server.workers import ThreadWorker
from phraseloom.text.document import Document, Source
from phraseloom.text.parsers import Parser
from tests.builders import make_english_lexicon, make_weights

TEXT = (
    "Graph-based neural networks find keyphrases. The graph 😀 is dynamic; it is re-scored\n"
    "after each phrase, and the Graph based networks say what is left."
)
BROKEN, SLOW = "broken", "slow"
MODEL = ModelConfig(
    word_width=8, width=12, layers=2, decoder_layers=1, attention="bilinear", styles=("a", "b")
)
SEARCH = SearchConfig(beam_width=3, max_words=3, max_phrases=5, min_score=0.0, window_tokens=30)

T = TypeVar("T")


class WeakParser:
    """Fails with a text that says `BROKEN`, quoting it, and lets a `SLOW` one wait for ``go``."""

    name = "weak"

    def __init__(self, parser: Parser) -> None:
        self._parser = parser
        self.batches: list[list[str]] = []
        self.is_busy = Event()
        self.go = Event()

    def parse_batch(
        self, sources: Sequence[Source], *, between: Callable[[], object] = bool
    ) -> list[Document]:
        self.batches.append([source.text for source in sources])
        for source in sources:
            if BROKEN in source.text:
                raise ValueError(f"cannot parse {source.text}")
            if SLOW in source.text:
                self.is_busy.set()
                self.go.wait(timeout=60)
        return self._parser.parse_batch(sources, between=between)


def make_extractor(parser: Parser) -> Extractor:
    lexicon = make_english_lexicon(styles=MODEL.styles)
    return Extractor(KeyphraseModel(MODEL, lexicon, make_weights(MODEL, lexicon)), SEARCH, parser)


def make_app(
    extractor: Extractor,
    limits: Limits | None = None,
    token: str | None = None,
    hosts: Sequence[str] = (),
) -> FastAPI:
    return create_app([ThreadWorker(extractor)], limits=limits, token=token, hosts=hosts)


class LiveServer:
    """An application on a port of this machine, until it is told to stop."""

    def __init__(self, app: FastAPI, port: int = 0, limits: Limits | None = None) -> None:
        self._socket = socket.create_server(("127.0.0.1", port))
        self.port: int = self._socket.getsockname()[1]
        self.address = f"http://127.0.0.1:{self.port}/"
        self._server = make_server(app, limits or Limits())
        self._server.config.timeout_graceful_shutdown = 1
        self._thread = Thread(target=self._server.run, args=([self._socket],))
        self._thread.start()

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()


@asynccontextmanager
async def client_of(app: FastAPI) -> AsyncIterator[AsyncClient]:
    """A client of the running application, which is closed in the end as a server does."""
    async with (
        app.router.lifespan_context(app),
        AsyncClient(transport=ASGITransport(app), base_url="http://localhost") as client,
    ):
        yield client


def ask(app: FastAPI, method: str, path: str, **request: Any) -> Response:
    """One request to an application of its own."""

    async def send(client: AsyncClient) -> Response:
        return await client.request(method, path, **request)

    return talk(app, send)


def talk(app: FastAPI, conversation: Callable[[AsyncClient], Awaitable[T]]) -> T:
    """Several requests to an application."""

    async def run() -> T:
        async with client_of(app) as client:
            return await conversation(client)

    return asyncio.run(run())


async def post(client: AsyncClient, text: str, **settings: Any) -> Response:
    return await client.post("/v1/extract", json={"text": text, **settings})


async def busy(parser: WeakParser) -> None:
    """Wait until the worker is held up by a slow text."""
    assert await asyncio.to_thread(parser.is_busy.wait, 60)


async def queued(client: AsyncClient, documents: int) -> None:
    """Wait until so many documents wait."""
    wanted = f"phraseloom_queue_documents {documents}.0"
    while wanted not in (await client.get("/metrics")).text:
        await asyncio.sleep(0)


def phrase_texts(response: Response) -> list[str]:
    assert response.status_code == 200, response.text
    return [phrase["text"] for phrase in response.json()["keyphrases"]]
