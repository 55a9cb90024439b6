"""Documents prepared a second with one process and with two, and the memory they take together.

Before that, documents parsed by a processor second with numpy's products of matrices, and with
those that spaCy comes with, in turns.

    python benchmarks/bench_prepare.py --documents 2000 --out benchmarks/results/prepare.json

Documents are made up, as long as abstracts. Times include starting the processes and loading the
parser. Memory is the largest proportional set size of the process and its workers, in /proc.
"""

import json
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread

sys.path.insert(0, str(Path(__file__).parents[1]))  # `python …` sees only the script's folder

from thinc.api import NumpyOps

from benchmarks.reporting import make_parser, report
from benchmarks.texts import make_texts
from phraseloom.text.document import Source
from phraseloom.text.parsers.spacy import SpacyParser
from phraseloom.train.corpus.prepare import PrepareOptions, prepare_corpus
from phraseloom.train.corpus.prepared import PreparedCorpus

_PARSED = 400


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--documents", type=int, default=2000)
    args = parser.parse_args()
    report(measure(args.documents), args.out)


def measure(documents: int) -> dict[str, str | float]:
    """Prepare one corpus with one process and with two, then read it back."""
    with TemporaryDirectory() as directory:
        base = Path(directory)
        corpus = write_corpus(base / "corpus.jsonl", documents)
        parsing = measure_products()
        rates, memory = {}, {}
        for processes in (1, 2):
            start = time.perf_counter()
            options = PrepareOptions(processes=processes)
            with PeakMemory() as peak:
                prepare_corpus([corpus], base / f"out{processes}", options)
            rates[processes] = documents / (time.perf_counter() - start)
            memory[processes] = peak.megabytes
        prepared = PreparedCorpus.open(base / "out2")
        start = time.perf_counter()
        tokens = sum(len(prepared.document(i).word) for i in range(documents))
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
        "read one document, µs": round(reading * 1e6, 1),
    }


def measure_products() -> dict[str, float]:
    """Documents parsed by a processor second, the best of three turns."""
    sources = [Source(text) for text in make_texts(_PARSED)]
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
    """A corpus of made-up abstracts, each with keyphrases in it and one that is not."""
    with path.open("w", encoding="utf-8") as file:
        for text in make_texts(documents):
            words = text.split()
            row = {
                "title": " ".join(words[:6]),
                "abstract": text,
                "keywords": [" ".join(words[3:5]), words[8], "absent phrase"],
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


if __name__ == "__main__":
    main()
