"""Terms come out of whatever a vocabulary is kept in."""

from pathlib import Path

import pytest

from phraseloom.errors import ReadingError
from phraseloom.io.vocabulary import Term, read_vocabulary

_HEAD = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:skos="{}">'
_XML = (
    _HEAD.format("http://www.w3.org/2004/02/skos/core#")
    + """
<skos:Concept rdf:about="http://x/1">
 <skos:prefLabel xml:lang="en">Ships</skos:prefLabel>
 <skos:prefLabel xml:lang="de">Schiffe</skos:prefLabel>
 <skos:altLabel xml:lang="en">Vessels</skos:altLabel>
</skos:Concept></rdf:RDF>"""
)
_TURTLE = """@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
<http://x/1> a skos:Concept ; # a "comment"
  skos:altLabel "Vessels"@en , "Schiffe"@de ;
  skos:prefLabel "Ships"@en .
<http://x/2> skos:definition "No \\"label\\". Not one; none" ;
 skos:prefLabel \"\"\"Sails\"\"\"@en-GB .
"""
_TRIPLES = """<http://x/1> <http://www.w3.org/2004/02/skos/core#prefLabel> "Ships" .
<http://x/1> <http://www.w3.org/2004/02/skos/core#altLabel> "Vessels" .
"""
SHIPS = Term("Ships", ("Ships", "Vessels"))
HALVES = Term("Sh\ufffdip", ("Sh\ufffdip", "\ufffd"))


@pytest.mark.parametrize(
    ("name", "text", "terms"),
    [
        ("terms.txt", "Ships; Vessels\n\nSails\n", [SHIPS, Term("Sails", ("Sails",))]),
        ("terms.csv", "id,Label,altLabel\n1,Ships,Vessels\n", [SHIPS]),
        ("terms.tsv", "term\tsynonyms\nShips\tVessels | Ships\n", [SHIPS]),
        ("terms.rdf", _XML, [SHIPS]),
        ("terms.ttl", _TURTLE, [SHIPS, Term("Sails", ("Sails",))]),
        ("terms.nt", _TRIPLES, [SHIPS]),
        ("half.jsonl", r'{"term": "Sh\ud83dip", "altlabel": ["\ud83d"]}', [HALVES]),
        ("half.nt", _TRIPLES.replace("ips", r"\ud83dip").replace("Vessels", r"\ud83d"), [HALVES]),
    ],
)
def test_terms_are_read(tmp_path: Path, name: str, text: str, terms: list[Term]) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")

    assert read_vocabulary(path) == terms


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("empty.txt", "\n", "no terms"),
        ("other.csv", "colour,size\nred,3\n", "no column label or term, only colour, size"),
        ("broken.rdf", "<rdf:RDF", "no valid RDF/XML"),
        ("bare.ttl", "<http://x/1> a <http://x/Concept> .", "no terms"),
    ],
)
def test_what_is_no_vocabulary_is_one_line(
    tmp_path: Path, name: str, text: str, problem: str
) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")

    with pytest.raises(ReadingError, match=problem) as caught:
        read_vocabulary(path)
    assert "\n" not in str(caught.value)
