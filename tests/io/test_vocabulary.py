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
_JSON_LD = """{"@context": {"prefLabel": {"@id": "skos:prefLabel", "@container": "@language"}},
 "@graph": [{"@id": "x:1", "skos:altLabel": [{"@value": "Vessels", "@language": "en"}],
  "prefLabel": {"en": "Ships", "de": ["Schiffe"]}}]}"""
SHIPS = Term("Ships", ("Ships", "Vessels"))
HALVES = Term("Sh\ufffdip", ("Sh\ufffdip", "\ufffd"))


@pytest.mark.parametrize(
    ("name", "text", "terms"),
    [
        ("terms.txt", "Ships; Vessels\n\nSails\n", [SHIPS, Term("Sails", ("Sails",))]),
        ("terms.csv", "id,Label,altLabel\n1,Ships,Vessels\n", [SHIPS]),
        ("terms.tsv", "term\tsynonyms\nShips\tVessels | Ships\n", [SHIPS]),
        ("uf.csv", "Term;UF;Format\nShips;Vessels;A4\n", [SHIPS]),
        ("used.csv", "Preferred term,Non-preferred terms\nShips,Vessels\n", [SHIPS]),
        ("skos.csv", "prefLabel@de,prefLabel@en,altLabel@en\nSchiffe,Ships,Vessels\n", [SHIPS]),
        ("german.csv", "prefLabel@de,altLabel@de\nShips,Vessels\n", [SHIPS]),
        ("terms.jsonld", _JSON_LD, [SHIPS]),
        ("terms.json", '{"Ships": "Vessels"}', [SHIPS]),
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
        ("terms.dat", _XML, "is no list of terms; end its name in what it is: a term a line"),
        ("terms.json", '"Ships"', "holds no terms"),
        ("terms.jsonld", '{"Ships": ', "no valid JSON"),
        ("voc.xlsx", "PK", "is a spreadsheet; save it as CSV"),
        ("folder.txt/terms", "Ships", "is a folder; a vocabulary is one file"),
        ("bare.ttl", "<http://x/1> a <http://x/Concept> .", "no terms"),
    ],
)
def test_what_is_no_vocabulary_is_one_line(
    tmp_path: Path, name: str, text: str, problem: str
) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")

    with pytest.raises(ReadingError, match=problem) as caught:
        read_vocabulary(tmp_path / Path(name).parts[0])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["latin.txt", "latin.csv", "latin.json"])
def test_old_encodings_are_mended_and_told(tmp_path: Path, name: str) -> None:
    text = {"latin.txt": "Caf\xe9s", "latin.csv": "Term\nCaf\xe9s", "latin.json": '["Caf\xe9s"]'}[
        name
    ]
    path, told = tmp_path / name, list[str]()
    path.write_text(text, encoding="cp1252")

    assert read_vocabulary(path, told.append) == [Term("Caf\xe9s", ("Caf\xe9s",))]
    assert told[-1] == f"{path}: 1 lines are not UTF-8; read as Windows-1252"
