"""The files of the web page as routes."""

from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import PurePosixPath

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".png": "image/png",
    ".svg": "image/svg+xml",
}


def page_routes() -> Iterator[Route]:
    """A route for each file of the page that comes with the package; ``/`` is its index.html."""
    folder = files("phraseloom") / "web"
    if folder.is_dir():
        yield from _folder_routes(folder, "/")


def file_route(path: str, content: bytes | str, suffix: str) -> Route:
    """A path that answers with a file; it is read once, when the server starts."""

    async def show(request: Request) -> Response:
        return Response(content, headers={"Cache-Control": "no-cache"}, media_type=_TYPES[suffix])

    return Route(path, show)


def _folder_routes(folder: Traversable, path: str) -> Iterator[Route]:
    for entry in folder.iterdir():
        suffix = PurePosixPath(entry.name).suffix
        if entry.is_dir():
            yield from _folder_routes(entry, f"{path}{entry.name}/")
        elif suffix in _TYPES:
            name = "" if entry.name == "index.html" else entry.name
            yield file_route(path + name, entry.read_bytes(), suffix)
