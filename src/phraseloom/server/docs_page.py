"""The OpenAPI document as a plain page: no script, nothing loaded from elsewhere."""

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

STYLE = """\
body { max-width: 50rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif;
  color-scheme: light dark; }
h2 { margin-top: 2.5rem; font-family: ui-monospace, monospace; font-size: 1.1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { padding: 0.25rem 0.75rem 0.25rem 0; border-bottom: 1px solid #8886; text-align: left;
  vertical-align: top; }
"""


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
    fields = _resolve(document, schema)
    required = fields.get("required", [])
    return _table(
        (
            name,
            _kind(field) + (", required" if name in required else ""),
            field.get("description", ""),
        )
        for name, field in fields["properties"].items()
    )


def _kind(field: Mapping[str, Any]) -> str:
    if "$ref" in field:
        return str(field["$ref"]).rsplit("/", 1)[-1]
    if "anyOf" in field:
        return " or ".join(_kind(each) for each in field["anyOf"])
    if "enum" in field:
        return " or ".join(map(str, field["enum"]))
    if field.get("type") == "array":
        return f"array of {_kind(field['items'])}"
    return str(field.get("type", "any"))


def _resolve(document: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = document["components"]["schemas"][_kind(schema)]
    return found


def _table(rows: Iterator[tuple[str, ...]]) -> str:
    cells = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows)
    return "<table>" + "".join(f"<tr>{row}</tr>" for row in cells) + "</table>"
