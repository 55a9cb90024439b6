"""Our stems are NLTK's, by which published scores are computed."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phraseloom.text.words import porter_stem

PorterStemmer = pytest.importorskip("nltk.stem.porter").PorterStemmer
SUFFIXES = (
    *("ational", "ing", "ed", "eed", "ies", "ied", "y", "ll", "e", "ement", "ion", "alli", "logi"),
    *("fulli", "s", "ss", "sses", "*d", "bli", "ness", "ate", "ize", "ement", "iviti", "icate"),
)
IRREGULAR = "skies sky dying lying tying news innings inning outings cannings howe proceed exceed"


def test_made_up_words_have_the_stems_of_nltk() -> None:
    theirs, chance = PorterStemmer(), random.Random(0)
    for _ in range(20_000):
        root = "".join(chance.choices("aeiouybcdlstrz", k=chance.randint(0, 5)))
        word = root + "".join(chance.choices(SUFFIXES, k=chance.randint(0, 3)))
        assert porter_stem(word) == theirs.stem(word), word


def test_irregular_words_have_the_stems_of_nltk() -> None:
    for word in [*IRREGULAR.split(), "succeed", "generously", "ties", "enjoy", "try", "a", ""]:
        assert porter_stem(word) == PorterStemmer().stem(word), word


@given(st.text(max_size=30))
def test_any_text_has_the_stem_of_nltk(text: str) -> None:
    assert porter_stem(text.lower()) == PorterStemmer().stem(text)
