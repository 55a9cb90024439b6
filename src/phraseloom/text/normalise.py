"""Text made ready for a parser without moving a single character."""

import re

_JOINERS = re.compile(r"(?<=[^\W_])[-/\u2010\u2011](?=[^\W_])")
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\x85\u2028\u2029\ud800-\udfff]")


def normalise(text: str) -> str:
    """Part hyphenated words and blank out what no parser should see; the length never changes.

    A hyphen or slash between two letters or digits becomes one space, so "object-oriented" is two
    words, as in the benchmark files. Control characters and lone surrogates become spaces too.

    >>> normalise("object-oriented client/server - 2-3")
    'object oriented client server - 2 3'
    """
    return _UNPRINTABLE.sub(" ", _JOINERS.sub(" ", text))
