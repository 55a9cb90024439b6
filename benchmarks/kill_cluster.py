"""Real SIGKILLs while a dataset is extracted: is every row there once, and are the bytes the same?

    python benchmarks/kill_cluster.py --out benchmarks/results/kills.json

One process extracts the rows undisturbed. Then the same is done again while something is killed:
the command itself, its processes, an actor, or all of a second node of a cluster. Nodes are `ray
start` on this machine, of one core each, in sessions of their own. A row that raises is among them;
in the last way one is that kills whoever extracts it, wherever that is.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

_HERE = Path(__file__).parents[1]
_PORT = 46379
_DEADLY = """
import os, signal
try:
    from phraseloom.extractor import Extractor
except ImportError:
    pass
else:
    extract = Extractor.extract
    def trapped(self, sources, *args, **kwargs):
        texts = [source.text for source in sources]
        if any("It is deadly." in text for text in texts):
            os.kill(os.getpid(), signal.SIGKILL)
        if any("It raises." in text for text in texts):
            raise ValueError("it raises")
        return extract(self, sources, *args, **kwargs)
    Extractor.extract = trapped
"""
"""Runs in every Python process of the benchmark, before anything else."""


def main() -> None:
    sys.path.insert(0, str(_HERE))  # `python …` sees only the script's folder
    from benchmarks.reporting import make_parser, report

    parser = make_parser(__doc__)
    parser.add_argument("--documents", type=int, default=100)
    parser.add_argument("--only", nargs="*", help="some of the ways")
    args = parser.parse_args()
    with TemporaryDirectory() as directory:
        (Path(directory) / "sitecustomize.py").write_text(_DEADLY, encoding="utf-8")
        os.environ.update(
            PYTHONPATH=os.pathsep.join([directory, os.environ.get("PYTHONPATH", "")]),
            OMP_NUM_THREADS="1",
            RAY_USAGE_STATS_ENABLED="0",
            RAY_AUTH_MODE="disabled",  # the cluster is gone before anyone else sees it
            RAY_worker_niceness="0",  # else 15: on a busy machine Ray would hardly get on
        )
        killer = Killer(Path(directory), args.documents)
        rows = [row for row in killer.run_all(args.only) if print_row(row)]
    report({"documents": args.documents, "ways": rows}, args.out)


def print_row(row: dict[str, Any]) -> bool:
    print(row, file=sys.stderr, flush=True)
    return True


class Killer:
    """A dataset, what an undisturbed run makes of it, and ways to disturb another."""

    def __init__(self, folder: Path, documents: int) -> None:
        from benchmarks.texts import make_texts

        self._folder, self._documents = folder, documents
        texts = make_texts(documents, sentences=2)
        texts[documents // 2] += " It raises."
        self._papers = _write(folder / "papers.jsonl", texts)
        texts[documents // 3] += " It is deadly."
        self._deadly = _write(folder / "deadly.jsonl", texts)

    def run_all(self, only: list[str] | None) -> Iterator[dict[str, Any]]:
        """What was killed in each way, and what came of it."""
        ways = {
            "two processes": self._kill_worker,
            "the command, two processes": self._kill_driver,
            "an actor": self._kill_actor,
            "the command, and Ray with it": self._kill_ray_driver,
            "a whole node": self._kill_node,
            "a deadly row": self._extract_deadly,
        }
        self._finish("undisturbed")
        for way, disturb in ways.items():
            if not only or way in only:
                begin = time.perf_counter()
                killed = disturb(way.replace(" ", "-"))
                seconds = round(time.perf_counter() - begin)
                yield {"way": way, "killed": killed, **self._compare(way), "seconds": seconds}

    def _command(self, out: str, *options: str) -> list[str]:
        papers = self._deadly if "deadly" in out else self._papers
        program = "from phraseloom.__main__ import main; main()"
        return [
            *(sys.executable, "-c", program, "extract", str(papers), "--format", "parquet"),
            *("--out", str(self._folder / out), "--part-rows", "5", *options),
        ]

    def _compare(self, way: str) -> dict[str, Any]:
        from pyarrow import parquet

        out = self._folder / way.replace(" ", "-")
        expected, found = (
            {path.name: path.read_bytes() for path in folder.iterdir()}
            for folder in (self._folder / "undisturbed", out)
        )
        numbers = [row for part in sorted(out.glob("part-*")) for row in _numbers(parquet, part)]
        aside = found["_set_aside.jsonl"].count(b"\n")
        names = expected.keys() - {"_manifest.json"}  # it has the name of the file
        differing = [name for name in names if expected[name] != found.get(name)]
        return {
            "rows in": self._documents,
            "rows out": len(numbers),
            "set aside": aside,
            "in order, each once": numbers == sorted(set(numbers)),
            "parts": len(names) - 1,
            "files that differ": sorted(differing + [*(found.keys() - expected.keys())]),
        }

    def _kill_worker(self, out: str) -> str:
        """The processes that extract are killed, all at once."""
        with self._started(out, "--jobs", "2") as driver:
            self._wait_for_parts(out, 3)
            pids = _children(driver.pid, "spawn_main")
            for pid in pids:
                os.kill(pid, signal.SIGKILL)
        return f"{len(pids)} processes of it, once"

    def _kill_driver(self, out: str) -> str:
        for parts in (2, 6):
            with self._started(out, "--jobs", "2") as driver:
                self._wait_for_parts(out, parts)
                driver.kill()
        self._finish(out, "--jobs", "2")
        return "the command, twice"

    def _kill_actor(self, out: str) -> str:
        with self._started(out, "--cluster", "--jobs", "2") as driver:
            for parts in (2, 10):
                self._wait_for_parts(out, parts)
                actor = _children(driver.pid, "ray::MapWorker")[0]
                os.kill(actor, signal.SIGKILL)
        return "one of two actors, twice"

    def _kill_ray_driver(self, out: str) -> str:
        with self._started(out, "--cluster", "--jobs", "2") as driver:
            self._wait_for_parts(out, 3)
            driver.kill()
        self._finish(out, "--cluster", "--jobs", "2")
        return "the command, once"

    def _kill_node(self, out: str) -> str:
        """Two nodes; all of the second is killed, its actor, its readers and Ray's own."""
        head = ("--head", "--port", str(_PORT), "--include-dashboard=false")
        with _node(*head), _node(f"--address=127.0.0.1:{_PORT}") as node:
            with self._started(out, "--cluster", f"127.0.0.1:{_PORT}") as driver:
                self._wait_for_parts(out, 4)
                members = _session(node.pid)
                actors = [pid for pid, name in members.items() if "MapWorker" in name]
                _kill_session(node.pid)
            if driver.returncode not in (0, 1):
                raise SystemExit(f"the command ended with {driver.returncode}")
        return f"{len(members)} processes of the second node, {len(actors)} of them actors, at once"

    def _extract_deadly(self, out: str) -> str:
        """Two actors; whichever extracts that row dies. Its part differs by that row."""
        self._finish(out, "--cluster", "--jobs", "2")
        return "whoever extracts that row"

    @contextmanager
    def _started(self, out: str, *options: str) -> "Iterator[subprocess.Popen[bytes]]":
        with subprocess.Popen(self._command(out, *options)) as driver:
            yield driver

    def _finish(self, out: str, *options: str) -> None:
        subprocess.run(self._command(out, *options), check=False)

    def _wait_for_parts(self, out: str, parts: int) -> None:
        folder = self._folder / out
        while sum(1 for _ in folder.glob("part-*")) < parts:
            time.sleep(0.1)


def _write(path: Path, texts: list[str]) -> Path:
    lines = [json.dumps({"text": text, "n": n}) + "\n" for n, text in enumerate(texts)]
    path.write_text("".join(lines), encoding="utf-8")
    return path


def _numbers(parquet: Any, part: Path) -> list[int]:
    numbers: list[int] = parquet.ParquetFile(part).read(["n"])["n"].to_pylist()
    return numbers


def _children(pid: int, name: str) -> list[int]:
    """Processes below one that have a name."""
    from benchmarks.bench_cluster import family

    return [
        process.pid
        for process in family(pid)
        if process.pid != pid and name in Path(f"/proc/{process.pid}/cmdline").read_text()
    ]


@contextmanager
def _node(*options: str) -> "Iterator[subprocess.Popen[bytes]]":
    """A node of one core, in a session of its own."""
    command = [
        *(sys.executable, "-m", "ray.scripts.scripts", "start", "--block", "--num-cpus=1"),
        *options,
    ]
    with subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL) as node:
        try:
            time.sleep(5)
            yield node
        finally:
            _kill_session(node.pid)


def _session(leader: int) -> dict[int, str]:
    """Processes of a session, with their command lines."""
    members = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            name = (folder / "cmdline").read_text()
        except OSError:
            continue  # it has ended
        if int(fields[3]) == leader:
            members[int(folder.name)] = name
    return members


def _kill_session(leader: int) -> None:
    for pid in _session(leader):
        with suppress(ProcessLookupError):  # it has ended
            os.kill(pid, signal.SIGKILL)


if __name__ == "__main__":
    main()
