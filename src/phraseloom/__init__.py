"""Keyphrases from text, read off its dependency graph."""

from phraseloom.errors import PhraseloomError

__all__ = ["PhraseloomError", "__version__"]
__version__ = "0.1.0"
