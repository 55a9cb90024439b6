"""Documents scored a second, beside the naive second scorer of the tests.

    python benchmarks/bench_score.py --documents 20000 --out benchmarks/results/score.json

Documents are made up from a seeded, Zipf-like vocabulary: as long as abstracts, with seven targets
and ten predictions each. Times are CPU seconds of one thread, stemming included; stems are cached,
so they are taken in a fresh process.
"""

import argparse
import json
import platform
import random
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # the naive scorer lives with the tests

from phraseloom.evaluate.bootstrap import intervals
from phraseloom.evaluate.phrases import judge_text
from phraseloom.evaluate.report import score_documents
from phraseloom.text.words import stem
from tests.evaluate.naive_scoring import Raw, naive_scores

_ENDINGS = ("", "s", "ing", "ed", "ation", "al")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--naive-documents", type=int, default=500)
    parser.add_argument("--out", type=Path, help="JSON file to write")
    args = parser.parse_args()
    result = measure(args.documents, args.naive_documents)
    for name, value in result.items():
        print(f"{name:32} {value}")
    if args.out is not None:
        args.out.parent.mkdir(parents=True, exist_ok=True)
        args.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def measure(documents: int, naive_documents: int) -> dict[str, str | float]:
    """Time both scorers; the naive one on fewer documents, from which its rate is known."""
    raw = make_documents(documents)
    stem("warm")  # importing NLTK is not scoring
    start = time.process_time()
    judged = [judge_text(*document) for document in raw]
    read = time.process_time()
    report = score_documents(judged)
    scored = time.process_time()
    intervals(report, resamples=1000)
    resampled = time.process_time()
    naive_scores(raw[:naive_documents])
    naive = (time.process_time() - resampled) / naive_documents
    return {
        "documents": documents,
        "split and stem, s": round(read - start, 2),
        "score, s": round(scored - read, 2),
        "both, s": round(scored - start, 2),
        "1000 resamples, s": round(resampled - scored, 2),
        "naive, s for as many": round(naive * documents, 1),
        "times faster than naive": round(naive * documents / (scored - start), 1),
        "machine": f"{platform.machine()}, Python {platform.python_version()}",
        "commit": _commit(),
        "command": " ".join(["python", *sys.argv]),
    }


def make_documents(count: int) -> list[Raw]:
    """Made-up documents; phrases are mostly runs of their text, so that most are present."""
    chance = random.Random(0)
    letters = "abcdefghilmnoprstu"
    words = [
        "".join(chance.choices(letters, k=chance.randint(3, 8))) + chance.choice(_ENDINGS)
        for _ in range(60_000)
    ]
    weights = [1 / rank for rank in range(1, len(words) + 1)]
    return [_make_document(chance.choices(words, weights, k=160), chance) for _ in range(count)]


def _make_document(text: list[str], chance: random.Random) -> Raw:
    def phrase() -> str:
        start, length = chance.randrange(len(text) - 3), chance.randint(1, 3)
        run = text[start : start + length]
        return " ".join(run if chance.random() < 0.7 else reversed(run))

    targets = [phrase() for _ in range(7)]
    predictions = [chance.choice(targets) if chance.random() < 0.4 else phrase() for _ in range(10)]
    return Raw(" ".join(text), targets, predictions)


def _commit() -> str:
    command = ["git", "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


if __name__ == "__main__":
    main()
