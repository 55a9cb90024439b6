"""Keyphrases from text, read off its dependency graph."""

from typing import TYPE_CHECKING, Any

from phraseloom.errors import PhraseloomError

if TYPE_CHECKING:
    from phraseloom.extractor import Extractor, Keyphrase

__all__ = ["Extractor", "Keyphrase", "PhraseloomError", "__version__"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Load torch on first use of the extractor, so that ``phraseloom --help`` is instant."""
    if name in {"Extractor", "Keyphrase"}:
        from phraseloom import extractor

        return getattr(extractor, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
