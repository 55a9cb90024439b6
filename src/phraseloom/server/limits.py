"""What a server lets through: the only place where these defaults are written down."""

from dataclasses import dataclass

from phraseloom.errors import PhraseloomError


@dataclass(frozen=True)
class Limits:
    """Bounds on requests, on what waits, and on what is searched together.

    Attributes:
        body_bytes: of one request.
        characters: of one document, its title included.
        documents: in one request for several.
        requests: being answered at once, whatever they wait for.
        queue: documents that may wait; more are refused.
        seconds: for one request, from its headers to its answer.
        batch: documents searched together, at most.
        batch_characters: the same in characters: short texts should not wait for many long ones.
        gather_seconds: how long a document waits for others to be searched with.
    """

    body_bytes: int = 2_000_000
    characters: int = 100_000
    documents: int = 64
    requests: int = 512
    queue: int = 128
    seconds: float = 30.0
    batch: int = 32
    batch_characters: int = 60_000
    gather_seconds: float = 0.005

    def __post_init__(self) -> None:
        if self.documents > self.queue:
            raise PhraseloomError(
                f"a request of {self.documents} documents, which is allowed, would never fit into a"
                f" queue of {self.queue}; make --queue longer or --max-documents smaller"
            )
