"""Errors as problem details (RFC 9457); none of them quotes a text."""

from collections.abc import Mapping
from http import HTTPStatus
from itertools import islice

from fastapi import FastAPI, Request
from pydantic import BaseModel, Field, ValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from phraseloom.errors import OptionsError
from phraseloom.text.words import replace_surrogates

MEDIA_TYPE = "application/problem+json"
MAX_ERRORS = 20
"""Things wrong in one request that are listed."""
_LONGEST_POINTER = 200  # characters; the name of a field may be as long as a request


class ErrorDetail(BaseModel):
    """One thing that is wrong in a request."""

    pointer: str = Field(description="JSON pointer into the body, or where else to look")
    detail: str


class Problem(BaseModel):
    """Problem details as in RFC 9457."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    errors: list[ErrorDetail] = []


def problem_of(status: int, detail: str, errors: list[ErrorDetail] | None = None) -> Problem:
    """A problem whose title is the usual phrase for its status."""
    title = HTTPStatus(status).phrase
    return Problem(
        title=title, status=status, detail=replace_surrogates(detail), errors=errors or []
    )


def respond(problem: Problem, headers: Mapping[str, str] | None = None) -> Response:
    """A problem as a response."""
    return Response(
        problem.model_dump_json(), problem.status, dict(headers or {}), media_type=MEDIA_TYPE
    )


def add_handlers(app: FastAPI) -> None:
    """Have the application answer its errors with problem details."""
    app.add_exception_handler(HTTPException, _on_http)
    app.add_exception_handler(ValidationError, _on_invalid)
    app.add_exception_handler(OptionsError, _on_options)


async def _on_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return respond(problem_of(error.status_code, str(error.detail)), error.headers)


async def _on_options(request: Request, error: Exception) -> Response:
    return respond(problem_of(422, str(error)))


async def _on_invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, ValidationError)
    errors = [
        ErrorDetail(pointer=_pointer(problem["loc"]), detail=problem["msg"])
        for problem in islice(error.errors(include_url=False, include_input=False), MAX_ERRORS)
    ]
    return respond(problem_of(422, "the request does not fit the schema; see errors", errors))


def _pointer(location: tuple[int | str, ...]) -> str:
    parts = [str(part).replace("~", "~0").replace("/", "~1") for part in location]
    return "".join(["#", *(f"/{part}" for part in parts)])[:_LONGEST_POINTER]
