"""What goes wrong through no fault of ours: each message is one line and names the fix."""

from importlib import import_module
from typing import Any


class PhraseloomError(Exception):
    """A mistake in the input or the set-up that the caller can mend."""


class OptionsError(PhraseloomError, ValueError):
    """An option that does not exist or cannot have that value.

    A ``ValueError`` too: that is what pydantic and scikit-learn expect of a bad value.
    """


class MissingExtraError(PhraseloomError):
    """Something that the plain install leaves out."""

    def __init__(self, what: str, extra: str) -> None:
        install = f"pip install '.[{extra}]' in a clone of phraseloom"
        super().__init__(f"{what} needs the {extra} extra: {install}")


def shown(value: object, characters: int = 50) -> str:
    """A value in a message; one too large to be written is named by its type."""
    try:
        return f"{value!r:.{characters}}"
    except Exception:  # whatever the value's own code does, such as a number of 5,000 digits
        return f"such a {type(value).__name__}"


def import_extra(module: str, what: str, extra: str) -> Any:
    """Import a package of an extra, at its first use.

    Args:
        module: to import.
        what: needs it, for people: "training".
        extra: of phraseloom that installs it.

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not module.startswith(error.name):
            raise  # it is installed, but lacks something itself
        raise MissingExtraError(what, extra) from None


class CorpusError(PhraseloomError):
    """A corpus file that cannot be read, or a line in it."""


class ConfigError(PhraseloomError):
    """A setting that does not exist or cannot have that value."""


class ParserError(PhraseloomError):
    """A parser that is not installed, or lacks its models."""


class CheckpointError(PhraseloomError):
    """A model directory that is missing a part, or whose part is damaged."""


class TrainingError(PhraseloomError):
    """A training run that cannot go on."""


class KilledError(PhraseloomError):
    """A process of ours that someone else has ended, most often for want of memory."""


class LanguageWarning(UserWarning):
    """A text in a language that the models do not know; not an error, but what comes is poor."""


class ReadingError(PhraseloomError):
    """A file, or a row of one, whose text cannot be read."""
