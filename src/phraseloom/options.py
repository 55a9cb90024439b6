"""What a caller may ask for: one object for Python, command line, server, page and integrations."""

import math
import os
from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice
from numbers import Integral, Real
from pathlib import Path
from typing import Annotated, Any, TypedDict, Unpack

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from phraseloom.errors import OptionsError, shown

MAX_TOP = 10_000
MAX_WORDS = 20
"""Words of a phrase that any search may look for."""
MAX_PHRASES = 100_000
"""Phrases in a list of candidates, seeds or exclusions ..."""
MAX_CHARACTERS = 1_000
"""... and characters of each."""


class OptionFields(TypedDict, total=False):
    """The fields of `Options`, to be given one by one."""

    top: int | None
    style: str | None
    candidates: Iterable[str] | None
    seeds: Iterable[str] | None
    diversity: float | None
    exclude: Iterable[str] | None
    min_words: int
    max_words: int | None
    min_score: float | None


def _whole_number(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise ValueError(f"must be a whole number, not {shown(value)}")
    return int(value)


def _number(value: Any) -> float:
    try:
        is_number = isinstance(value, Real) and math.isfinite(value)
    except OverflowError:
        is_number = False
    if isinstance(value, bool) or not is_number:
        raise ValueError(f"must be a number, not {shown(value)}")
    return float(value)


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"must be a string, not {type(value).__name__}")
    return value


def _phrases(value: Any) -> tuple[str, ...]:
    """A list, or any other collection of strings; none is an empty one."""
    if isinstance(value, str | bytes):
        raise ValueError("must be a list of phrases, not one string")
    if value is not None and not isinstance(value, Iterable):
        raise ValueError(f"must be a list of phrases, not {type(value).__name__}")
    try:
        phrases = () if value is None else tuple(islice(value, MAX_PHRASES + 1))
    except TypeError:  # such as an array of NumPy without an axis
        raise ValueError(f"must be a list of phrases, not {type(value).__name__}") from None
    if len(phrases) > MAX_PHRASES:
        raise ValueError(f"must be at most {MAX_PHRASES} phrases")
    for phrase in phrases:
        if not isinstance(phrase, str):
            raise ValueError(f"must be strings, not {type(phrase).__name__}")
        if len(phrase) > MAX_CHARACTERS:
            raise ValueError(f"must be phrases of at most {MAX_CHARACTERS} characters")
    return phrases


_Share = Annotated[float, Field(ge=0, le=1), BeforeValidator(_number)]
_Phrases = Annotated[tuple[str, ...], BeforeValidator(_phrases)]
_Words = Annotated[int, Field(ge=1, le=MAX_WORDS), BeforeValidator(_whole_number)]


class OptionsModel(BaseModel):
    """The options with their types and bounds; a request to the server has them as fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    top: Annotated[int, Field(ge=1, le=MAX_TOP), BeforeValidator(_whole_number)] | None = Field(
        None,
        description="exactly so many phrases, as far as the text has them; without it, as many as"
        " the model says",
    )
    style: Annotated[str, BeforeValidator(_string)] | None = Field(
        None, description="kind of annotator to imitate, if the model was trained on several"
    )
    candidates: _Phrases | None = Field(
        None,
        description="the only phrases that may be returned, compared by stems; without top, all of"
        " them that stand in the text are",
    )
    seeds: _Phrases = Field(
        (),
        description="phrases to steer towards: what shares no word with any of them counts as ten"
        " times less probable, what shares some of a seed's words as less so; a text without any"
        " word of a seed is searched as if there were none",
    )
    diversity: _Share | None = Field(
        None,
        description="from 0, the most probable phrases however alike, to 1, phrases as different"
        " from each other as can be; without it, what suited the model best in training",
    )
    exclude: _Phrases = Field(
        (), description="stop phrases, compared by stems: never returned as they are"
    )
    min_words: _Words = Field(1, description="words of a phrase, at least")
    max_words: _Words | None = Field(
        None, description="words of a phrase, at most; without it, what the model's search says"
    )
    min_score: _Share | None = Field(
        None,
        description="nothing with a lower score is returned, even if top asks for more; without it,"
        " the model's own, which always leaves the best phrase",
    )


class Options(OptionsModel):
    """What is wanted of each text.

    Raises:
        OptionsError: one of them cannot be, or is of the wrong type.
    """

    def __init__(self, **fields: Unpack[OptionFields]) -> None:
        try:
            super().__init__(**fields)
        except ValidationError as error:
            raise OptionsError(_one_line(error)) from None
        if self.max_words is not None and self.max_words < self.min_words:
            raise OptionsError(
                f"max_words must be at least min_words, {self.min_words}, not {self.max_words}"
            )


def make_options(options: Options | None, changes: OptionFields) -> Options:
    """Some options, or the default ones, with some fields changed; checked at once."""
    if options is None:
        return Options(**changes)
    if not isinstance(options, Options):
        raise OptionsError(
            f"options must be an Options object, not {type(options).__name__};"
            " other things are given by name, such as top=5"
        )
    return Options(**{**dict(options), **changes}) if changes else options


def as_count(value: object, name: str, *, least: int = 1) -> int:
    """A number of processes, threads or texts, if it can be one."""
    try:
        count = _whole_number(value)
    except ValueError as error:
        raise OptionsError(f"{name} {error}") from None
    if not least <= count <= MAX_TOP:
        raise OptionsError(f"{name} must be from {least} to {MAX_TOP}, not {shown(count)}")
    return count


def as_path(value: object, name: str) -> Path:
    """A file or directory, there or not, if there can be one of that name."""
    if not isinstance(value, str | os.PathLike):
        raise OptionsError(f"{name} must be a path, not {shown(value)}")
    try:
        path = Path(value)
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return path
    except (OSError, ValueError, TypeError) as error:  # too long, a zero in it, made of bytes
        reason = getattr(error, "strerror", None) or error
        raise OptionsError(f"{name} cannot be {shown(value)}: {reason}") from None
    return path


def _one_line(error: ValidationError) -> str:
    """The first thing wrong, as a sentence that begins with the option's name."""
    first = error.errors()[0]
    name, context = str(first["loc"][0]), first.get("ctx", {})
    if first["type"] == "extra_forbidden":
        near = get_close_matches(name, Options.model_fields, n=1)
        known = ", ".join(Options.model_fields)
        hint = f"did you mean {near[0]}?" if near else f"there are {known}"
        return f"unknown option {name}; {hint}"
    if first["type"] == "greater_than_equal":
        return f"{name} must be at least {context['ge']:g}, not {shown(first['input'])}"
    if first["type"] == "less_than_equal":
        return f"{name} must be at most {context['le']:g}, not {shown(first['input'])}"
    return f"{name} {context.get('error', first['msg'])}"
