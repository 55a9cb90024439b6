"""The Porter stemmer with NLTK's extensions: what ``PorterStemmer().stem`` of NLTK gives.

Phrases are compared by these stems in all of the literature. The algorithm is M. F. Porter's ("An
algorithm for suffix stripping", 1980); rules marked NLTK are those of ``nltk.stem.porter``,
Copyright (C) NLTK Project, Apache License 2.0. Written anew here so that reading a text takes a
page of rules and not 14 MB; a test holds both equal. The stemmers of snowballstemmer know nothing
of NLTK's rules. ``m`` is Porter's measure of a stem: how many times consonants follow vowels in it.
"""

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
