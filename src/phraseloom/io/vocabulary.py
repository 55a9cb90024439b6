"""Controlled vocabularies: terms with a preferred label and other forms.

A list of lines, a table, or a thesaurus in SKOS, as RDF/XML, Turtle, N-Triples or JSON-LD.
"""

import json
import logging
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from lxml import etree

from phraseloom.errors import ReadingError
from phraseloom.io.compressed import STANDARD_INPUT, display_name, kind_of, read_bytes
from phraseloom.io.files import PARQUET, decode
from phraseloom.io.records import read_columns
from phraseloom.io.tagged import SPREADSHEETS, as_utf8
from phraseloom.text.words import replace_surrogates

_LABELS = (
    *("preferred label", "preflabel", "preferred term", "descriptor"),
    *("label", "term", "preferred", "name", "heading", "title"),
)
_OTHERS = re.compile(
    r"alt|hidden ?label|synonym|variant|other|alias|form\b|uf\b|uf\d|used? for"
    r"|non ?(preferred|descriptor)"
)
_TABLES = {".csv", ".tsv", PARQUET, ".jsonl", ".ndjson"}
_XML = {".rdf", ".xml", ".skos", ".owl"}
_TURTLE = {".ttl", ".nt", ".n3", ".turtle"}
_JSON = {".json", ".jsonld"}
_READ = "a term a line, a table (.csv, .tsv, .jsonl, .parquet) or SKOS (.rdf, .ttl, .nt, .jsonld)"
_SKOS = "http://www.w3.org/2004/02/skos/core#"
_PREFERRED, _ALTERNATIVES = "prefLabel", ("altLabel", "hiddenLabel")
_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
_TOKEN = re.compile(
    r'"""(?P<long>(?:[^"\\]|\\.|"(?!""))*)"""|"(?P<short>(?:[^"\\\n]|\\.)*)"|@(?P<language>[\w-]+)'
    r"|<(?P<iri>[^>]*)>|\#[^\n]*|(?P<mark>[;,.\[\]()](?=\s|$|[\[\]()]))|(?P<word>[^\s;,\"<]+)"
)
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_COLUMN_LANGUAGE = re.compile(r"(?:@ ?| ?\()([a-z]{2})(?: [a-z]{2})?\)?$")  # altLabel@en-GB
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


Terms = Path | str | Mapping[str, Iterable[str] | str] | Iterable[str | Term]
"""A vocabulary as callers give it: a file, labels with their other forms, or labels."""

OnRemark = Callable[[str], None]
"""Told which columns were read, and what had to be mended."""

_logger = logging.getLogger(__name__)


def read_vocabulary(path: Path, on_remark: OnRemark = _logger.info) -> list[Term]:
    """The terms of a file; of a thesaurus in several languages, the English ones.

    A line or a cell may hold several forms with ``;`` or ``|`` between them, the label first.

    Raises:
        ReadingError: it cannot be read, or has no term.
    """
    name, kind = display_name(path), kind_of(path)
    if os.path.isdir(path):
        raise ReadingError(f"{name} is a folder; a vocabulary is one file: {_READ}")
    if kind in SPREADSHEETS:
        raise ReadingError(f"{name} is a spreadsheet; save it as CSV")
    if path == STANDARD_INPUT or kind in _XML:  # which says itself how it is written
        terms = _read(path, kind, name, on_remark)
    else:
        remarks: list[str] = []
        with TemporaryDirectory() as scratch:
            terms = _read(as_utf8(path, Path(scratch), remarks), kind, name, on_remark)
        for remark in remarks:
            on_remark(remark)
    terms = [term for term in terms if term.label]
    if not terms:
        raise ReadingError(f"{name} holds no terms; give {_READ}")
    return terms


def _read(path: Path, kind: str, name: str, on_remark: OnRemark) -> list[Term]:
    if kind in _TABLES:
        return _read_table(path, name, on_remark)
    if kind in _XML:
        return _group(_read_xml(path, name))
    text = decode(read_bytes(path), name)
    if kind in _TURTLE:
        return _group(_read_turtle(text))
    if kind in _JSON:
        return _read_json(text, name)
    if text.lstrip().startswith(("<", "{")):
        raise ReadingError(f"{name} is no list of terms; end its name in what it is: {_READ}")
    return [to_term(*re.split(r"\s*[;|\t]\s*", line)) for line in text.splitlines()]


def to_terms(terms: Mapping[str, Iterable[str] | str] | Iterable[str | Term]) -> list[Term]:
    """Labels, or labels with their other forms, as terms; a string is one form."""
    if isinstance(terms, Mapping):
        return [
            to_term(label, *([forms] if isinstance(forms, str) else forms))
            for label, forms in terms.items()
        ]
    return [term if isinstance(term, Term) else to_term(term) for term in terms]


def to_term(label: str, *others: str) -> Term:
    """A term with the forms that it is looked for by.

    >>> to_term("Prints (visual works)", "art prints").forms
    ('Prints (visual works)', 'art prints', 'Prints')
    >>> to_term("Wells, Ida B.").forms
    ('Wells, Ida B.', 'Ida B. Wells')
    """
    forms = [" ".join(replace_surrogates(form).split()) for form in (label, *others)]
    given = [*filter(None, forms)]
    plain = [_QUALIFIER.sub("", form) for form in given]
    turned = [
        f"{rest} {first}"
        for first, comma, rest in (form.partition(", ") for form in plain)
        if comma and "," not in rest and not any(map(str.isdigit, rest))
    ]
    return Term(forms[0], tuple(dict.fromkeys([*given, *filter(None, plain), *turned])))


def _read_table(path: Path, name: str, on_remark: OnRemark) -> list[Term]:
    terms: list[Term] = []
    label: str | None = None
    for _, row in read_columns(path):
        if isinstance(row, ReadingError):
            raise row
        if label is None:
            label, others = _find_columns(list(row), name)
            forms = ", ".join(map(repr, others)) or "no column"
            on_remark(f"{name}: labels from {label!r}, other forms from {forms}")
        cells = [cell for key in others for cell in _cells(row.get(key))]
        terms.append(to_term(str(row.get(label) or ""), *cells))
    return terms


def _find_columns(columns: Sequence[str], name: str) -> tuple[str, list[str]]:
    """Which holds the labels, and which other forms: the English ones, if any say so."""
    named = []
    for column in columns:
        low = re.sub(r"[\s_-]+", " ", column.lower().removeprefix("skos:")).strip()
        language = _COLUMN_LANGUAGE.search(low)
        plain = _COLUMN_LANGUAGE.sub("", low).removesuffix("s")
        named.append((plain, column, language is None or language[1] == "en"))
    for some in ([one for one in named if one[2]], named):
        for known in _LABELS:
            for plain, label, _ in some:
                if plain == known:
                    return label, [c for low, c, _ in some if _OTHERS.match(low) and c != label]
    shown = ", ".join(columns) or "nothing"
    raise ReadingError(f"{name}: no column label or term, only {shown}; name one so")


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


def _read_json(text: str, name: str) -> list[Term]:
    """SKOS as JSON-LD, or what `to_terms` takes."""
    try:
        content = json.loads(text)
        if labels := list(_json_labels(content)):
            return _group(labels)
        if not isinstance(content, list | dict):
            raise TypeError(f"a vocabulary in JSON is a list or an object, not {content}")
        return to_terms(content)
    except (ValueError, RecursionError) as error:
        raise ReadingError(f"{name} is no valid JSON: {error}") from None
    except (TypeError, AttributeError):
        raise ReadingError(f"{name} holds no terms; give {_READ}") from None


def _json_labels(node: object) -> Iterator[_Label]:
    """The labels of the concepts of JSON-LD, whichever of its ways they are written in."""
    for part in node if isinstance(node, list) else ():
        yield from _json_labels(part)
    about = str(node.get("@id", node.get("id", id(node)))) if isinstance(node, dict) else ""
    for key, value in node.items() if isinstance(node, dict) else ():
        kind = re.split(r"[#:/]", key)[-1]
        if key == "@context":  # which says what the names stand for
            continue
        if kind in (_PREFERRED, *_ALTERNATIVES):
            for language, text in _json_strings(value):
                yield _Label(about, kind, language, text)
        else:
            yield from _json_labels(value)


def _json_strings(value: object) -> Iterator[tuple[str, str]]:
    """Strings with their languages: alone, with ``@language``, by language, or a list of these."""
    if isinstance(value, str):
        yield "", value
    elif isinstance(value, list):
        for part in value:
            yield from _json_strings(part)
    elif isinstance(value, dict) and "@value" in value:
        yield str(value.get("@language") or ""), str(value["@value"])
    elif isinstance(value, dict):
        for language, texts in value.items():
            yield from ((language, text) for _, text in _json_strings(texts))


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
