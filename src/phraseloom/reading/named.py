"""A text that goes by a name in messages and results, and bytes that should be text."""

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from typing import NamedTuple

from phraseloom.errors import ReadingError
from phraseloom.text.document import Source

_SURROGATE = re.compile(r"[\ud800-\udfff]")


class Named(NamedTuple):
    """A document and where it came from: ``paper.pdf``, or ``papers.jsonl:12`` for a row."""

    name: str
    source: Source


def decode(content: bytes, name: str) -> str:
    """Text of UTF-8 bytes, or of UTF-16 that begins with its mark; its line ends are kept."""
    is_wide = content.startswith((BOM_UTF16_LE, BOM_UTF16_BE))
    try:
        text = content.decode("utf-16" if is_wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise ReadingError(
            f"{name} is not UTF-8 (byte {error.start}); convert it first, for example: "
            f"iconv -f {'UTF-16' if is_wide else 'LATIN1'} -t UTF-8"
        ) from None
    if "\0" in text[:1024]:
        raise ReadingError(f"{name} is no text; .txt, .md, .html, .pdf and .docx can be read")
    return text


def readable(text: str) -> str:
    """Lone surrogates, which no file can hold, become U+FFFD; the length stays."""
    return _SURROGATE.sub("\ufffd", text)
