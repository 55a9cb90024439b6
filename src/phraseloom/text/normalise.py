"""Text made ready for a parser without moving a single character."""

import re

from phraseloom.text.stem import DIGIT

TOKENS = "tokens-2"
"""Version of our own rules for words, part of a parser's name: raise it when tokens change."""

_JOINERS = re.compile(
    rf"(?:(?<=[^\W_])|(?<={DIGIT}))"  # after a letter or digit ...
    r"[-/\u2010\u2011]"
    rf"(?=[^\W_]|{DIGIT})"  # ... and before one
)
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\x85\u2028\u2029\ud800-\udfff]")
_SURROGATES = re.compile("[\ud800-\udfff]")
_NUMBER = "1000000"  # as long as <digit>
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def normalise(text: str) -> str:
    """Part hyphenated words and blank out what no parser should see; the length never changes.

    A hyphen or slash between two letters or digits becomes one space, so "object-oriented" is two
    words, as in the benchmark files; their ``<digit>`` counts as a digit. Control characters and
    lone surrogates become spaces too.

    >>> normalise("object-oriented client/server - 2-3")
    'object oriented client server - 2 3'
    >>> normalise("<digit>-<digit> bit")
    '<digit> <digit> bit'
    """
    return _UNPRINTABLE.sub(" ", _JOINERS.sub(" ", text))


def mask_digits(text: str) -> str:
    """Show parsers a number of the same length for each ``<digit>``.

    They have seen numbers in training, and ``<digit>`` never: so benchmark text is tagged and
    parsed as the natural text it was made from.

    >>> mask_digits("<digit> nodes")
    '1000000 nodes'
    """
    return text.replace(DIGIT, _NUMBER)


def replace_surrogates(text: str) -> str:
    r"""Put U+FFFD for each lone surrogate, which JSON can bring in and no file can hold.

    >>> replace_surrogates("half \ud83d, whole 😀")
    'half �, whole 😀'
    """
    return _SURROGATES.sub("\ufffd", text)


def printable(text: str) -> str:
    r"""Text that cannot steer a terminal: control characters become U+FFFD, but for line ends.

    So do those that turn the direction of writing, with which one text can pass for another.

    >>> printable("\x1b[2J") == "\ufffd[2J"
    True
    """
    return _CONTROL.sub("\ufffd", text.replace("\r\n", "\n"))
