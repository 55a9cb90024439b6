"""Run the pages again and write down what they print: after a change of model or output.

Output stands in two places: in a ``console`` block below each line that begins with a prompt, and
in a ``text`` block that follows a ``python`` block at once. Run ``python -m docs.tools.refresh``.
"""

import contextlib
import sys
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

from docs.tools.blocks import PROMPT, Block, Session, find_blocks, shell_lines
from docs.tools.samples import ROOT, write_samples

_BETWEEN = "```\n\n```text\n"
_END = Block("", "", 0, 0)


def refresh(page: str, name: str) -> str:
    """The page with what its blocks print today; the current directory has the sample files."""
    session, changes = Session(), []
    for block, after in pairwise([*find_blocks(page), _END]):
        if block.code.startswith(PROMPT):
            said = [_with_output(session, line, name) for line in shell_lines(block)]
            changes.append((block, "".join(said)))
            continue
        output = session.run(block, name)
        if block.language == "python" and page[block.end : after.start] == _BETWEEN:
            changes.append((after, output))
    for block, text in reversed(changes):
        page = page[: block.start] + text + page[block.end :]
    return page


def _with_output(session: Session, line: str, name: str) -> str:
    output = session.run(Block("console", line, 0, 0), name)
    lines = [each.rstrip() for each in output.splitlines()]
    return "\n".join([PROMPT + line, *lines]) + "\n"


def main() -> None:
    """Refresh the read-me and every page."""
    for path in [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]:
        page = path.read_text(encoding="utf-8")
        with TemporaryDirectory() as directory, contextlib.chdir(directory):
            write_samples(Path.cwd())
            again = refresh(page, path.name)
        if again != page:
            path.write_text(again, encoding="utf-8")
            sys.stdout.write(f"{path.relative_to(ROOT)}\n")


if __name__ == "__main__":
    main()
