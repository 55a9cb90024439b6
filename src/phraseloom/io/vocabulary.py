"""Controlled vocabularies: terms with a preferred label and other forms.

A list of lines, a table, or a thesaurus in SKOS, as RDF/XML, Turtle or N-Triples.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from lxml import etree

from phraseloom.errors import ReadingError
from phraseloom.io.compressed import display_name, kind_of, read_bytes
from phraseloom.io.files import PARQUET, decode
from phraseloom.io.records import read_columns
from phraseloom.text.words import replace_surrogates

_LABELS = ("preferred label", "preflabel", "label", "term", "preferred", "name", "heading", "title")
_OTHERS = ("altlabel", "alt", "synonym", "form", "variant", "other", "used for", "hiddenlabel")
_TABLES = {".csv", ".tsv", PARQUET, ".jsonl"}
_XML = {".rdf", ".xml", ".skos"}
_TURTLE = {".ttl", ".nt", ".n3", ".turtle"}
_SKOS = "http://www.w3.org/2004/02/skos/core#"
_PREFERRED, _ALTERNATIVES = "prefLabel", ("altLabel", "hiddenLabel")
_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
_TOKEN = re.compile(
    r'"""(?P<long>(?:[^"\\]|\\.|"(?!""))*)"""|"(?P<short>(?:[^"\\\n]|\\.)*)"|@(?P<language>[\w-]+)'
    r"|<(?P<iri>[^>]*)>|\#[^\n]*|(?P<mark>[;,.\[\]()](?=\s|$|[\[\]()]))|(?P<word>[^\s;,\"<]+)"
)
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_QUALIFIER = re.compile(r"\s*\([^()]*\)\s*$")


class Term(NamedTuple):
    """What a vocabulary calls something, and how else it may be written."""

    label: str
    forms: tuple[str, ...]


class _Label(NamedTuple):
    concept: str
    kind: str
    language: str
    text: str


def read_vocabulary(path: Path) -> list[Term]:
    """The terms of a file; of a thesaurus in several languages, the English ones.

    A line or a cell may hold several forms with ``;`` or ``|`` between them, the label first.

    Raises:
        ReadingError: it cannot be read, or has no term.
    """
    name, kind = display_name(path), kind_of(path)
    if kind in _TABLES:
        terms = list(_read_table(path, name))
    elif kind in _XML:
        terms = _group(_read_xml(path, name))
    elif kind in _TURTLE:
        terms = _group(_read_turtle(decode(read_bytes(path), name)))
    else:
        lines = decode(read_bytes(path), name).splitlines()
        terms = [to_term(*re.split(r"\s*[;|\t]\s*", line)) for line in lines]
    terms = [term for term in terms if term.label]
    if not terms:
        raise ReadingError(
            f"{name} holds no terms; write one a line, a table with a column label, or SKOS"
        )
    return terms


def to_terms(terms: Mapping[str, Iterable[str]] | Iterable[str]) -> list[Term]:
    """Labels, or labels with their other forms, as terms."""
    if isinstance(terms, Mapping):
        return [to_term(label, *forms) for label, forms in terms.items()]
    return [to_term(label) for label in terms]


def to_term(label: str, *others: str) -> Term:
    """A term with the forms that it is looked for by.

    >>> to_term("Prints (visual works)", "art prints").forms
    ('Prints (visual works)', 'art prints', 'Prints')
    >>> to_term("Wells, Ida B.").forms
    ('Wells, Ida B.', 'Ida B. Wells')
    """
    forms = [replace_surrogates(form).strip() for form in (label, *others)]
    given = [*filter(None, forms)]
    plain = [_QUALIFIER.sub("", form) for form in given]
    turned = [
        f"{rest} {first}"
        for first, comma, rest in (form.partition(", ") for form in plain)
        if comma and "," not in rest and not any(map(str.isdigit, rest))
    ]
    return Term(forms[0], tuple(dict.fromkeys([*given, *filter(None, plain), *turned])))


def _read_table(path: Path, name: str) -> Iterator[Term]:
    column = None
    for _, row in read_columns(path):
        if isinstance(row, ReadingError):
            raise row
        lowered = {key.lower().replace("_", " ").strip(): key for key in row}
        column = column or next((lowered[n] for n in _LABELS if n in lowered), None)
        if column is None:
            shown = ", ".join(row) or "nothing"
            raise ReadingError(f"{name}: no column label or term, only {shown}; name one so")
        others = [key for low, key in lowered.items() if low.startswith(_OTHERS) and key != column]
        cells = [cell for key in others for cell in _cells(row.get(key))]
        yield to_term(str(row.get(column) or ""), *cells)


def _cells(value: object) -> list[str]:
    if isinstance(value, list):
        return [str(part) for part in value]
    return re.split(r"\s*[;|]\s*", value) if isinstance(value, str) else []


def _read_xml(path: Path, name: str) -> Iterator[_Label]:
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False)
    try:
        root = etree.fromstring(read_bytes(path), parser)
    except etree.XMLSyntaxError as error:
        raise ReadingError(f"{name} is no valid RDF/XML: {error.msg}") from None
    for element in root.iter(*(f"{{{_SKOS}}}{kind}" for kind in (_PREFERRED, *_ALTERNATIVES))):
        parent = element.getparent()
        about = "" if parent is None else next((v for k, v in parent.items() if "about" in k), "")
        kind = etree.QName(element).localname
        language = element.get(_LANGUAGE, "")
        yield _Label(about or str(id(parent)), kind, language, element.text or "")


def _read_turtle(text: str) -> Iterator[_Label]:
    """The labels among the triples; nothing else of them is looked at."""
    place: list[str] = []  # subject and predicate of what comes next
    label: _Label | None = None
    for token in _TOKEN.finditer(text):
        kind, value = token.lastgroup, token.group(token.lastgroup) if token.lastgroup else ""
        if kind == "language" and label is not None:
            label = label._replace(language=value)
            continue
        if label is not None:
            yield label
            label = None
        if kind in ("long", "short"):
            predicate = re.split(r"[#:/]", place[1])[-1] if len(place) > 1 else ""
            if predicate in (_PREFERRED, *_ALTERNATIVES):
                label = _Label(place[0], predicate, "", _ESCAPE.sub(_unescape, value))
        elif kind == "mark":
            place = place[:1] if value == ";" else [] if value == "." else place
        elif kind in ("iri", "word") and len(place) < 2:
            place = [*place, value]
    if label is not None:
        yield label


def _unescape(match: re.Match[str]) -> str:
    code = match.group(1)
    if len(code) > 1:
        return chr(min(int(code[1:], 16), 0x10FFFF))
    return _ESCAPED.get(code, code)


def _group(labels: Iterable[_Label]) -> list[Term]:
    """The labels of each concept; in English, if any are."""
    everything = list(labels)
    english = [one for one in everything if one.language.lower()[:2] in ("en", "")]
    concepts: dict[str, list[_Label]] = {}
    for one in english or everything:
        concepts.setdefault(one.concept, []).append(one)
    terms = []
    for of_concept in concepts.values():
        # a label that says its language comes before one that does not
        ordered = sorted(of_concept, key=lambda one: (one.kind != _PREFERRED, not one.language))
        terms.append(to_term(*(" ".join(one.text.split()) for one in ordered)))
    return terms
