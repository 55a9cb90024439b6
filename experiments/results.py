"""Result files: what was measured, with the command, the commit and the settings behind it."""

import json
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from phraseloom import __version__
from phraseloom.data.parts import write_json
from phraseloom.errors import PhraseloomError

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "experiments" / "results"


def write_result(path: Path, content: Mapping[str, Any]) -> None:
    """Write a result with its provenance; readers see the old file or the whole new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, {**provenance(), **content})


def read_result(path: Path) -> dict[str, Any]:
    """Read what was measured; without it, nothing can be drawn."""
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise PhraseloomError(
            f"nothing was measured yet: there is no {path}; run the experiment without --draw-only"
        ) from None
    except (OSError, ValueError) as error:
        raise PhraseloomError(f"{path} is damaged: {error}; measure again") from None
    return content


def provenance() -> dict[str, str]:
    """The command that runs, and the code that it runs."""
    command = shlex.join(["phraseloom", *sys.argv[1:]])
    return {"command": command, "version": __version__, "commit": _commit()}


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
