"""The OpenAPI document, for machines and as a plain page that loads nothing from elsewhere."""

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic.json_schema import models_json_schema

from phraseloom.server.access import AccessMiddleware
from phraseloom.server.problems import MEDIA_TYPE
from phraseloom.server.schema import BatchRequest, ExtractRequest

_BODIES = {"/v1/extract": ExtractRequest, "/v1/extract/batch": BatchRequest}
_SCHEMAS = "#/components/schemas/"

STYLE = """\
body { max-width: 50rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif;
  color-scheme: light dark; }
h2 { margin-top: 2.5rem; font-family: ui-monospace, monospace; font-size: 1.1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { padding: 0.25rem 0.75rem 0.25rem 0; border-bottom: 1px solid #8886; text-align: left;
  vertical-align: top; }
"""


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
    _add_bodies(document)
    for schema in document["components"]["schemas"].values():
        if style := schema.get("properties", {}).get("style"):
            known = [{"type": "string", "enum": styles}] if styles else []
            style["anyOf"] = [*known, {"type": "null"}]
    if has_token:
        _ask_for_token(document)
    for methods in document["paths"].values():
        for operation in methods.values():
            _set_media_types(operation["responses"])
    return document


def _add_bodies(document: dict[str, Any]) -> None:
    """Add the bodies of requests: we read them ourselves, so FastAPI does not know them."""
    kinds = [(kind, "validation") for kind in _BODIES.values()]
    _, definitions = models_json_schema(kinds, ref_template=_SCHEMAS + "{model}")  # type: ignore[arg-type]
    document["components"]["schemas"] |= definitions["$defs"]
    for path, kind in _BODIES.items():
        document["paths"][path]["post"]["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": {"$ref": _SCHEMAS + kind.__name__}}},
        }


def _ask_for_token(document: dict[str, Any]) -> None:
    document["components"]["securitySchemes"] = {"bearer": {"type": "http", "scheme": "bearer"}}
    problem = {"schema": {"$ref": f"{_SCHEMAS}Problem"}}
    for path, methods in document["paths"].items():
        for operation in methods.values():
            if path.startswith(AccessMiddleware.PROTECTED):
                operation["security"] = [{"bearer": []}]
                operation["responses"]["401"] = {
                    "description": "no token, or not the right one",
                    "content": {"application/json": problem},
                }


def _set_media_types(responses: dict[str, Any]) -> None:
    """Give errors the media type that they have."""
    for status, response in responses.items():
        if int(status) >= 400:
            response["content"] = {MEDIA_TYPE: response["content"]["application/json"]}


def docs_page(document: Mapping[str, Any]) -> str:
    """An HTML page that lists every operation of an OpenAPI document; it links ``/docs.css``."""
    title = escape(f"{document['info']['title']} {document['info']['version']}")
    body = "\n".join(_operations(document))
    return (
        '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width">\n'
        f'<title>{title}</title>\n<link rel="stylesheet" href="/docs.css">\n'
        f"<h1>{title}</h1>\n<p>{escape(document['info']['description'])}</p>\n"
        '<p>For machines: <a href="/openapi.json">OpenAPI document</a>.</p>\n'
        f"{body}\n</html>\n"
    )


def _operations(document: Mapping[str, Any]) -> Iterator[str]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield f"<h2>{method.upper()} {escape(path)}</h2>"
            yield f"<p>{escape(operation.get('description', operation['summary']))}</p>"
            if body := operation.get("requestBody"):
                yield "<h3>Request</h3>"
                yield _fields(document, body["content"]["application/json"]["schema"])
            yield "<h3>Responses</h3>"
            yield _table(
                (status, response["description"])
                for status, response in operation["responses"].items()
            )


def _fields(document: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    """The fields of a schema, those of schemas it refers to in brackets."""
    fields = document["components"]["schemas"][_kind(schema)]
    required = fields.get("required", [])
    return _table(
        (
            name,
            _kind(field) + (", required" if name in required else ""),
            field.get("description", ""),
        )
        for name, field in sorted(
            fields["properties"].items(), key=lambda item: item[0] not in required
        )
    )


def _kind(field: Mapping[str, Any]) -> str:
    if "$ref" in field:
        return str(field["$ref"]).rsplit("/", 1)[-1]
    if "anyOf" in field:
        return " or ".join(_kind(choice) for choice in field["anyOf"])
    if "enum" in field:
        return " or ".join(map(str, field["enum"]))
    if field.get("type") == "array":
        return f"array of {_kind(field['items'])}"
    return str(field.get("type", "any"))


def _table(rows: Iterator[tuple[str, ...]]) -> str:
    cells = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows)
    return "<table>" + "".join(f"<tr>{row}</tr>" for row in cells) + "</table>"
