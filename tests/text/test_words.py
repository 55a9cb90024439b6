"""Words and stems, of anything."""

import pytest
from hypothesis import given

from phraseloom.text.words import DIGIT, as_word, stem, stem_phrase
from tests.text.laws import texts


@given(texts())
def test_a_phrase_has_one_stem_per_word_and_none_is_empty(text: str) -> None:
    stems = stem_phrase(text)

    assert len(stems) == len(text.split())
    assert all(stems)


@pytest.mark.parametrize("phrase", ["Neural Networks", "NEURAL NETWORK", " neural\tnetworks\n"])
def test_case_number_and_spaces_do_not_matter(phrase: str) -> None:
    assert stem_phrase(phrase) == stem_phrase("neural network")


def test_only_digits_are_a_digit() -> None:
    assert [as_word(w) for w in ("2021", "3d", "3.5", DIGIT)] == [DIGIT, "3d", "3.5", DIGIT]
    assert stem(DIGIT) == DIGIT


def test_a_word_of_any_length_has_a_stem() -> None:
    assert stem("Y" * 100_000) == "y" * 100_000
