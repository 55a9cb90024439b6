"""Result files: what was measured, with the command, the commit and the settings behind it."""

import json
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from phraseloom import __version__
from phraseloom.errors import PhraseloomError
from phraseloom.io.atomic import write_text

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "experiments" / "results"
PICTURES = ROOT / "docs" / "pictures"

Result = dict[str, Any]
Row = dict[str, Any]


def write_result(path: Path, content: Mapping[str, Any]) -> Result:
    """Write a result with its provenance, and give it as it will be read.

    Readers see the old file or the whole new one.
    """
    write_text(path, ["{\n", ",\n".join(_lines({**provenance(), **content})), "\n}\n"])
    return read_result(path)


def _lines(content: Mapping[str, Any]) -> Iterator[str]:
    """A line a key, and a line a row: what changed can be seen in a diff."""
    for key, value in content.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            rows = ",\n".join(f"  {_dump(row)}" for row in value)
            yield f" {_dump(key)}: [\n{rows}\n ]"
        else:
            yield f" {_dump(key)}: {_dump(value)}"


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def read_result(path: Path) -> Result:
    """Read what was measured; without it, nothing can be drawn."""
    try:
        content: Result = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise PhraseloomError(
            f"nothing was measured yet: there is no {path}; run the experiment first"
        ) from None
    except (OSError, ValueError) as error:
        raise PhraseloomError(f"{path} is damaged: {error}; measure again") from None
    return content


def read_rows(path: Path) -> list[Row]:
    """Rows that were measured before, to go on from; none if there is no result."""
    return list(read_result(path)["rows"]) if path.exists() else []


def provenance() -> dict[str, str]:
    """The command that runs, and the code that it runs.

    A commit's name is lost when commits are joined; that of the tree of `src/`, ``source``, is not.
    """
    command = shlex.join(["python", "-m", "experiments", *sys.argv[1:]])
    source = _git("rev-parse", "HEAD:src") or "unknown"
    return {"command": command, "version": __version__, "commit": _commit(), "source": source}


def _commit() -> str:
    """Commit of the checkout, with a plus if the code in it differs from that."""
    head = _git("rev-parse", "HEAD")
    if head is None:
        return "unknown"
    return f"{head}+" if _git("status", "--porcelain", "src", "experiments/*.py") else head


def _git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()
