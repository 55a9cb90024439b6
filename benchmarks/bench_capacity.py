"""What a document costs on one core, and from that what a million or a billion cost on many.

    python benchmarks/bench_capacity.py measure --out benchmarks/results/capacity.json
    python benchmarks/bench_capacity.py model --figure docs/pictures/capacity.png

`measure` takes CPU time, so a busy machine hardly changes it. `model` reads what it has written,
`results/cluster.json` and `results/cluster_parts.json`, and prints the tables of docs/capacity.md.
"""

import json
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

_HERE = Path(__file__).parents[1]
_RESULTS = _HERE / "benchmarks" / "results"
_SENTENCES = {"abstract": 10, "page": 30}
_ROWS = 500  # that are read and written
_PART_ROWS = 1000
_PRICE = 0.04  # of a core for an hour, in dollars
_SIZES = {"1 million": 1e6, "100 million": 1e8, "1 billion": 1e9}
_WORKERS = (1, 2, 16, 128, 1024)


def main() -> None:
    sys.path.insert(0, str(_HERE))  # `python …` sees only the script's folder
    from benchmarks.reporting import make_parser, report

    parser = make_parser(__doc__)
    parser.add_argument("what", choices=["measure", "model"])
    parser.add_argument("--documents", type=int, default=64)
    parser.add_argument("--figure", type=Path)
    args = parser.parse_args()
    if args.what == "measure":
        report(measure(args.documents), args.out)
        return
    costs = json.loads((_RESULTS / "capacity.json").read_text())
    ratios = json.loads((_RESULTS / "cluster.json").read_text())
    parts = json.loads((_RESULTS / "cluster_parts.json").read_text())
    model = Model(costs, ratios, parts)
    print(model.tables())
    if args.figure:
        model.draw(args.figure)


def measure(documents: int) -> dict[str, Any]:
    """CPU milliseconds of each step, for abstracts and pages, and memory of a worker."""
    from benchmarks.texts import make_texts
    from phraseloom import Extractor

    before = _megabytes()
    extractor = Extractor.load()
    result: dict[str, Any] = {}
    for kind, sentences in _SENTENCES.items():
        texts = make_texts(documents, sentences=sentences)
        extractor.extract(texts[:8])
        parsed: list[Any] = []

        def parse(texts: list[str] = texts, parsed: list[Any] = parsed) -> None:
            for start in range(0, len(texts), 8):
                parsed.append(extractor.parse(texts[start : start + 8]))

        def find(parsed: list[Any] = parsed) -> None:
            for batch in parsed:
                extractor.extract_parsed(batch)

        result[kind] = {
            "words": round(sum(len(text.split()) for text in texts) / documents),
            "parse, ms": _cost(parse, documents),
            "encode, search and rank, ms": _cost(find, documents),
            **_around(make_texts(_ROWS, seed=1, sentences=sentences)),
        }
    result["memory of a worker, MB"] = round(_megabytes())
    result["memory before the model is loaded, MB"] = round(before)
    return result


def _cost(work: Callable[[], None], documents: int) -> float:
    """CPU milliseconds a document, in this process."""
    start = time.process_time()
    work()
    return round((time.process_time() - start) / documents * 1e3, 3)


def _around(texts: list[str]) -> dict[str, float]:
    """What is done around the extraction: rows counted, read, and written with keyphrases."""
    from phraseloom.dataset.manifest import InputFile, scan_file
    from phraseloom.dataset.parts import finish_part, read_parts
    from phraseloom.dataset.run import Request, Run
    from phraseloom.options import Options

    class Canned:
        """Phrases that take no time."""

        def extract(self, sources: list[Any], options: Options) -> list[list[Any]]:
            return [[_first_words(source.text, size) for size in range(1, 6)] for source in sources]

    with TemporaryDirectory() as directory:
        papers, out = Path(directory, "papers.jsonl"), Path(directory, "out")
        lines = [json.dumps({"id": n, "text": text}) for n, text in enumerate(texts)]
        papers.write_text("\n".join(lines) + "\n", encoding="utf-8")
        scan_file(papers, None)  # what is loaded at the first time is not counted
        scanning = _cost(lambda: _ignore(scan_file(papers, None)), _ROWS)
        run = Run(
            Request([papers], out, Options()),
            lambda paths, column: [scan_file(path, column) for path in paths],
        )
        assert isinstance(run.manifest.files[0], InputFile)
        parts: list[Any] = []
        reading = _cost(lambda: parts.extend(read_parts(run.job, run.groups, run.todo)), _ROWS)
        canned: Any = Canned()
        writing = _cost(
            lambda: _ignore([finish_part(canned, run.job, part) for part in parts]), _ROWS
        )
        written = sum(part.stat().st_size for part in out.glob("part-*"))
    return {
        "count, ms": scanning,
        "read, ms": reading,
        "write, ms": writing,
        "written, bytes": round(written / _ROWS),
    }


def _first_words(text: str, size: int) -> Any:
    from phraseloom.keyphrase import Keyphrase

    words = " ".join(text.split()[:size])
    return Keyphrase(words, (words,), 0.5, 1, ((0, len(words)), (1, len(words))))


def _ignore(_: object) -> None:
    """Make a statement of an expression."""


def _megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


class Model:
    """Rates of many workers, from those of one and two.

    N workers do N times what one does, less what two lose; but no more than readers read, and no
    more than the one driver can note parts.
    """

    def __init__(
        self, costs: dict[str, Any], ratios: dict[str, Any], parts: dict[str, Any]
    ) -> None:
        self._costs = costs
        name = "two workers / one, twice the documents per CPU second"
        self.kept = min(1.0, ratios[name]["ratio"] / 2)
        self.driver = parts["CPU ms of the driver for each part"] / 1e3
        self.points = {
            workers: ratios[way]["documents per CPU second of those that extract"] * workers
            for workers, way in ((1, "Ray, one worker"), (2, "Ray, two workers"))
        }

    def core(self, kind: str) -> float:
        """Documents a second of one core."""
        steps = self._costs[kind]
        names = ("parse, ms", "encode, search and rank, ms", "write, ms")
        return 1e3 / sum(steps[name] for name in names)

    def rate(self, kind: str, workers: int, files: float) -> float:
        """Documents a second of so many workers, if there are so many files."""
        kept = self.kept if workers > 1 else 1.0
        reader = 1e3 / self._costs[kind]["read, ms"]
        return min(
            workers * kept * self.core(kind),
            min(files, workers) * reader,
            _PART_ROWS / self.driver,
        )

    def tables(self) -> str:
        """Markdown for docs/capacity.md."""
        lines = ["| | abstract | page |", "|---|---:|---:|"]
        kinds = tuple(_SENTENCES)
        for name in self._costs["abstract"]:
            lines.append(_row(name, (self._costs[kind][name] for kind in kinds)))
        lines.append(
            _row("documents per core-hour", (_round(3600 * self.core(kind)) for kind in kinds))
        )
        lines += ["", "| | " + " | ".join(map(str, _WORKERS)) + " | core-hours | dollars |"]
        lines.append("|---|" + "---:|" * (len(_WORKERS) + 2))
        for kind in kinds:
            for name, size in _SIZES.items():
                times = [_time(size / self.rate(kind, n, 1e3)) for n in _WORKERS]
                hours = size / self.core(kind) / self.kept / 3600
                price = hours * _PRICE
                money = f"{price:.2f}" if price < 10 else f"{_round(price):,}"
                lines.append(_row(f"{name} {kind}s", (*times, _round(hours), money)))
        limits = {kind: _round(_PART_ROWS / self.driver / self.core(kind)) for kind in kinds}
        one = {
            kind: _round(1e3 / self._costs[kind]["read, ms"] / self.core(kind)) for kind in kinds
        }
        lines += ["", f"workers that one driver keeps busy: {limits}; that one file does: {one}"]
        return "\n".join(lines)

    def draw(self, path: Path) -> None:
        """Documents a second against workers, with the two measured points."""
        from matplotlib import pyplot

        figure, axes = pyplot.subplots(figsize=(7, 4))
        workers = [2**power for power in range(15)]
        for kind in _SENTENCES:
            for files, style in ((1e3, "-"), (1, ":")):
                label = f"{kind}s, {'1,000 files' if files > 1 else 'one file'}"
                rates = [self.rate(kind, n, files) for n in workers]
                axes.loglog(workers, rates, style, label=label)
        axes.loglog(*zip(*self.points.items(), strict=True), "ko", label="measured, short texts")
        axes.set(xlabel="workers, one core each", ylabel="documents a second")
        axes.legend()
        figure.tight_layout()
        figure.savefig(path, dpi=120)


def _row(name: str, cells: Any) -> str:
    written = (cell if isinstance(cell, str) else f"{cell:,}" for cell in cells)
    return f"| {name} | " + " | ".join(written) + " |"


def _round(value: float) -> int:
    """Two digits are enough of a model."""
    digits = len(str(int(value))) - 2
    return int(round(value, -max(0, digits)))


def _time(seconds: float) -> str:
    for unit, size in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{_round(seconds / size):,} {unit}"
    return f"{_round(seconds)} s"


if __name__ == "__main__":
    main()
