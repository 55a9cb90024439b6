"""Words and stems: the forms in which tokens are looked up and phrases are compared."""

import sys
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nltk.stem.porter import PorterStemmer

DIGIT = "<digit>"
_LONGEST_WORD = 100  # characters; the stemmer recurses over runs of "y", and no such word inflects


def as_word(token: str) -> str:
    """Lower-case a token; one made only of digits becomes ``<digit>``.

    >>> as_word("Graph"), as_word("2021"), as_word("3d")
    ('graph', '<digit>', '3d')
    """
    return DIGIT if token.isdigit() else token.lower()


@lru_cache(maxsize=1)
def _stemmer() -> "PorterStemmer":
    if "nltk" not in sys.modules and (found := _stemmer_alone()):
        return found
    from nltk.stem.porter import PorterStemmer  # here: importing NLTK takes a second or more

    return PorterStemmer()


def _stemmer_alone() -> "PorterStemmer | None":
    """NLTK's stemmer without the rest of NLTK, which loads whatever it can work with.

    For a moment its packages are empty ones that only know where their modules are.
    """
    spec = find_spec("nltk")
    folders = [] if spec is None else list(spec.submodule_search_locations or ())
    for name, place in (("nltk", ""), ("nltk.stem", "stem")):
        package = sys.modules[name] = ModuleType(name)
        package.__path__ = [str(Path(folder, place)) for folder in folders]
    try:
        return import_module("nltk.stem.porter").PorterStemmer()
    except ImportError:
        return None  # then it needs the rest
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == "nltk"]:
            del sys.modules[name]


@lru_cache(maxsize=500_000)
def stem(word: str) -> str:
    """Porter stem of one word, after lower-casing.

    >>> stem("Networks")
    'network'
    """
    word = word.lower()
    return word if len(word) > _LONGEST_WORD else str(_stemmer().stem(word))


def stem_phrase(words: str) -> tuple[str, ...]:
    """Stems of a phrase whose words are separated by white space.

    >>> stem_phrase("neural networks")
    ('neural', 'network')
    """
    return tuple(stem(as_word(word)) for word in words.split())
