"""The frame of our web pages: self-contained, light and dark; only our own script may run."""

import base64
import hashlib
from importlib.resources import files

from phraseloom.draw.svg import escape

_HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
style-src 'unsafe-inline'; script-src 'sha256-{digest}'">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
"""


def page_head(title: str, *, style: str, script: str) -> str:
    """What comes before a page's content; only the given script may run in it."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return _HEAD.format(digest=digest, title=escape(title), style=style)


def page_foot(script: str) -> str:
    """What comes after a page's content."""
    return f"<script>{script}</script>\n</body>\n</html>\n"


def resource(name: str) -> str:
    """A style sheet or script of this folder."""
    return files("phraseloom.draw").joinpath(name).read_text(encoding="utf-8")
