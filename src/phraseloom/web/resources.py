"""Scripts and style sheets of this folder, and the tag that lets no other script run."""

import base64
import hashlib
from importlib.resources import files

_POLICY = """<meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
style-src 'unsafe-inline'; script-src 'sha256-{digest}'">"""


def resource(name: str) -> str:
    """A style sheet or script of this folder."""
    return files("phraseloom.web").joinpath(name).read_text(encoding="utf-8")


def script_policy(script: str) -> str:
    """A tag for the head of a page in which only the given script may run."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return _POLICY.format(digest=digest)
