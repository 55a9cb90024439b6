"""Terms are found by their words as written, whatever a parser makes of these."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phraseloom.text.document import Document, Source
from phraseloom.text.parsers import load_parser
from phraseloom.text.terms import TermLabels, form_name, label_phrases, phrase_places


def parse(text: str) -> Document:
    return load_parser("spacy").parse_batch([Source(text)])[0]


def labelled(text: str, *terms: str) -> dict[str, str]:
    """Label of each phrase of a text, by its words."""
    document, labels = parse(text), TermLabels({form_name(term): term for term in terms})
    stems = {term.stems for term in labels.find(document)}
    return dict(label_phrases(document, labels, stems).values())


@pytest.mark.parametrize(
    ("term", "written"),
    [
        *(("Universities", "university"), ("Lady", "ladies"), ("Churches", "church")),
        *(("Houses", "house"), ("Women", "woman"), ("Theses", "thesis"), ("Heroes", "hero")),
        *(("Buses", "bus"), ("Boxes", "box"), ("Movies", "movie"), ("CDs", "CD")),
        *(("W. E. B. Du Bois", "W E B Du Bois"), ("Sailor's knots", "sailor\u2019s knots")),
        *(("Object-oriented design", "object oriented designs"), ("ART", "art")),
    ],
)
def test_case_plurals_and_points_do_not_count(term: str, written: str) -> None:
    assert labelled(f"They saw the {written} there.", term) == {written: term}
    assert labelled(f"They saw the {term} there.", written) == {term: written}


@pytest.mark.parametrize(
    ("term", "written"),
    [
        *(("Universities", "universe"), ("Whaling", "whale"), ("Organ", "organization")),
        *(("Theses", "these"), ("Cars", "care"), ("Plans", "planes"), ("Doe", "does")),
        *(("World War 1", "World War 2"), ("C++", "C")),
    ],
)
def test_other_words_are_no_forms(term: str, written: str) -> None:
    assert not labelled(f"They saw the {written} there.", term)


def test_the_very_form_comes_before_its_plural() -> None:
    assert labelled("The arts are old.", "Art", "Arts") == {"arts": "Arts"}
    assert labelled("The art is old.", "Arts", "Art") == {"art": "Art"}


def test_a_phrase_is_a_form_if_half_of_its_places_are() -> None:
    assert labelled("A whale fled whaling.", "Whaling") == {"whaling": "Whaling"}
    assert not labelled("A whale and a whale fled whaling.", "Whaling")


def test_a_part_of_a_longer_form_of_the_same_term_is_none() -> None:
    labels = TermLabels({"whaling": "Whaling", "whaling voyages": "Whaling"})
    document = parse("From whaling voyages they came home.")

    forms = label_phrases(document, labels, {("whale",), ("whale", "voyag")})
    assert [form.text for form in forms.values()] == ["whaling voyages"]
    assert label_phrases(document, labels, {("whale",)})[("whale",)].label == "Whaling"


@given(st.text(max_size=20))
def test_any_string_has_a_name(text: str) -> None:
    assert form_name(form_name(text)) == form_name(text)
    TermLabels({form_name(text): "label"})


def test_phrases_have_places_in_their_sentence() -> None:
    document = parse("Graphs grow. Old graphs grow.")
    places = [place for _, place in phrase_places(document, {("graph",), ("graph", "grow")})]

    assert places == [(0, 0, 1), (0, 0, 2), (1, 1, 2), (1, 1, 3)]
