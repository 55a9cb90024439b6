"""The files that one call of ``Extractor.extract`` enters, for docs/architecture.md."""

import ast
import re
import sys
from pathlib import Path
from types import FrameType

from docs.tools.samples import ROOT
from phraseloom import Extractor

PACKAGE = ROOT / "src" / "phraseloom"
_MARKED = re.compile(r"(<!-- walk -->\n).*?(<!-- end -->)", re.DOTALL)


def fill_walk(page: str) -> str:
    """The page with the files in its marked place, each with what its docstring says of it."""
    if not _MARKED.search(page):
        return page
    lines = ["| | file | |", "|---|---|---|"]
    for number, file in enumerate(record_walk(), start=1):
        lines.append(f"| {number} | `{file}` | {_subject(PACKAGE / file)} |")
    table = "\n".join(lines)
    return _MARKED.sub(lambda marks: f"{marks[1]}{table}\n{marks[2]}", page)


def record_walk() -> list[str]:
    """Files of the package in the order in which the call first enters them."""
    text = (ROOT / "examples" / "abstract.txt").read_text(encoding="utf-8")
    extractor = Extractor.load()
    extractor.extract(text, top=3)  # what happens at the first call only is no part of the walk
    files: dict[str, None] = {}

    def note(frame: FrameType, event: str, argument: object) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(PACKAGE):
            files.setdefault(str(path.relative_to(PACKAGE)))

    sys.setprofile(note)
    try:
        extractor.extract(text, top=3)
    finally:
        sys.setprofile(None)
    return list(files)


def _subject(path: Path) -> str:
    """First sentence of a file's docstring, without its full stop."""
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    first = docstring.partition("\n\n")[0].replace("\n", " ")
    return re.split(r"\.(?=\s+[A-Z]|$)", first)[0]
