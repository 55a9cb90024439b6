"""Documents prepared a second with one process and with two, and the memory they take together.

Before that, documents parsed by a processor second with numpy's products of matrices, and with
those that spaCy comes with, in turns.

    python benchmarks/bench_prepare.py --documents 2000 --out benchmarks/results/prepare.json

Documents are made up from a few sentences in a seeded order, with a made-up word in each: as long
as abstracts, about 170 tokens. Times include starting the processes and loading the parser. Memory
is the largest proportional set size of the process and its workers, sampled in /proc.
"""

import argparse
import json
import platform
import random
import subprocess
import sys
import time
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread

from thinc.api import NumpyOps

from phraseloom.data.cache import Corpus
from phraseloom.data.corpus import CorpusReader
from phraseloom.data.prepare import PrepareOptions, prepare_corpus
from phraseloom.text.spacy_parser import SpacyParser

_PARSED = 400
_SENTENCES = (
    "We present a {} method that draws the dependency graph of a text in linear time.",
    "In contrast to earlier work on {}, no annotated corpus is needed for training.",
    "Experiments on five data sets show that {} improves the F1 score by 3.2 points.",
    "The {} layer, which merges nodes with one stem, is small and easy to implement.",
    "Users of digital libraries search for {} documents by means of their keyphrases.",
    "However, it is unclear how {} behaves when sentences are long or badly punctuated.",
    "A model that reads {} graphs can be trained on two cores within a few hours.",
    "Finally, we discuss the limits of {} and describe three directions for future work.",
)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=2000)
    parser.add_argument("--out", type=Path, help="JSON file to write")
    args = parser.parse_args()
    result = measure(args.documents)
    for name, value in result.items():
        print(f"{name:32} {value}")
    if args.out is not None:
        args.out.parent.mkdir(parents=True, exist_ok=True)
        args.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def measure(documents: int) -> dict[str, str | float]:
    """Prepare one corpus with one process and with two, then read it back."""
    with TemporaryDirectory() as directory:
        base = Path(directory)
        corpus = write_corpus(base / "corpus.jsonl", documents)
        parsing = measure_products(corpus)
        rates, memory = {}, {}
        for processes in (1, 2):
            start = time.perf_counter()
            options = PrepareOptions(processes=processes)
            with PeakMemory() as peak:
                prepare_corpus([corpus], base / f"out{processes}", options)
            rates[processes] = documents / (time.perf_counter() - start)
            memory[processes] = peak.megabytes
        prepared = Corpus.open(base / "out2")
        start = time.perf_counter()
        tokens = sum(len(prepared.record(i).word) for i in range(documents))
        reading = (time.perf_counter() - start) / documents
    return {
        "documents": documents,
        "tokens per document": round(tokens / documents, 1),
        "parsed with BLIS, documents/CPU s": round(parsing["blis"], 1),
        "parsed with numpy, documents/CPU s": round(parsing["numpy"], 1),
        "numpy, times BLIS": round(parsing["numpy"] / parsing["blis"], 2),
        "1 process, documents/s": round(rates[1], 1),
        "2 processes, documents/s": round(rates[2], 1),
        "ratio": round(rates[2] / rates[1], 2),
        "1 process, peak MB": round(memory[1]),
        "2 processes, peak MB": round(memory[2]),
        "read one record, µs": round(reading * 1e6, 1),
        "machine": f"{platform.machine()}, Python {platform.python_version()}",
        "commit": _commit(),
        "command": " ".join(["python", *sys.argv]),
    }


def measure_products(corpus: Path) -> dict[str, float]:
    """Documents parsed by a processor second, the best of three turns."""
    sources = [document.source for document in islice(CorpusReader([corpus]), _PARSED)]
    rates = {"blis": 0.0, "numpy": 0.0}
    parser = SpacyParser()
    models = [
        component.model  # type: ignore[attr-defined]  # spaCy types components as callables
        for _, component in parser._nlp.pipeline
    ]
    for _ in range(3):
        for name in rates:
            for model in models:
                model._to_ops(NumpyOps(use_blis=name == "blis"))
            start = time.process_time()
            parser.parse_batch(sources)
            rates[name] = max(rates[name], _PARSED / (time.process_time() - start))
    return rates


def write_corpus(path: Path, documents: int) -> Path:
    """A corpus of made-up abstracts, each with two keyphrases that stand in it and one that not."""
    chance = random.Random(0)
    with path.open("w", encoding="utf-8") as file:
        for _ in range(documents):
            word = "".join(chance.choices("abdeilmnorstu", k=7))
            sentences = [chance.choice(_SENTENCES).format(word) for _ in range(11)]
            row = {
                "title": f"On {word} graphs",
                "abstract": " ".join(sentences),
                "keywords": [f"{word} graphs", word, "absent phrase"],
            }
            file.write(json.dumps(row) + "\n")
    return path


class PeakMemory:
    """Watches this process and its children from a thread, while it is entered."""

    def __init__(self, *, interval: float = 0.2) -> None:
        self.megabytes = 0.0
        self._interval = interval
        self._stop = Event()
        self._thread = Thread(target=self._watch, daemon=True)

    def __enter__(self) -> "PeakMemory":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(self._interval):
            children = Path("/proc/self/task").glob("*/children")
            pids = ["self", *(pid for file in children for pid in file.read_text().split())]
            self.megabytes = max(self.megabytes, sum(map(_proportional_megabytes, pids)))


def _proportional_megabytes(pid: str) -> float:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0  # it has just ended
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def _commit() -> str:
    command = ["git", "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


if __name__ == "__main__":
    main()
