"""Plain text of PDF and Word files."""

import io
import re
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from phraseloom.errors import ReadingError, import_extra
from phraseloom.io.markup import MAX_ELEMENTS
from phraseloom.io.pdf_size import MAX_PAGES, PageSizes
from phraseloom.text.document import Source
from phraseloom.text.words import replace_surrogates

_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_PARAGRAPH, _TEXT = f"{_WORD}p", f"{_WORD}t"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_GAPS = {f"{_WORD}tab": "\t", f"{_WORD}br": "\n", f"{_WORD}cr": "\n", f"{_WORD}noBreakHyphen": "-"}
_MAX_BYTES = 256 << 20  # unpacked; more is a trap, not a text
_MAX_TEXT = 50_000_000  # characters: a hundred books, which take an hour
_FED_AT_ONCE = 1 << 16
_BROKEN_WORD = re.compile(r"(?<=[a-z])-[ \t]*\n(?=[a-z])")


def pdf_source(content: bytes, name: str) -> Source:
    """The text of a PDF, page after page; words broken at the end of a line are joined."""
    pypdf = import_extra("pypdf", f"{name}: a PDF file", "pdf")
    with _damage_reported(name, "PDF"):
        reader = pypdf.PdfReader(io.BytesIO(content))
        if reader.is_encrypted and not reader.decrypt(""):
            raise ReadingError(f"{name} needs a password; save it without one first")
        if len(reader.pages) > MAX_PAGES:
            raise ReadingError(f"{name} has more than {MAX_PAGES:,} pages; split it")
        pages = list(_bounded(_page_texts(reader.pages, name), name))
    text = _BROKEN_WORD.sub("", replace_surrogates("\n\n".join(pages)))
    if pages and not text.strip():
        raise ReadingError(f"{name} holds no text, perhaps pictures of it; run OCR over it first")
    return Source(text)


def _page_texts(pages: Iterable[Any], name: str) -> Iterator[str]:
    """The text of each page; one that stands there again is not read again."""
    sizes, texts = PageSizes(name), dict[object, str]()
    for number, page in enumerate(pages, start=1):
        key = getattr(page.indirect_reference, "idnum", None) or -number
        if key not in texts:
            sizes.add(page, number)
            texts[key] = page.extract_text()
        yield texts[key]


def _bounded(texts: Iterable[str], name: str) -> Iterator[str]:
    """The same texts, if they are no more together than a text can be."""
    length = 0
    for text in texts:
        length += len(text)
        if length > _MAX_TEXT:
            raise ReadingError(f"{name} has a text of more than {_MAX_TEXT:,} characters; split it")
        yield text


def docx_source(content: bytes, name: str) -> Source:
    """The paragraphs of a Word file, those in tables and boxes too.

    Raises:
        ReadingError: it is damaged, unpacks to too much, or has too much text or too many elements.
    """
    from lxml.etree import XMLParser  # here: start-up time

    target = _WordTarget(name)
    parser = XMLParser(target=target, resolve_entities=False, no_network=True)
    with (
        _damage_reported(name, "Word file"),
        zipfile.ZipFile(io.BytesIO(content)) as archive,
        archive.open("word/document.xml") as part,
    ):
        size = 0
        while xml := part.read(_FED_AT_ONCE):
            size += len(xml)
            if size > _MAX_BYTES:
                raise ReadingError(f"{name} unpacks to more than {_MAX_BYTES >> 20} MB; split it")
            parser.feed(xml)
        parser.close()
    paragraphs = ("".join(paragraph) for paragraph in target.paragraphs)
    return Source("\n\n".join(paragraph for paragraph in paragraphs if paragraph.strip()))


class _WordTarget:
    """Collects text by paragraph, as lxml's parser calls it; no tree of elements is kept."""

    def __init__(self, name: str) -> None:
        self.paragraphs: list[list[str]] = [[]]
        self._length = 0
        self._name = name
        self._elements = 0
        self._fallbacks = 0  # open ones: they say again, for old programs, what stands before them
        self._is_text = False

    def start(self, tag: str, attributes: Any) -> None:
        self._elements += 1
        if self._elements > MAX_ELEMENTS:
            raise ReadingError(f"{self._name} has more than {MAX_ELEMENTS:,} elements; split it")
        if tag == _PARAGRAPH:
            self._begin_paragraph()
        self._fallbacks += tag == _FALLBACK
        self._is_text = tag == _TEXT

    def end(self, tag: str) -> None:
        self._is_text = False
        self._fallbacks -= tag == _FALLBACK
        if tag == _PARAGRAPH:
            self._begin_paragraph()
        elif tag in _GAPS and not self._fallbacks:
            self.paragraphs[-1].append(_GAPS[tag])

    def data(self, text: str) -> None:
        if self._is_text and not self._fallbacks:
            self._length += len(text)
            if self._length > _MAX_TEXT:
                raise ReadingError(
                    f"{self._name} has a text of more than {_MAX_TEXT:,} characters; split it"
                )
            self.paragraphs[-1].append(text)

    def close(self) -> None:
        """Called by the parser at the end."""

    def _begin_paragraph(self) -> None:
        if self.paragraphs[-1]:
            self.paragraphs.append([])


@contextmanager
def _damage_reported(name: str, kind: str) -> Iterator[None]:
    """Whatever a damaged file makes a library raise is one line."""
    try:
        yield
    except ReadingError:
        raise
    except Exception as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ReadingError(f"{name} is no {kind} that can be read ({reason:.200})") from None
