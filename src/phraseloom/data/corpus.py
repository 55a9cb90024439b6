"""Readers of keyphrase corpora: they stream, tell formats apart, and lose no line in silence.

Known formats: JSON lines (plain or compressed), the ``src``/``trg`` text pairs of the one2seq
repositories, the rows of the keyphrase sets on model hubs, and plain text.
"""

import json
import logging
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from phraseloom.data.files import bad_byte_line, open_lines, stem_of, without_packing
from phraseloom.errors import CorpusError
from phraseloom.text.document import Source
from phraseloom.text.normalise import normalise

logger = logging.getLogger(__name__)

_JSON_SUFFIXES = {".jsonl", ".json", ".ndjson"}
_TEXT_SUFFIXES = {".txt", ".text", ".md", ".src", ".conllu"}
_BODY_FIELDS = ("abstract", "text", "document")
_KEYWORD_FIELDS = ("keywords", "keyword", "keyphrases")
_SPLIT_FIELDS = ("extractive_keyphrases", "abstractive_keyphrases")
_SOURCE_NAME = re.compile(r"(?<![a-z])(src|source)(?![a-z])")
_TARGET_NAME = re.compile(r"(?<![a-z])(trg|tgt|target)(?![a-z])")
_TARGETS_OF = {"src": ("trg", "tgt"), "source": ("target",)}
_EOS = re.compile(r"\s*<eos>\s*")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


class CorpusDocument(NamedTuple):
    """One document of a corpus with the keyphrases that someone gave it."""

    id: str
    origin: str
    """The set it belongs to: the row's ``set``, else the name of the file."""
    source: Source
    keywords: tuple[str, ...]


class _BadLineError(Exception):
    """Says what is wrong with the line at hand."""


class CorpusReader:
    """Iterates over the documents of files and directories, in a fixed order.

    A bad line is logged with its file and number and counted in ``skipped``; a strict reader raises
    CorpusError instead.
    """

    def __init__(self, paths: Sequence[Path], *, strict: bool = False) -> None:
        self.files = [file for path in paths for file in corpus_files(Path(path))]
        self.skipped = 0
        self._strict = strict

    def __iter__(self) -> Iterator[CorpusDocument]:
        self.skipped = 0
        for file in self.files:
            before = self.skipped
            yield from self._read(file)
            if self.skipped > before:
                logger.warning("%s: %d documents skipped", file, self.skipped - before)

    def _read(self, file: Path) -> Iterator[CorpusDocument]:
        target = target_of(file)
        if target is not None:
            return self._read_pair(file, target)
        return self._read_json(file) if is_json(file) else self._read_text(file)

    def _read_json(self, file: Path) -> Iterator[CorpusDocument]:
        for number, line in enumerate(open_lines(file), start=1):
            if not line.strip():
                continue
            try:
                yield _document_of_row(_parse_row(line), file, number)
            except _BadLineError as problem:
                self._report(file, number, str(problem))

    def _read_pair(self, file: Path, target: Path) -> Iterator[CorpusDocument]:
        targets = open_lines(target)
        for number, line in enumerate(open_lines(file), start=1):
            keywords = next(targets, None)
            if keywords is None:
                raise CorpusError(
                    f"{target} ends before line {number} of {file}; they must pair up"
                )
            try:
                yield _document_of_pair(_decode(line), _decode(keywords), file, number)
            except _BadLineError as problem:
                self._report(file, number, str(problem))
        if next(targets, None) is not None:
            raise CorpusError(f"{target} has more lines than {file}; they must pair up")

    def _read_text(self, file: Path) -> Iterator[CorpusDocument]:
        content = b"".join(open_lines(file))
        try:
            text = _readable(content.decode("utf-8-sig"))
        except UnicodeDecodeError as error:
            self._report(file, bad_byte_line(content, error), "not valid UTF-8")
            return
        if not normalise(text).strip():
            self._report(file, 1, "no text")
            return
        yield CorpusDocument(stem_of(file), stem_of(file), Source(text), ())

    def _report(self, file: Path, number: int, problem: str) -> None:
        if self._strict:
            raise CorpusError(f"{file}:{number}: {problem}; mend it, or read without --strict")
        logger.warning("%s:%d: %s; skipped", file, number, problem)
        self.skipped += 1


def read_corpus(path: Path, *, strict: bool = False) -> Iterator[CorpusDocument]:
    """Stream the documents of a file or a directory; see CorpusReader for what bad lines do."""
    return iter(CorpusReader([path], strict=strict))


def corpus_files(path: Path) -> list[Path]:
    """Files of a corpus in reading order: the path itself, or what a directory holds.

    A ``trg`` file is read with its ``src`` twin, not by itself. Files of a directory that are of
    no known kind are named in the log.
    """
    if path.is_dir():
        inside = sorted(file for file in path.rglob("*") if file.is_file())
        visible = [file for file in inside if not file.name.startswith(".")]
        known = [file for file in visible if _has_known_name(file)]
        for file in set(visible) - set(known) - {target_of(file) for file in known}:
            logger.warning("%s: not a corpus file by its name; ignored", file)
        if not known:
            raise CorpusError(f"no corpus files in {path}; expected .jsonl, .txt or src/trg pairs")
        return known
    if not path.is_file():
        raise CorpusError(f"no corpus at {path}; check the path")
    if source_of(path) is not None:
        raise CorpusError(f"{path} holds targets; give its source file {source_of(path)} instead")
    return [path]


def corpus_name(path: Path) -> str:
    """Name of a corpus in tables: that of its directory, or of its file without suffixes."""
    return path.name if path.is_dir() else stem_of(path)


def count_lines(file: Path) -> int:
    """Documents that a file can hold at most: what a progress bar counts towards."""
    if target_of(file) is None and not is_json(file):
        return 1
    return sum(1 for line in open_lines(file) if not line.isspace())


def target_of(file: Path) -> Path | None:
    """The ``trg`` twin beside a ``src`` file, told by its name."""
    match = _SOURCE_NAME.search(file.name)
    return _twin(file, match, _TARGETS_OF[match[1]]) if match else None


def source_of(file: Path) -> Path | None:
    """The ``src`` twin beside a ``trg`` file."""
    match = _TARGET_NAME.search(file.name)
    return _twin(file, match, ("src", "source")) if match else None


def _twin(file: Path, match: re.Match[str], words: Sequence[str]) -> Path | None:
    for word in words:
        twin = file.with_name(file.name[: match.start()] + word + file.name[match.end() :])
        if twin.is_file():
            return twin
    return None


def _has_known_name(file: Path) -> bool:
    suffix = Path(without_packing(file.name)).suffix.lower()
    return suffix in _JSON_SUFFIXES | _TEXT_SUFFIXES and source_of(file) is None


def is_json(file: Path) -> bool:
    """Tell JSON lines by the name or else by the first character that is not white space."""
    if Path(without_packing(file.name)).suffix.lower() in _JSON_SUFFIXES:
        return True
    first = next((line for line in open_lines(file) if line.strip()), b"")
    return first.lstrip(b"\xef\xbb\xbf \t").startswith(b'{"')


def _parse_row(line: bytes) -> dict[str, Any]:
    try:
        row = json.loads(_decode(line))
    except (ValueError, RecursionError) as error:
        if line.strip() in (b"[", b"{"):
            raise _BadLineError("JSON over several lines; write one object a line") from None
        raise _BadLineError(f"not valid JSON ({error})") from None
    if not isinstance(row, dict):
        raise _BadLineError("not a JSON object; write one object a line")
    return row


def _decode(line: bytes) -> str:
    try:
        return line.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _BadLineError(f"not valid UTF-8 (byte {error.start + 1})") from None


def _document_of_row(row: dict[str, Any], file: Path, number: int) -> CorpusDocument:
    title = _text_field(row, ("title",)) or ""
    body = _text_field(row, _BODY_FIELDS)
    if body is None and not title:
        raise _BadLineError("no title, abstract, text or document")
    source = _checked(Source(body or "", title))
    identity = row.get("id", f"{stem_of(file)}-{number}")
    origin = row.get("set", stem_of(file))
    return CorpusDocument(_readable(str(identity)), _readable(str(origin)), source, _keywords(row))


def _document_of_pair(line: str, keywords: str, file: Path, number: int) -> CorpusDocument:
    first, *rest = _EOS.split(_readable(line.strip()), maxsplit=1)
    source = _checked(Source(rest[0], first) if rest else Source(first))
    phrases = (part.strip() for part in keywords.replace("<peos>", "").split(";"))
    name = stem_of(file)
    return CorpusDocument(f"{name}-{number}", name, source, tuple(filter(None, phrases)))


def _checked(source: Source) -> Source:
    if not normalise(source.title).strip() and not normalise(source.text).strip():
        raise _BadLineError("no text")
    return source


def _text_field(row: dict[str, Any], names: Sequence[str]) -> str | None:
    """First of the fields that is there: a string, or the list of its tokens."""
    for name in names:
        value = row.get(name)
        if isinstance(value, list) and all(isinstance(token, str) for token in value):
            return _readable(" ".join(value))
        if isinstance(value, str):
            return _readable(value)
        if value is not None:
            raise _BadLineError(f"{name} is not a string")
    return None


def _keywords(row: dict[str, Any]) -> tuple[str, ...]:
    names = [name for name in _KEYWORD_FIELDS if name in row][:1]
    names = names or [name for name in _SPLIT_FIELDS if name in row]
    if not names:
        raise _BadLineError("no keywords or keyphrases")
    phrases: list[str] = []
    for name in names:
        value = row[name] or []
        values = value.split(";") if isinstance(value, str) else value
        if not isinstance(values, list) or not all(isinstance(part, str) for part in values):
            raise _BadLineError(f"{name} is neither a list of strings nor a string with ';'")
        phrases += values
    return tuple(filter(None, (_readable(phrase).strip() for phrase in phrases)))


def _readable(text: str) -> str:
    """Lone surrogates, which no file can hold, become U+FFFD; the length stays."""
    return _SURROGATE.sub("\ufffd", text)
