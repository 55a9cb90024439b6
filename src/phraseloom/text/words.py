"""Words: text made ready for a parser without moving a character, tokens as words, and stems.

Phrases are compared by the stems of NLTK's ``PorterStemmer`` in all of the literature. It is M. F.
Porter's algorithm ("An algorithm for suffix stripping", 1980); rules marked NLTK are those of
``nltk.stem.porter``, Copyright (C) NLTK Project, Apache License 2.0. They are written anew here so
that reading a text takes a page of rules and not 14 MB; a test holds both equal. The stemmers of
snowballstemmer know nothing of NLTK's rules.
"""

import re
from functools import lru_cache

DIGIT = "<digit>"
_LONGEST_WORD = 100  # characters; no longer word inflects


def as_word(token: str) -> str:
    """Lower-case a token; one made only of digits becomes ``<digit>``.

    >>> as_word("Graph"), as_word("2021"), as_word("3d")
    ('graph', '<digit>', '3d')
    """
    return DIGIT if token.isdigit() else token.lower()


def is_word(text: str) -> bool:
    """Whether a token can be part of a phrase: it has a letter or a digit in it."""
    return text.isalnum() or any(map(str.isalnum, text))


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


def escape_controls(json: str) -> str:
    r"""JSON that cannot steer a terminal and means the same: its encoder lets some of them through.

    >>> escape_controls('"\u202e"')
    '"\\u202e"'
    """
    return _CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", json)


_IRREGULAR = {  # NLTK
    "skies": "sky",
    "dying": "die",
    "lying": "lie",
    "tying": "tie",
    "innings": "inning",
    "outings": "outing",
    "cannings": "canning",
}
_IRREGULAR |= dict.fromkeys(("sky", "news", "inning", "outing", "canning", "howe"), "")
_IRREGULAR |= dict.fromkeys(("proceed", "exceed", "succeed"), "")
_STEP_2 = (
    *(("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize")),
    *(("bli", "ble"), ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous")),
    *(("ization", "ize"), ("ation", "ate"), ("ator", "ate"), ("alism", "al"), ("iveness", "ive")),
    *(("fulness", "ful"), ("ousness", "ous"), ("aliti", "al"), ("iviti", "ive")),
    *(("biliti", "ble"), ("fulli", "ful")),
)
_STEP_3 = (
    *(("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic")),
    *(("ful", ""), ("ness", "")),
)
_STEP_4 = (
    *("al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion"),
    *("ou", "ism", "ate", "iti", "ous", "ive", "ize"),
)


def porter_stem(word: str) -> str:
    """Stem of a word in lower case.

    >>> porter_stem("relational"), porter_stem("hopping"), porter_stem("technologies")
    ('relat', 'hop', 'technolog')
    """
    if word in _IRREGULAR:
        return _IRREGULAR[word] or word
    if len(word) <= 2:
        return word
    word = _drop_past_and_gerund(_drop_plural(word))
    if word.endswith("y") and len(word) > 2 and _letter_kinds(word[:-1]).endswith("c"):
        word = word[:-1] + "i"  # step 1c, NLTK: "enjoy" stays, "try" does not
    word = _shorten_double_suffix(word)
    word = _replace_suffix(word, _STEP_3)
    return _tidy_end(_drop_suffix(word))


def _letter_kinds(word: str) -> str:
    """Each letter as ``c``, a consonant, or ``v``, a vowel; "y" is a vowel after a consonant."""
    kinds = ""
    for letter in word:
        is_vowel = letter in "aeiou" or (letter == "y" and kinds.endswith("c"))
        kinds += "v" if is_vowel else "c"
    return kinds


def _measure(stem: str) -> int:
    """Porter's m: how many times consonants follow vowels."""
    return _letter_kinds(stem).count("vc")


def _ends_short(stem: str) -> bool:
    """Porter's *o: does it end in consonant, vowel, consonant other than w, x, y?"""
    kinds = _letter_kinds(stem)
    return kinds == "vc" or (kinds.endswith("cvc") and stem[-1] not in "wxy")  # NLTK: "vc" alone


def _replace_suffix(word: str, rules: tuple[tuple[str, str], ...]) -> str:
    """Replace the first suffix that the word has, if something measurable is left before it."""
    for suffix, replacement in rules:
        if word.endswith(suffix):
            stem = word.removesuffix(suffix)
            return stem + replacement if _measure(stem) > 0 else word
    return word


def _drop_plural(word: str) -> str:
    """Step 1a."""
    if word.endswith("ies"):
        return word[:-1] if len(word) == 4 else word[:-2]  # NLTK: "ties" keeps its e
    if word.endswith("sses"):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _drop_past_and_gerund(word: str) -> str:
    """Step 1b."""
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]  # NLTK
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    suffix = next((suffix for suffix in ("ed", "ing") if word.endswith(suffix)), "")
    stem = word.removesuffix(suffix)
    if not suffix or "v" not in _letter_kinds(stem):
        return word
    if stem.endswith(("at", "bl", "iz")):
        return stem + "e"
    if stem[-1] == stem[-2:-1] and _letter_kinds(stem).endswith("c"):
        return stem if stem[-1] in "lsz" else stem[:-1]
    if stem.endswith("*d"):
        return stem[:-2] + "d"  # NLTK takes its own mark of a double consonant for letters
    return stem + "e" if _measure(stem) == 1 and _ends_short(stem) else stem


def _shorten_double_suffix(word: str) -> str:
    """Step 2; NLTK: "-ally" becomes "-al", which may end in another suffix."""
    if word.endswith("alli") and _measure(word[:-4]) > 0:
        word = word[:-2]
    if word.endswith("logi"):
        return word[:-1] if _measure(word[:-3]) > 0 else word  # NLTK
    return _replace_suffix(word, _STEP_2)


def _drop_suffix(word: str) -> str:
    """Step 4."""
    for suffix in _STEP_4:
        if word.endswith(suffix):
            stem = word.removesuffix(suffix)
            is_long = _measure(stem) > 1 and (suffix != "ion" or stem[-1] in "st")
            return stem if is_long else word
    return word


def _tidy_end(word: str) -> str:
    """Steps 5a and 5b: a last "e", and one of two last "l"."""
    if word.endswith("e"):
        measure = _measure(word[:-1])
        if measure > 1 or (measure == 1 and not _ends_short(word[:-1])):
            word = word[:-1]
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word
