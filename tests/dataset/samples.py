"""An extractor that takes no time, and a dataset as a program of its own, which can be killed."""

import json
import os
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from phraseloom.dataset import run
from phraseloom.dataset.run import Request, extract_files
from phraseloom.keyphrase import Keyphrase
from phraseloom.network.weights import save_model
from phraseloom.options import Options
from phraseloom.text.document import Source
from tests.builders import make_styled_model

SCORE = 3.2e-7


class FirstWord:
    """Says that the first word of a text is its keyphrase; some words raise, kill, or take long."""

    def extract(self, sources: Sequence[Source], options: Options) -> list[list[Keyphrase]]:
        return [self._first(source.text) for source in sources]

    def _first(self, text: str) -> list[Keyphrase]:
        word = text.partition(" ")[0]
        if "deadly" in text:
            os.kill(os.getpid(), signal.SIGKILL)
        if "long" in text and (gate := os.environ.get("LONG")):
            Path(gate).write_text("here")
            time.sleep(60)
        if "poison" in text:
            raise ValueError("this text\nis poison")
        return [Keyphrase(word, (word,), SCORE, 1, ((0, len(word)),), ())] if word else []


def use_first_word(model: Path, threads: int) -> FirstWord:
    return FirstWord()


def save_tiny(folder: Path) -> Path:
    """A model directory; what stands in it is not read."""
    network, config = make_styled_model()
    save_model(folder, network, config, notes={})
    return folder


def write_rows(path: Path, rows: Sequence[Mapping[str, Any] | str]) -> Path:
    """JSON lines, or lines that are none."""
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def contents(folder: Path) -> dict[str, bytes]:
    """All files in and below a folder."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


if __name__ in {"__main__", "__mp_main__"}:  # the program, and processes that it starts
    run.load_extractor = use_first_word  # type: ignore[assignment]

if __name__ == "__main__":
    papers, out, model, jobs = sys.argv[1:]
    request = Request([Path(papers)], Path(out), Options(), model=Path(model), part_rows=10)

    def tell(done: int, total: int, aside: int) -> None:
        sys.stdout.write(f"{done}\n")
        sys.stdout.flush()

    extract_files(request, jobs=int(jobs), on_progress=tell)
