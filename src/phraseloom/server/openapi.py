"""The OpenAPI document: what FastAPI finds out by itself, and what only this server knows."""

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from phraseloom.server.guard import Gate
from phraseloom.server.problems import MEDIA_TYPE


def describe_app(app: FastAPI, styles: list[str], *, has_token: bool) -> dict[str, Any]:
    """The document of an application.

    Args:
        app: with all its operations.
        styles: that its model knows.
        has_token: whether clients must send one.
    """
    document = get_openapi(
        title=app.title, version=app.version, description=app.description, routes=app.routes
    )
    for schema in document["components"]["schemas"].values():
        if style := schema.get("properties", {}).get("style"):
            known = [{"type": "string", "enum": styles}] if styles else []
            style["anyOf"] = [*known, {"type": "null"}]
    if has_token:
        _ask_for_token(document)
    for methods in document["paths"].values():
        for operation in methods.values():
            _tell_problems(operation["responses"])
    return document


def _ask_for_token(document: dict[str, Any]) -> None:
    document["components"]["securitySchemes"] = {"bearer": {"type": "http", "scheme": "bearer"}}
    problem = {"schema": {"$ref": "#/components/schemas/Problem"}}
    for path, methods in document["paths"].items():
        for operation in methods.values():
            if path.startswith(Gate.PROTECTED):
                operation["security"] = [{"bearer": []}]
                operation["responses"]["401"] = {
                    "description": "no token, or not the right one",
                    "content": {"application/json": problem},
                }


def _tell_problems(responses: dict[str, Any]) -> None:
    """Give errors the media type that they have."""
    for status, response in responses.items():
        if int(status) >= 400:
            response["content"] = {MEDIA_TYPE: response["content"]["application/json"]}
