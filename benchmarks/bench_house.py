"""This checkout beside another one, in turns: extraction, memory, training steps.

    git worktree add ../phraseloom-0.1 aafa3f7
    python benchmarks/bench_house.py --old ../phraseloom-0.1 --out benchmarks/results/house.json

Both run in processes of their own, on one thread, with the Python of this one, on the same made-up
abstracts and with the models that they come with. This one extracts without torch, as the plain
install does: if torch is there, spaCy loads it, needed or not. Ratios are of CPU time and of this
run; the bars are those that the rebuild had to keep.
"""

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

_HERE = Path(__file__).parents[1]
_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS")
_BATCH = 32
_ALONE = 8  # abstracts a round


def main() -> None:
    sys.path.insert(0, str(_HERE))  # `python …` sees only the script's folder
    from benchmarks.reporting import make_parser, report

    parser = make_parser(__doc__)
    parser.add_argument("--old", type=Path, required=True, help="checkout to compare with")
    parser.add_argument("--rounds", type=int, default=7)
    args = parser.parse_args()
    result = compare(args.old.resolve(), args.rounds)
    sys.argv = ["…" if argument == str(args.old) else argument for argument in sys.argv]
    report(result, args.out)


def compare(old: Path, rounds: int) -> dict[str, Any]:
    """Every measure of both checkouts, and their ratio beside its bar."""
    from benchmarks.texts import make_texts

    times: dict[str, dict[str, float]] = {}
    with TemporaryDirectory() as directory:
        texts = Path(directory) / "texts.json"
        texts.write_text(json.dumps(make_texts(2 * _BATCH)), encoding="utf-8")
        for kind in ("extract", "train"):
            with _Worker(old, kind, texts) as before, _Worker(_HERE, kind, texts) as after:
                for task in _TASKS[kind]:
                    times[task] = _take_turns(before, after, task, rounds)
    documents, steps = 2 * _BATCH, times["train"]
    return {
        "documents per CPU second, batches of 32": _row(times["batches"], documents, ">= 1.0"),
        "documents per CPU second, parsed already": _row(times["search"], documents),
        "CPU ms for one abstract alone": _row(times["alone"], None, "<= 0.7", scale=1e3 / _ALONE),
        "CPU ms for one alone, parsed already": _row(
            times["search alone"], None, scale=1e3 / _ALONE
        ),
        "peak memory, MB": _row(times["memory"], None, "<= 0.6"),
        "training documents per CPU second, batches of 32": _row(steps, _BATCH, ">= 0.95"),
    }


def _row(
    pair: dict[str, float], per: int | None, bar: str | None = None, *, scale: float = 1.0
) -> dict[str, Any]:
    """Old, new and new over old; ``per`` turns seconds into a rate of so many things."""
    old, new = ((per / value if per else value * scale) for value in (pair["old"], pair["new"]))
    row = {"old": round(old, 1), "new": round(new, 1), "new / old": round(new / old, 2)}
    return row if bar is None else {**row, "bar": bar}


def _take_turns(before: "_Worker", after: "_Worker", task: str, rounds: int) -> dict[str, float]:
    """Median of some rounds of each, the two in turns, after one that does not count."""
    pairs = [(before.ask(task), after.ask(task)) for _ in range(rounds + 1)][1:]
    old, new = zip(*pairs, strict=True)
    return {"old": median(old), "new": median(new)}


class _Worker:
    """A process in which one checkout does what it is asked to, and says how long it took."""

    def __init__(self, root: Path, kind: str, texts: Path) -> None:
        environment = {**os.environ, **dict.fromkeys(_THREADS, "1")}
        environment["PYTHONPATH"] = f"{root}{os.pathsep}{root / 'src'}"
        self._process = subprocess.Popen(
            [sys.executable, __file__, "--worker", kind, str(texts)],
            cwd=root,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, task: str) -> float:
        assert self._process.stdin is not None and self._process.stdout is not None
        print(task, file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        if not answer:
            raise SystemExit(f"the process that should do {task!r} ended")
        return float(answer)

    def __enter__(self) -> "_Worker":
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def _work(kind: str, texts: list[str]) -> None:
    """In the other process: do each task that a line of standard input names."""
    answers, sys.stdout = sys.stdout, sys.stderr
    tasks = _extract_tasks(texts) if kind == "extract" else {"train": _train_steps()}
    for line in sys.stdin:
        print(tasks[line.strip()](), file=answers, flush=True)


def _extract_tasks(texts: list[str]) -> dict[str, Callable[[], float]]:
    if Path.cwd() == _HERE:
        sys.modules["torch"] = None  # type: ignore[assignment]  # importing it fails
    import phraseloom

    extractor: Any = phraseloom.Extractor.load()  # of either checkout
    source: Any = __import__("phraseloom.text.document", fromlist=["Source"]).Source
    documents = extractor.parser.parse_batch([source(text) for text in texts])

    def search() -> None:
        for start in range(0, len(documents), _BATCH):
            extractor.extract_parsed(documents[start : start + _BATCH])

    return {
        "batches": _timed(lambda: list(extractor.extract_many(texts, batch_size=_BATCH))),
        "search": _timed(search),
        "alone": _timed(lambda: [extractor.extract(text) for text in texts[:_ALONE]]),
        "search alone": _timed(
            lambda: [extractor.extract_parsed([document]) for document in documents[:_ALONE]]
        ),
        "memory": lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3,
    }


_TASKS = {"extract": ("batches", "search", "alone", "search alone", "memory"), "train": ("train",)}


def _train_steps() -> Callable[[], float]:
    from benchmarks.bench_train_step import Trained, load  # those of the checkout at work
    from benchmarks.documents import make_examples

    preset = "recipe/base" if (Path("configs") / "recipe").is_dir() else "base"
    trained: Any = Trained(load(preset))
    steps = [trained.step(make_examples(_BATCH, trained.lexicon, seed=seed)) for seed in range(3)]
    return lambda: min(_timed(step)() for step in steps)


def _timed(work: Callable[[], object]) -> Callable[[], float]:
    def run() -> float:
        start = time.process_time()
        work()
        return time.process_time() - start

    return run


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        sys.path.pop(0)  # the script's own folder
        _work(sys.argv[2], json.loads(Path(sys.argv[3]).read_text(encoding="utf-8")))
    else:
        main()
