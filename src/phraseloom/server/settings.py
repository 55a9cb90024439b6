"""What a server listens to and lets through: the only place where these defaults are written down.

The command line reads them before it is known whether what serves is installed.
"""

import re
from dataclasses import dataclass

from phraseloom.errors import PhraseloomError

LOOPBACK = ("localhost", "127.0.0.1", "::1")
_TOKEN = re.compile(r"[!-~]+")  # what arrives in a header as it was sent, whoever sends it


@dataclass(frozen=True)
class Limits:
    """Bounds on connections and requests, on what waits, and on what is searched together.

    Work is counted in characters times phrases: time grows with both.

    Attributes:
        body_bytes: of one request.
        characters: of one document, its title included.
        documents: in one request for several.
        phrases: in each of candidates, seeds and exclude.
        work: of one request.
        requests: being answered at once, whatever they wait for.
        queue: documents that may wait; more are refused.
        seconds: for one request, from its headers to its answer.
        idle_seconds: that a connection may take to send the headers of a request.
        kept_seconds: between an answer and the next request; longer than clients and proxies keep
            a connection (nginx: 60), so that they end it, and no request meets a closing one.
        batch: documents searched together, at most.
        batch_work: the same in work; what is more by itself is searched alone.
        gather_seconds: how long a document waits for others to be searched with.
    """

    body_bytes: int = 2_000_000
    characters: int = 100_000
    documents: int = 64
    phrases: int = 1_000
    work: int = 4_000_000
    requests: int = 512
    queue: int = 128
    seconds: float = 30.0
    idle_seconds: float = 10.0
    kept_seconds: float = 75.0
    batch: int = 32
    batch_work: int = 600_000
    gather_seconds: float = 0.005

    def __post_init__(self) -> None:
        if self.documents > self.queue:
            raise PhraseloomError(
                f"a request of {self.documents} documents, which is allowed, would never fit into a"
                f" queue of {self.queue}; make --queue longer or --max-documents smaller"
            )


@dataclass(frozen=True)
class ServerSettings:
    """Where to listen, and what to answer with.

    Attributes:
        host: address or name of the network interface.
        port: 0 takes any that is free.
        model: name or directory; None is the default model.
        workers: 1 searches in a thread of the server; more are processes with a model each.
        token: what clients must send; None lets everyone in.
        hosts: names by which clients may call the server, besides the loopback ones.
        limits: on requests and queue.
    """

    host: str
    port: int
    model: str | None
    workers: int
    token: str | None
    hosts: tuple[str, ...]
    limits: Limits

    def __post_init__(self) -> None:
        if self.token is None:
            return
        if not self.token.strip():
            raise PhraseloomError("the token is empty; leave it out to let everyone in")
        if not _TOKEN.fullmatch(self.token):
            raise PhraseloomError(
                "the token has a space or what is not ASCII, which clients send in different ways;"
                " make one with: openssl rand -hex 32"
            )
