"""Texts that a command is given: files, or standard input for ``-``."""

import sys
from pathlib import Path

from phraseloom.errors import PhraseloomError


def read_text(path: Path) -> str:
    """Text of a UTF-8 file, or of standard input if the path is ``-``; line ends are kept."""
    try:
        content = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
    except OSError as error:
        raise PhraseloomError(f"cannot read {path}: {error.strerror}") from None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise PhraseloomError(
            f"{path} is not UTF-8 (byte {error.start}); convert it first, for example: "
            f"iconv -f LATIN1 -t UTF-8"
        ) from None
