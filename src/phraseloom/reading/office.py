"""Plain text of PDF and Word files."""

import io
import re
import zipfile
from typing import IO
from xml.etree import ElementTree

from phraseloom.errors import ReadingError
from phraseloom.reading.named import readable
from phraseloom.text.document import Source

_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_PARAGRAPH, _TEXT = f"{_WORD}p", f"{_WORD}t"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_GAPS = {f"{_WORD}tab": "\t", f"{_WORD}br": "\n", f"{_WORD}cr": "\n", f"{_WORD}noBreakHyphen": "-"}
_MOST_BYTES = 256 << 20  # unpacked; more is a trap, not a text
_BROKEN_WORD = re.compile(r"(?<=[a-z])-[ \t]*\n(?=[a-z])")


def pdf_source(content: bytes, name: str) -> Source:
    """The text of a PDF, page after page; words broken at the end of a line are joined."""
    try:
        import pypdf  # here: an optional dependency
    except ImportError:
        raise ReadingError(
            f"{name}: PDF needs one more package; run: pip install 'phraseloom[pdf]'"
        ) from None
    try:
        reader = pypdf.PdfReader(io.BytesIO(content))
        if reader.is_encrypted and not reader.decrypt(""):
            raise ReadingError(f"{name} needs a password; save it without one first")
        pages = [page.extract_text() for page in reader.pages]
    except ReadingError:
        raise
    except Exception as error:  # a damaged PDF may raise anything
        raise ReadingError(f"{name} is no PDF that can be read ({_one_line(error)})") from None
    text = _BROKEN_WORD.sub("", readable("\n\n".join(pages)))
    if pages and not text.strip():
        raise ReadingError(f"{name} holds no text, perhaps pictures of it; run OCR over it first")
    return Source(text)


def docx_source(content: bytes, name: str) -> Source:
    """The paragraphs of a Word file, those in tables and boxes too."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            part = archive.getinfo("word/document.xml")
            if part.file_size > _MOST_BYTES:
                raise ReadingError(f"{name} unpacks to more than {_MOST_BYTES >> 20} MB; split it")
            with archive.open(part) as file:
                paragraphs = _paragraphs(file)
    except (zipfile.BadZipFile, KeyError, RuntimeError, ElementTree.ParseError) as error:
        raise ReadingError(
            f"{name} is no Word file that can be read ({_one_line(error)})"
        ) from None
    return Source("\n\n".join(paragraph for paragraph in paragraphs if paragraph.strip()))


def _paragraphs(file: IO[bytes]) -> list[str]:
    blocks: list[list[str]] = [[]]
    fallbacks = 0  # open ones: they say again, for old programs, what stands before them
    for event, element in ElementTree.iterparse(file, events=("start", "end")):
        if element.tag == _FALLBACK:
            fallbacks += 1 if event == "start" else -1
        elif element.tag == _PARAGRAPH:
            blocks.append([])
        elif event == "end" and not fallbacks:
            text = (element.text or "") if element.tag == _TEXT else _GAPS.get(element.tag, "")
            blocks[-1].append(text)
    return ["".join(block) for block in blocks]


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
