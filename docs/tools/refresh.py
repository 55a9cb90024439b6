"""Run the pages again and write down what they print: after a change of model or output.

Output stands in three places: in a ``console`` block below each line that begins with a prompt, in
a ``text`` block that follows a ``python`` block at once, and in a ``json`` block that follows a
``curl`` at once. Run ``python -m docs.tools.refresh``.
"""

import contextlib
import sys
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

from docs.tools.blocks import PROMPT, Block, Command, Session, find_blocks, shell_lines
from docs.tools.samples import ROOT, write_samples
from docs.tools.walk import fill_walk

_BETWEEN = {"python": "```\n\n```text\n", "sh": "```\n\n```json\n"}
_END = Block("", "", 0, 0)


def refresh(page: str, name: str, known: set[Command] | None = None) -> str:
    """The page with what its blocks print today; the current directory has the sample files.

    Args:
        page: Markdown.
        name: for messages.
        known: commands that need not run again, see `Session`.
    """
    session, changes = Session(known), []
    for block, after in pairwise([*find_blocks(page), _END]):
        if block.code.startswith(PROMPT):
            shown = [_with_output(line, name) for line in shell_lines(block)]
            changes.append((block, "".join(shown)))
            continue
        output = session.run(block, f"{name}, {block.code[:40]!r}")
        is_shown = page[block.end : after.start] == _BETWEEN.get(block.language)
        if is_shown and (block.language == "python" or "curl " in block.code):
            changes.append((after, output))
    for block, text in reversed(changes):
        page = page[: block.start] + text + page[block.end :]
    return page


def _with_output(line: str, name: str) -> str:
    output = Session().run(Block("console", PROMPT + line, 0, 0), name)
    lines = [printed.rstrip() for printed in output.splitlines()]
    return "\n".join([PROMPT + line, *lines]) + "\n"


def main() -> None:
    """Refresh the read-me and every page."""
    known: set[Command] = set()
    for path in [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]:
        page = path.read_text(encoding="utf-8")
        with TemporaryDirectory() as directory, contextlib.chdir(directory):
            write_samples(Path.cwd())
            again = fill_walk(refresh(page, path.name, known))
        if again != page:
            path.write_text(again, encoding="utf-8")
            sys.stdout.write(f"{path.relative_to(ROOT)}\n")


if __name__ == "__main__":
    main()
