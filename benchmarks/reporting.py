"""What every benchmark does with its result: print it, and write it with how it was made."""

import argparse
import json
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


def make_parser(description: str | None) -> argparse.ArgumentParser:
    """A parser of arguments that has ``--out`` already."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--out", type=Path, help="JSON file to write")
    return parser


def report(result: dict[str, Any], out: Path | None) -> None:
    """Print a result as JSON, with machine, commit and command, and write it if asked to."""
    result = {
        **result,
        "machine": f"{platform.machine()}, Python {platform.python_version()}",
        "commit": commit_of(),
        "source": _git("rev-parse", "HEAD:src"),  # outlives commits that are joined
        "command": " ".join(["python", *_without_paths(sys.argv)]),
    }
    text = json.dumps(result, indent=1, ensure_ascii=False)
    print(text)
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(text + "\n", encoding="utf-8")


def commit_of() -> str:
    """What is checked out."""
    return _git("rev-parse", "--short", "HEAD")


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def _without_paths(arguments: list[str]) -> list[str]:
    """Arguments as one would write them in the repository: where it lies is nobody's business."""
    return [argument.replace(f"{ROOT}/", "") for argument in arguments]


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds that something takes, by the clock and of CPU time."""
    start, cpu_start = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - start, time.process_time() - cpu_start
