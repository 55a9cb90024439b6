"""Errors as problem details (RFC 9457); none of them quotes a text."""

from collections.abc import Mapping
from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.responses import Response

MEDIA_TYPE = "application/problem+json"


class Wrong(BaseModel):
    """One thing that is wrong in a request."""

    pointer: str = Field(description="JSON pointer into the body, or where else to look")
    detail: str


class Problem(BaseModel):
    """Problem details as in RFC 9457."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    errors: list[Wrong] = []


def problem_of(status: int, detail: str, errors: list[Wrong] | None = None) -> Problem:
    """A problem whose title is the usual phrase for its status."""
    title = HTTPStatus(status).phrase
    return Problem(title=title, status=status, detail=detail, errors=errors or [])


def respond(problem: Problem, headers: Mapping[str, str] | None = None) -> Response:
    """A problem as a response."""
    return Response(
        problem.model_dump_json(), problem.status, dict(headers or {}), media_type=MEDIA_TYPE
    )


def add_handlers(app: FastAPI) -> None:
    """Have the application answer its errors with problem details."""
    app.add_exception_handler(HTTPException, _on_http)
    app.add_exception_handler(RequestValidationError, _on_invalid)


async def _on_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return respond(problem_of(error.status_code, str(error.detail)), error.headers)


async def _on_invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    errors = [Wrong(pointer=_pointer(each["loc"]), detail=each["msg"]) for each in error.errors()]
    return respond(problem_of(422, "the request does not fit the schema; see errors", errors))


def _pointer(place: tuple[int | str, ...]) -> str:
    where, *rest = place
    parts = [str(part).replace("~", "~0").replace("/", "~1") for part in rest]
    return "".join(["#" if where == "body" else str(where), *(f"/{part}" for part in parts)])
