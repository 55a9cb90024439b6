"""Words and stems: the forms in which tokens are looked up and phrases are compared."""

from functools import lru_cache

from phraseloom.text.porter import porter_stem

DIGIT = "<digit>"
_LONGEST_WORD = 100  # characters; no longer word inflects


def as_word(token: str) -> str:
    """Lower-case a token; one made only of digits becomes ``<digit>``.

    >>> as_word("Graph"), as_word("2021"), as_word("3d")
    ('graph', '<digit>', '3d')
    """
    return DIGIT if token.isdigit() else token.lower()


@lru_cache(maxsize=500_000)
def stem(word: str) -> str:
    """Porter stem of one word, after lower-casing.

    >>> stem("Networks")
    'network'
    """
    word = word.lower()
    return word if len(word) > _LONGEST_WORD else porter_stem(word)


def stem_phrase(words: str) -> tuple[str, ...]:
    """Stems of a phrase whose words are separated by white space.

    >>> stem_phrase("neural networks")
    ('neural', 'network')
    """
    return tuple(stem(as_word(word)) for word in words.split())
