"""What comes in: texts with titles, refused if they are none, and a word about their language."""

import warnings
from collections.abc import Iterable

from phraseloom.errors import LanguageWarning, PhraseloomError
from phraseloom.text.document import Source
from phraseloom.text.language import language_problem


def as_source(text: Source | str, title: str | None = None) -> Source:
    """A text and its title, if both are strings."""
    source = text if isinstance(text, Source) else Source(text, "" if title is None else title)
    for part, name in ((source.text, "a text"), (source.title, "a title")):
        if not isinstance(part, str):
            raise PhraseloomError(f"{name} must be a string, not {type(part).__name__}")
    return source


def warn_of_foreign(sources: Iterable[Source], *, level: int) -> None:
    """Warn of each text that does not look like English.

    Args:
        sources: whose texts to look at.
        level: how many calls up the warning should point, see `warnings.warn`.
    """
    for source in sources:
        if problem := language_problem(source.text):
            warnings.warn(problem, LanguageWarning, stacklevel=level + 1)
