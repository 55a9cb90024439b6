"""A dataset by one process, by Ray with one worker, and with two; and what memory it takes.

    python benchmarks/bench_cluster.py ratios --out benchmarks/results/cluster.json
    python benchmarks/bench_cluster.py parts --out benchmarks/results/cluster_parts.json
    python benchmarks/bench_cluster.py pressure --out benchmarks/results/cluster_pressure.json
    nice -n 10 python benchmarks/bench_cluster.py memory --documents 100000 --words 4 \
        --out benchmarks/results/cluster_memory.json --figure docs/pictures/cluster-memory.png

Rates begin with the first part that is done, so loading is not in them. By the clock they mean
something on idle cores only; CPU time is of the process or actors that extract, and of all
processes together: driver, readers, and Ray's own.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

_HERE = Path(__file__).parents[1]
_TICK = os.sysconf("SC_CLK_TCK")
_WAYS = {"one process": None, "Ray, one worker": 1, "Ray, two workers": 2}
_DRIVER = """
import sys
from pathlib import Path
from phraseloom import cluster
from phraseloom.dataset.run import Request, extract_files
from phraseloom.options import Options

def tell(done, total, aside):
    print(done, flush=True)

if __name__ == "__main__":
    papers, out, part_rows, workers = sys.argv[1:]
    request = Request([Path(papers)], Path(out), Options(), part_rows=int(part_rows))
    if workers == "None":
        extract_files(request, on_progress=tell)
    else:
        cluster.extract_files(request, workers=int(workers), on_progress=tell)
"""
_SLOW = """
import os, time
from phraseloom.dataset import parts
from phraseloom.extractor import Extractor

def extract(self, sources, options):
    time.sleep(0.02)
    return [[] for _ in sources]

read_parts = parts.read_parts
def counted(*arguments):
    for part in read_parts(*arguments):
        with open(os.environ["COUNTED"], "a") as file:
            file.write(f"{part.number}\\n")
        yield part

Extractor.extract = extract
parts.read_parts = counted
"""
"""Runs in every process of Ray: each part takes seconds, and those that are read are counted."""
_STORE = 100 << 20  # bytes for objects of Ray
_LONG = 8000  # characters


class Process(NamedTuple):
    """A process as the system has it."""

    pid: int
    parent: int
    name: str
    cpu: float
    """Seconds."""


class Run(NamedTuple):
    """From the first part that was done to the last one."""

    documents: int
    seconds: float
    extracting: float
    """CPU seconds of those that extract."""
    driver: float
    """CPU seconds of the command itself."""
    everything: float
    """CPU seconds of all processes."""


def main() -> None:
    sys.path.insert(0, str(_HERE))  # `python …` sees only the script's folder
    from benchmarks.reporting import make_parser, report

    parser = make_parser(__doc__)
    parser.add_argument("what", choices=["ratios", "parts", "pressure", "memory"])
    parser.add_argument("--documents", type=int, default=800)
    parser.add_argument("--words", type=int, default=60, help="of a text, at most")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2, help="for memory")
    parser.add_argument("--figure", type=Path, help="of the memory")
    args = parser.parse_args()
    os.environ.update(
        OMP_NUM_THREADS="1",
        RAY_USAGE_STATS_ENABLED="0",
        RAY_worker_niceness="0",  # else 15: on a busy machine Ray would hardly get on
    )
    with TemporaryDirectory() as directory:
        if args.what == "ratios":
            result = compare(Path(directory), args.documents, args.words, args.rounds)
        elif args.what == "parts":
            result = load_driver(Path(directory), args.documents)
        elif args.what == "pressure":
            result = press(Path(directory))
        else:
            result = weigh(Path(directory), args.documents, args.words, args.workers)
            if args.figure:
                draw(result, args.figure)
    report(result, args.out)


def compare(folder: Path, documents: int, words: int, rounds: int) -> dict[str, Any]:
    """Rates of all ways, in turns, and their ratios beside the bars."""
    load, part_rows = os.getloadavg()[0], max(1, documents // 20)
    papers = write_papers(folder, documents, words)
    runs: dict[str, list[Run]] = {way: [] for way in _WAYS}
    for number in range(rounds):
        for way, workers in _WAYS.items():
            run = measure(papers, folder / f"{number}-{way}", part_rows, workers)
            print(number, way, run, file=sys.stderr, flush=True)
            runs[way].append(run)
    rates = {way: _rates(of_way) for way, of_way in runs.items()}
    plain, one, two = rates.values()
    clock, busy = "documents/s by the clock", "documents per CPU second of those that extract"
    return {
        **rates,
        "two workers / one, by the clock": {"ratio": _ratio(two, one, clock), "bar": ">= 1.8"},
        "two workers / one, twice the documents per CPU second": {
            "ratio": 2 * _ratio(two, one, busy),
            "bar": ">= 1.8",
        },
        "Ray with one worker / one process, by the clock": {
            "ratio": _ratio(one, plain, clock),
            "bar": ">= 0.85",
        },
        "Ray with one worker / one process, by CPU time": {
            "ratio": _ratio(one, plain, busy),
            "bar": ">= 0.85",
        },
        "documents": documents,
        "words of a document": words,
        "load of the machine, before and after": [round(load, 1), round(os.getloadavg()[0], 1)],
    }


def load_driver(folder: Path, parts: int) -> dict[str, Any]:
    """What a part costs the driver, when parts of one short document come as fast as they can."""
    run = measure(write_papers(folder, parts, 4), folder / "out", 1, 2)
    return {
        "parts": run.documents,
        "parts a second": _middle([run.documents / run.seconds]),
        "CPU ms of the driver for each part": _middle([1e3 * run.driver / run.documents]),
        "load of the machine": round(os.getloadavg()[0], 1),
    }


def press(folder: Path) -> dict[str, Any]:
    """How far readers get ahead of a slow worker, with a small store, and many times its parts."""
    (folder / "sitecustomize.py").write_text(_SLOW, encoding="utf-8")
    papers, counted = folder / "papers.jsonl", folder / "counted"
    with papers.open("w", encoding="utf-8") as file:
        for number in range(40_000):
            file.write(json.dumps({"id": number, "text": f"{number} " * (_LONG // 6)}) + "\n")
    counted.touch()
    os.environ.update(
        PYTHONPATH=os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")]),
        COUNTED=str(counted),
        RAY_DEFAULT_OBJECT_STORE_MAX_MEMORY_BYTES=str(_STORE),
    )
    ahead = []
    with start(papers, folder / "out", 400, 1) as driver:
        assert driver.stdout is not None
        for line in driver.stdout:
            ahead.append(len(counted.read_text().splitlines()) - int(line) // 400)
            print(line.strip(), ahead[-1], file=sys.stderr, flush=True)
    return {
        "parts": len(ahead),
        "MB of text in a part": round(400 * _LONG / 1e6, 1),
        "MB of the store": _STORE >> 20,
        "parts read ahead, at most": max(ahead),
        "when half was done": ahead[len(ahead) // 2],
    }


def _ratio(new: dict[str, float], old: dict[str, float], rate: str) -> float:
    return round(new[rate] / old[rate], 2)


def _rates(runs: list[Run]) -> dict[str, float]:
    return {
        "documents/s by the clock": _middle([run.documents / run.seconds for run in runs]),
        "documents per CPU second of those that extract": _middle(
            [run.documents / run.extracting for run in runs]
        ),
        "documents per CPU second of all": _middle(
            [run.documents / run.everything for run in runs]
        ),
    }


def _middle(values: list[float]) -> float:
    return round(median(values), 2)


def write_papers(folder: Path, documents: int, words: int) -> Path:
    """A file of the beginnings of made-up abstracts."""
    from benchmarks.texts import make_texts

    papers = folder / "papers.jsonl"
    with papers.open("w", encoding="utf-8") as file:
        for number, text in enumerate(make_texts(documents, sentences=1 + words // 10)):
            beginning = " ".join(text.split()[:words])
            file.write(json.dumps({"id": number, "text": beginning}) + "\n")
    return papers


def start(papers: Path, out: Path, part_rows: int, workers: int | None) -> "subprocess.Popen[str]":
    """A process that extracts, and says after each part how many documents are done."""
    program = papers.with_name("driver.py")  # a file: processes that are spawned import it
    program.write_text(_DRIVER, encoding="utf-8")
    arguments = [program, papers, out, part_rows, workers]
    command = [sys.executable, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def measure(papers: Path, out: Path, part_rows: int, workers: int | None) -> Run:
    """Extract, and see what it took from the first part that is done to the last one."""
    marks = []
    with start(papers, out, part_rows, workers) as driver:
        assert driver.stdout is not None
        for line in driver.stdout:
            marks.append((int(line), time.perf_counter(), *_cpu_of(driver.pid)))
    if driver.returncode:
        raise SystemExit(driver.returncode)
    documents, *costs = (after - before for before, after in zip(marks[0], marks[-1], strict=True))
    return Run(int(documents), *costs)


def _cpu_of(driver: int) -> tuple[float, float, float]:
    """CPU seconds of those that extract, of a driver, and of all that it has started."""
    processes = list(family(driver))
    actors = [process for process in processes if process.name.startswith("ray::MapWorker")]
    itself = [process for process in processes if process.pid == driver]
    extracting, own, all_ = (
        sum(process.cpu for process in some) for some in (actors or itself, itself, processes)
    )
    return extracting, own, all_


def family(driver: int) -> Iterator[Process]:
    """A process, and all below it."""
    children: dict[int, list[Process]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            name = (folder / "cmdline").read_text().split("\0")[0]
        except OSError:
            continue  # it has ended
        cpu = (int(fields[11]) + int(fields[12])) / _TICK
        process = Process(int(folder.name), int(fields[1]), name, cpu)
        children.setdefault(process.parent, []).append(process)
        if process.pid == driver:
            yield process
    waiting = [driver]
    while waiting:
        below = children.get(waiting.pop(), [])
        waiting += [process.pid for process in below]
        yield from below


def weigh(folder: Path, documents: int, words: int, workers: int) -> dict[str, Any]:
    """Memory while documents go through: of the driver, the actors, and all processes."""
    papers = write_papers(folder, documents, words)
    points: list[dict[str, float]] = []
    begin = last = time.perf_counter()
    with start(papers, folder / "out", 500, workers) as driver:
        assert driver.stdout is not None
        for line in driver.stdout:
            now = time.perf_counter()
            if not points or now - last > 20 or int(line) == documents:
                points.append({"documents": int(line), "seconds": round(now - begin)})
                points[-1].update(_memory_of(driver.pid))
                print(points[-1], file=sys.stderr, flush=True)
                last = now
    if driver.returncode:
        raise SystemExit(driver.returncode)
    return {
        "documents": documents,
        "words of a document": words,
        "workers": workers,
        "points": points,
    }


def _memory_of(driver: int) -> dict[str, float]:
    """Megabytes; what several processes share is divided among them."""
    megabytes = {"driver": 0.0, "actors": 0.0, "all": 0.0}
    for process in family(driver):
        try:
            lines = Path(f"/proc/{process.pid}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        size = sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024
        megabytes["all"] += size
        megabytes["driver"] += size * (process.pid == driver)
        megabytes["actors"] += size * process.name.startswith("ray::MapWorker")
    return {name: round(size) for name, size in megabytes.items()}


def draw(result: dict[str, Any], path: Path) -> None:
    """Memory against the documents that are done."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 3))
    points = result["points"]
    for name in ("all", "actors", "driver"):
        label = {"all": "all processes", "actors": "actors", "driver": "driver"}[name]
        axes.plot(
            [point["documents"] for point in points],
            [point[name] for point in points],
            label=label,
        )
    axes.set(xlabel="documents done", ylabel="MB", ylim=(0, None))
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    main()
