"""The operations of the HTTP interface: requests into the queue, outcomes into responses."""

import asyncio
from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.exceptions import HTTPException
from starlette.responses import Response

from phraseloom.explain import Explanation
from phraseloom.server.batching import Batcher, QueueFullError
from phraseloom.server.jobs import Failure, Job, Outcome
from phraseloom.server.limits import Limits
from phraseloom.server.metrics import Metrics
from phraseloom.server.problems import Problem, problem_of
from phraseloom.server.schema import (
    BatchExtracted,
    BatchItem,
    BatchRequest,
    Extracted,
    ExtractRequest,
    Models,
    Status,
)

Responses = dict[int | str, dict[str, Any]]

_SEARCHING: Responses = {
    400: {"model": Problem, "description": "the body is no JSON that can be read"},
    413: {"model": Problem, "description": "the body, a text or the list of texts is too long"},
    422: {"model": Problem, "description": "the request does not fit the schema or the model"},
    429: {
        "model": Problem,
        "description": "the queue is full; come back after Retry-After seconds",
    },
    500: {"model": Problem, "description": "the server failed"},
    503: {"model": Problem, "description": "not done in time, or too many requests at once"},
}
_NOT_READY: Responses = {503: {"model": Problem, "description": "the queue is full"}}
_FAULT = "the document could not be searched; the server's log says where it failed"

router = APIRouter()


class Parts:
    """What the operations work with."""

    def __init__(self, batcher: Batcher, limits: Limits, metrics: Metrics, models: Models) -> None:
        self.batcher = batcher
        self.limits = limits
        self.metrics = metrics
        self.models = models

    async def search(self, body: ExtractRequest | BatchRequest) -> list[Outcome]:
        """Outcomes of the documents of one request; a mistake in it concerns them all."""
        jobs = body.jobs()
        self._check(jobs, body.style)
        try:
            futures = self.batcher.submit(jobs)
        except QueueFullError as full:
            raise HTTPException(
                429, "the queue is full", {"Retry-After": str(full.seconds)}
            ) from None
        outcomes = await asyncio.gather(*futures)
        for outcome in outcomes:
            if isinstance(outcome, Failure) and outcome.is_mistake:
                raise HTTPException(422, outcome.message)
        return outcomes

    def _check(self, jobs: Sequence[Job], style: str | None) -> None:
        if style is not None and style not in self.models.styles:
            known = ", ".join(self.models.styles) or "none"
            raise HTTPException(422, f"unknown style {style!r}; this model knows: {known}")
        if len(jobs) > self.limits.documents:
            raise HTTPException(413, f"a request may have {self.limits.documents} documents")
        if any(job.characters > self.limits.characters for job in jobs):
            raise HTTPException(413, f"a text may have {self.limits.characters} characters")


def _parts(request: Request) -> Parts:
    parts: Parts = request.app.state.parts
    return parts


PartsOf = Annotated[Parts, Depends(_parts)]


@router.post("/v1/extract", responses=_SEARCHING)
async def extract(body: ExtractRequest, parts: PartsOf) -> Extracted | Explanation:
    """Keyphrases of one document; with `trace`, also the graph and how each phrase was chosen."""
    [outcome] = await parts.search(body)
    if isinstance(outcome, Failure):
        raise HTTPException(500, _FAULT)
    return outcome if isinstance(outcome, Explanation) else Extracted(keyphrases=outcome)


@router.post("/v1/extract/batch", responses=_SEARCHING)
async def extract_batch(body: BatchRequest, parts: PartsOf) -> BatchExtracted:
    """Keyphrases of several documents, in order; one that fails does not harm the others."""
    outcomes = await parts.search(body)
    return BatchExtracted(results=[_item(outcome) for outcome in outcomes])


@router.get("/v1/models")
async def models(parts: PartsOf) -> Models:
    """The models that are installed, and which of them answers here."""
    return parts.models


@router.get("/healthz")
async def healthz() -> Status:
    """Whether the server runs."""
    return Status(status="ok")


@router.get("/readyz", responses=_NOT_READY)
async def readyz(parts: PartsOf) -> Status:
    """Whether the server would take a document now."""
    if not parts.batcher.is_ready:
        raise HTTPException(503, "the queue is full", {"Retry-After": "1"})
    return Status(status="ready")


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {CONTENT_TYPE_LATEST: {"schema": {"type": "string"}}}}},
)
async def metrics(parts: PartsOf) -> Response:
    """Counters of requests, batches and the process, for Prometheus."""
    return Response(parts.metrics.render(), headers={"Content-Type": CONTENT_TYPE_LATEST})


def _item(outcome: Outcome) -> BatchItem:
    if isinstance(outcome, Failure):
        return BatchItem(problem=problem_of(500, _FAULT))
    assert not isinstance(outcome, Explanation), "several documents are not traced"
    return BatchItem(keyphrases=outcome)
