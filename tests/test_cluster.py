"""Ray does the same as one process. What kills it does is in ``benchmarks/kill_cluster.py``."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from phraseloom import cluster
from phraseloom.dataset.run import Request, extract_files
from phraseloom.extractor import Extractor
from phraseloom.options import Options
from tests.dataset.samples import contents, save_tiny, write_rows

PROGRAM = """
import json
import sys
from pathlib import Path

from phraseloom import cluster
from phraseloom.dataset.run import Request
from phraseloom.errors import OptionsError
from phraseloom.options import Options

folder = Path(sys.argv[1])
request = Request(
    [folder / "a.jsonl", folder / "b.jsonl"],
    folder / "cluster", Options(top=2), model=folder / "model", part_rows=4,
)
with cluster.connected(cluster.LOCAL, 1) as ray:
    told = []
    outcome = cluster.extract_files(request, workers=1, on_progress=lambda *now: told.append(now))
    again = cluster.extract_files(request, workers=1)
    rows = [{"body": "Graph networks read trees.", "n": 1}, {"body": None, "n": 2}]
    dataset = cluster.extract_dataset(
        ray.data.from_items(rows), column="body", model=folder / "model", top=2, workers=1
    )
    refused = ""
    try:
        cluster.extract_dataset(rows)
    except OptionsError as error:
        refused = str(error)
    said = [outcome, again, told, dataset.take_all(), refused]
    (folder / "said").write_text(json.dumps(said))
"""
DEADLY = """
import json
import os
import signal
import sys
from pathlib import Path

from phraseloom import cluster

folder = Path(sys.argv[1])

class Trapped:
    def __init__(self, extractor, deaths):
        self._extractor, self._deaths = extractor, deaths

    def extract(self, sources, options):
        if any("deadly" in source.text for source in sources):
            with self._deaths.open("a") as file:
                file.write(f"{len(sources)}\\n")
            os.kill(os.getpid(), signal.SIGKILL)
        return self._extractor.extract(sources, options)

class Actor(cluster._BatchActor):
    def __init__(self, *arguments):
        super().__init__(*arguments)
        self._extractor = Trapped(self._extractor, folder / "deaths")

cluster._BatchActor = Actor
rows = [{"text": f"Graph {'is deadly' if n == 3 else 'networks'} {n}.", "n": n} for n in range(6)]
with cluster.connected(cluster.LOCAL, 1) as ray:
    dataset = cluster.extract_dataset(
        ray.data.from_items(rows), model=folder / "model", top=1, workers=1
    )
    (folder / "said").write_text(json.dumps(dataset.take_all()))
"""


def run_program(program: str, folder: Path) -> list[Any]:
    """What a program in a process of its own says in JSON; nothing of the folder it is in runs."""
    planted = folder / "planted"
    planted.mkdir()
    for name in ("phraseloom", "pydantic", "numpy", "json", "pickle"):
        (planted / f"{name}.py").write_text(f"open({str(folder / 'it ran')!r}, 'w')\n")
    done = subprocess.run(
        [sys.executable, "-P", "-c", program, folder],
        cwd=planted,
        env={**os.environ, "RAY_worker_niceness": "0"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert not (folder / "it ran").exists()
    assert done.returncode == 0, done.stderr
    said: list[Any] = json.loads((folder / "said").read_text())  # Ray writes to stdout, too
    return said


def test_of_a_model_directory_only_the_model_travels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = save_tiny(tmp_path / "model")
    parts = contents(model)
    (model / ".git").mkdir()
    (model / "optimizer.safetensors").write_bytes(b"as large as the model")
    sent: list[dict[str, bytes]] = []
    monkeypatch.setattr(cluster, "_import_ray", lambda: SimpleNamespace(put=sent.append))

    cluster._ModelCopy(model)

    assert sent == [parts]


@pytest.mark.slow
def test_ray_writes_the_bytes_that_one_process_writes(tmp_path: Path) -> None:
    model = save_tiny(tmp_path / "model")
    texts = [f"Graph networks number {n} read dependency trees." for n in range(10)]
    rows = [{"text": text, "n": n} for n, text in enumerate(texts)]
    files = [
        write_rows(tmp_path / "a.jsonl", [*rows[:3], "bad"]),
        write_rows(tmp_path / "b.jsonl", rows[3:]),
    ]
    plain = Request(files, tmp_path / "plain", Options(top=2), model=model, part_rows=4)
    assert extract_files(plain) == (10, 0, 1)

    outcome, again, told, dataset, refused = run_program(PROGRAM, tmp_path)

    assert (outcome, again) == ([10, 0, 1], [0, 11, 1])
    assert sorted(total for _, total, _ in told) == [11, 11, 11]
    assert told[-1] == [11, 11, 1]
    assert contents(tmp_path / "cluster") == contents(tmp_path / "plain")
    phrases = Extractor.load(model).extract("Graph networks read trees.", top=2)
    assert [(row["n"], row["body"]) for row in dataset] == [
        (1, "Graph networks read trees."),
        (2, None),
    ]
    assert [cell["text"] for cell in dataset[0]["keyphrases"]] == [
        phrase.text for phrase in phrases
    ]
    assert dataset[1]["keyphrases"] is None
    assert "a dataset of ray.data, not list" in refused


@pytest.mark.slow
def test_a_row_that_kills_its_actors_is_given_up_and_the_others_are_done(tmp_path: Path) -> None:
    save_tiny(tmp_path / "model")

    rows = run_program(DEADLY, tmp_path)

    assert [row["n"] for row in rows] == list(range(6))
    assert [row["n"] for row in rows if row["keyphrases"] is None] == [3]
    deaths = (tmp_path / "deaths").read_text().split()
    assert deaths == ["6", "1", "1"]  # first beside the others, then alone
