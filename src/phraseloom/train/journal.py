"""metrics.jsonl: what a run measured, one JSON object a line, and never a line twice."""

import json
import os
from pathlib import Path
from typing import Any

Entry = dict[str, Any]
"""``kind`` is ``train``, ``valid`` or ``end``; ``step`` is the number of updates before it."""


class Journal:
    """Appends to a file of metrics."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def rewind(self, step: int) -> None:
        """Forget what was written after a step: a resumed run will write it again."""
        kept = [entry for entry in read_entries(self.path) if _is_before(entry, step)]
        partial = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        partial.write_text("".join(map(_line, kept)), encoding="utf-8")
        partial.replace(self.path)

    def add(self, entry: Entry) -> None:
        """Write one line, so that it is there even if the process dies next."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(_line(entry))


def read_entries(path: Path) -> list[Entry]:
    """All whole lines; what a kill left of the last one is skipped."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)
    except FileNotFoundError:
        return []
    return [json.loads(line) for line in lines if line.endswith("\n")]


def _is_before(entry: Entry, step: int) -> bool:
    # an "end" belongs to a stop that the resumed run undoes
    return bool(entry["kind"] != "end" and entry["step"] <= step)


def _line(entry: Entry) -> str:
    return json.dumps(entry) + "\n"
