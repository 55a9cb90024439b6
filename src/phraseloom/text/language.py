"""Does a text look like English? By its letters, then by its small words; without any model."""

import re
import unicodedata
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from runpy import run_path

from phraseloom.errors import LanguageWarning
from phraseloom.text.document import Source
from phraseloom.text.words import printable

_WORD = re.compile(r"[^\W\d_]{2,}")
_READ = 20_000  # characters; more of a book would say the same
_FEWEST_WORDS = 15
_FEWEST_LETTERS = 40  # of another script, whose words may not be set apart
_ENOUGH = 0.2  # share of small words: English abstracts have twice as many
_MARGIN = 1.5  # another language must have so many times the small words that English has
_SHOWN = 40  # characters of a text in a message
_OTHERS = {
    "af": "Afrikaans",
    "ca": "Catalan",
    "cs": "Czech",
    "da": "Danish",
    "de": "German",
    "es": "Spanish",
    "et": "Estonian",
    "fi": "Finnish",
    "fr": "French",
    "hr": "Croatian",
    "hu": "Hungarian",
    "id": "Indonesian",
    "it": "Italian",
    "lt": "Lithuanian",
    "lv": "Latvian",
    "nb": "Norwegian",
    "nl": "Dutch",
    "pl": "Polish",
    "pt": "Portuguese",
    "ro": "Romanian",
    "sk": "Slovak",
    "sl": "Slovenian",
    "sv": "Swedish",
    "tr": "Turkish",
    "vi": "Vietnamese",
}
"""Languages in Latin letters whose small words spaCy lists."""


def foreign_look(text: str) -> str | None:
    """What makes a text look as if it were not English; none if nothing does.

    A text is foreign if most of its letters are of another script, or if the small words of another
    language are frequent in it and those of English are not. Lists of terms, formulas and texts of
    a few words have no small words, and get the benefit of the doubt.

    >>> foreign_look("Ein Netz ist schnell.") is None  # too short to tell
    True
    """
    text = text[:_READ]
    if script := _foreign_script(text):
        return f"written in {script} letters"
    words = [word.lower() for word in _WORD.findall(text)]
    if len(words) < _FEWEST_WORDS:
        return None
    english = _share(words, "en")
    if english >= _ENOUGH:
        return None
    shares = {name: _share(words, code) for code, name in _OTHERS.items()}
    best = max(shares, key=shares.__getitem__)
    is_foreign = shares[best] >= max(_ENOUGH, _MARGIN * english)
    return f"probably {best}" if is_foreign else None


def language_problem(text: str) -> str | None:
    """One line about a text that does not look like English."""
    look = foreign_look(text)
    if look is None:
        return None
    words = printable(" ".join(text[: 3 * _SHOWN].split()))
    shown = words if len(words) <= _SHOWN else words[:_SHOWN] + "…"
    return f"'{shown}' is {look}; phraseloom reads English, so its phrases will be poor"


def warn_of_foreign(sources: Iterable[Source], *, level: int) -> None:
    """Warn of each text that does not look like English, ``level`` calls up."""
    for source in sources:
        if problem := language_problem(source.text):
            warnings.warn(problem, LanguageWarning, stacklevel=level + 1)


def warned_batches(batches: Iterable[list[Source]]) -> Iterator[list[Source]]:
    """The same batches, each warned of as it is taken."""
    for batch in batches:
        warn_of_foreign(batch, level=1)
        yield batch


def _foreign_script(text: str) -> str | None:
    """Name of the script of most letters, if that is not Latin."""
    if text.isascii():
        return None
    scripts = Counter(
        unicodedata.name(letter, "UNKNOWN").split()[0].split("-")[0]
        for letter in text
        if letter.isalpha()
    )
    letters = scripts.total()
    if letters < _FEWEST_LETTERS or scripts["LATIN"] * 2 > letters:
        return None
    if scripts["HIRAGANA"] + scripts["KATAKANA"]:
        return "Japanese"
    del scripts["LATIN"]
    name = scripts.most_common(1)[0][0]
    return "Chinese" if name == "CJK" else name.capitalize()


def _share(words: list[str], code: str) -> float:
    small = _small_words(code)
    return sum(word in small for word in words) / len(words)


@cache
def _small_words(code: str) -> frozenset[str]:
    """The stop words that spaCy lists for a language; its other rules would take long to load."""
    import spacy.lang  # here: start-up time

    file = Path(spacy.lang.__path__[0]) / code / "stop_words.py"
    return frozenset(run_path(str(file))["STOP_WORDS"])
