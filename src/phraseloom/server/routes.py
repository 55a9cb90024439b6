"""The operations of the HTTP interface: requests into the queue, outcomes into responses."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Depends, Request
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import BaseModel, TypeAdapter
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import Receive

from phraseloom.errors import shown
from phraseloom.explanation import Explanation
from phraseloom.server.batching import Batcher, QueueFullError
from phraseloom.server.jobs import Failure, Job, Outcome
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
    parse_request,
)
from phraseloom.server.settings import Limits

Responses = dict[int | str, dict[str, Any]]
T = TypeVar("T")

_SEARCHING: Responses = {
    400: {"model": Problem, "description": "the body is not JSON"},
    413: {"model": Problem, "description": "there is too much of something; the detail says what"},
    415: {"model": Problem, "description": "the body is not said to be application/json"},
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
_CLIENT_GONE = 499  # as other servers log it; nobody gets this answer
_QUICK = 50_000  # bytes of a request; reading or writing more might hold up the event loop
_JSON = "application/json"
_EXPLANATION = TypeAdapter(Explanation)

router = APIRouter()


class ServerState:
    """What the operations work with."""

    def __init__(self, batcher: Batcher, limits: Limits, metrics: Metrics, models: Models) -> None:
        self.batcher = batcher
        self.limits = limits
        self.metrics = metrics
        self.models = models
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="shape")

    def close(self) -> None:
        """Let the thread go."""
        self._thread.shutdown()

    async def answer(
        self,
        request: Request,
        kind: type[ExtractRequest | BatchRequest],
        describe: Callable[[list[Outcome]], bytes],
    ) -> Response:
        """Read a request, search its documents, and write what came of them.

        One large request after the other is read and written, in one thread: the event loop, and
        with it all other requests, waits for none of them.
        """
        if request.headers.get("content-type", "").partition(";")[0].strip() != _JSON:
            raise HTTPException(415, f"send the header Content-Type: {_JSON}")
        try:
            body = await request.body()
            is_quick = len(body) <= _QUICK
            jobs = await self._do(is_quick, lambda: self._read(kind, body))
            outcomes = await self._search(jobs, request.receive)
        except ClientDisconnect:
            return Response(status_code=_CLIENT_GONE)
        return Response(await self._do(is_quick, lambda: describe(outcomes)), media_type=_JSON)

    async def _do(self, is_quick: bool, work: Callable[[], T]) -> T:
        if is_quick:
            return work()
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def _read(self, kind: type[ExtractRequest | BatchRequest], body: bytes) -> list[Job]:
        parsed = parse_request(kind, body, self.limits)
        if parsed.style is not None and parsed.style not in self.models.styles:
            known = ", ".join(self.models.styles) or "none"
            style = shown(parsed.style)
            raise HTTPException(422, f"unknown style {style}; this model knows: {known}")
        jobs = parsed.jobs()
        if any(job.characters > self.limits.characters for job in jobs):
            raise HTTPException(413, f"a text may have {self.limits.characters} characters")
        if (work := sum(job.work for job in jobs)) > self.limits.work:
            raise HTTPException(
                413,
                f"too much at once: {work} characters times phrases, of {self.limits.work}; ask for"
                " fewer phrases with top, or send fewer or shorter texts",
            )
        return jobs

    async def _search(self, jobs: Sequence[Job], receive: Receive) -> list[Outcome]:
        """Outcomes of the documents of one request; a mistake in it concerns them all.

        Raises:
            ClientDisconnect: the client has gone; what is not done is given up.
        """
        try:
            answers = self.batcher.submit(jobs)
        except QueueFullError as full:
            raise HTTPException(
                429, "the queue is full", {"Retry-After": str(full.seconds)}
            ) from None
        gone: asyncio.Future[Any] = asyncio.create_task(_wait_until_gone(receive))
        try:
            for answer in answers:
                await asyncio.wait({answer, gone}, return_when=asyncio.FIRST_COMPLETED)
                if not answer.done():
                    raise ClientDisconnect
        finally:
            gone.cancel()
            for answer in answers:
                answer.cancel()  # one that is done stays as it is
        outcomes = [answer.result() for answer in answers]
        for outcome in outcomes:
            if isinstance(outcome, Failure) and outcome.is_mistake:
                raise HTTPException(422, outcome.message)
        return outcomes


async def _wait_until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _state(request: Request) -> ServerState:
    state: ServerState = request.app.state.server
    return state


State = Annotated[ServerState, Depends(_state)]


@router.post("/v1/extract", responses=_SEARCHING, response_model=Extracted | Explanation)
async def extract(request: Request, state: State) -> Response:
    """Keyphrases of one document; with `trace`, also the graph and how each phrase was chosen."""
    return await state.answer(request, ExtractRequest, _write_one)


@router.post("/v1/extract/batch", responses=_SEARCHING, response_model=BatchExtracted)
async def extract_batch(request: Request, state: State) -> Response:
    """Keyphrases of several documents, in order; one that fails does not harm the others."""
    return await state.answer(request, BatchRequest, _write_several)


@router.get("/v1/models")
async def models(state: State) -> Models:
    """The models that are installed, and which of them answers here."""
    return state.models


@router.head("/healthz", include_in_schema=False)
@router.get("/healthz")
async def healthz() -> Status:
    """Whether the server runs."""
    return Status(status="ok")


@router.head("/readyz", include_in_schema=False)
@router.get("/readyz", responses=_NOT_READY)
async def readyz(state: State) -> Status:
    """Whether the server would take a document now."""
    if not state.batcher.is_ready:
        raise HTTPException(503, "the queue is full", {"Retry-After": "1"})
    return Status(status="ready")


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {CONTENT_TYPE_LATEST: {"schema": {"type": "string"}}}}},
)
async def metrics(state: State) -> Response:
    """Counters of requests, batches and the process, for Prometheus."""
    return Response(state.metrics.render(), headers={"Content-Type": CONTENT_TYPE_LATEST})


def _write_one(outcomes: list[Outcome]) -> bytes:
    [outcome] = outcomes
    if isinstance(outcome, Failure):
        raise HTTPException(500, _FAULT)
    if isinstance(outcome, Explanation):
        return _EXPLANATION.dump_json(outcome)
    return _dump(Extracted(keyphrases=outcome))


def _write_several(outcomes: list[Outcome]) -> bytes:
    return _dump(BatchExtracted(results=[_item(outcome) for outcome in outcomes]))


def _dump(model: BaseModel) -> bytes:
    return model.model_dump_json().encode()


def _item(outcome: Outcome) -> BatchItem:
    if isinstance(outcome, Failure):
        return BatchItem(problem=problem_of(500, _FAULT))
    assert not isinstance(outcome, Explanation), "several documents are not traced"
    return BatchItem(keyphrases=outcome)
