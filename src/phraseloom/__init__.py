"""Keyphrases from text, read off its dependency graph."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from phraseloom.errors import PhraseloomError

if TYPE_CHECKING:
    from phraseloom.explanation import explain
    from phraseloom.extractor import Extractor
    from phraseloom.keyphrase import Keyphrase
    from phraseloom.options import Options
    from phraseloom.text.document import Source

__all__ = [
    "Extractor",
    "Keyphrase",
    "Options",
    "PhraseloomError",
    "Source",
    "__version__",
    "explain",
]
__version__ = "0.2.0"

_MODULES = {
    "Extractor": "phraseloom.extractor",
    "Keyphrase": "phraseloom.keyphrase",
    "Options": "phraseloom.options",
    "Source": "phraseloom.text.document",
    "explain": "phraseloom.explanation",
}


def __getattr__(name: str) -> Any:
    """Import what users need at its first use, so that ``phraseloom --help`` is instant."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
