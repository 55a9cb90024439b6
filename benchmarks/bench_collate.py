"""Documents collated a second, beside how many a training step of ``base`` consumes.

    python benchmarks/bench_collate.py --out benchmarks/results/collate.json
    python benchmarks/bench_collate.py --corpus DIR  # reads a prepared corpus, as training does

Without ``--corpus`` the documents are made up and only packing them is timed. Times are CPU
seconds; collating runs on one thread.
"""

import argparse
import json
import statistics
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # `python …` sees only the script's folder

import torch

from benchmarks.bench_train_step import Trained, load, timed
from benchmarks.documents import make_examples
from phraseloom.data.batch import collate, collate_targets
from phraseloom.data.cache import Corpus
from phraseloom.data.example import CorpusExamples, Example
from phraseloom.data.vocab import Vocabulary


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="small batches, few steps")
    parser.add_argument("--corpus", type=Path, help="prepared corpus to read documents from")
    parser.add_argument("--out", type=Path, help="JSON file to write")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    documents, times = (8, 3) if args.quick else (32, 7)
    text = json.dumps(measure(documents, times, args.corpus), indent=1)
    print(text)
    if args.out is not None:
        args.out.parent.mkdir(parents=True, exist_ok=True)
        args.out.write_text(text + "\n", encoding="utf-8")


def measure(documents: int, times: int, path: Path | None) -> dict[str, Any]:
    """Median CPU time of both; what is learned from is always made up."""
    config = load("base")
    trained = Trained(config)
    lexicon = trained.lexicon
    source = None
    if path is not None:
        corpus = Corpus.open(path)
        size = config.data.vocabulary
        words = Vocabulary.from_counts(corpus.words, corpus.word_counts.tolist(), size)
        lexicon = replace(lexicon, words=words)
        limit = config.data.max_tokens
        source = CorpusExamples(corpus, lexicon, max_tokens=limit, style_of={})
    collating, learning = [], []
    for number in range(times + 1):
        made = make_examples(documents, trained.lexicon, seed=number)
        rows = range(number * documents, (number + 1) * documents)

        def pack(made: list[Example] = made, rows: range = rows) -> None:
            examples = made if source is None else [source[row % len(source)] for row in rows]
            collate(examples, lexicon)
            collate_targets(examples)

        collating.append(timed(pack)[1])
        learning.append(timed(trained.step(made))[1])
    packed, learned = statistics.median(collating[1:]), statistics.median(learning[1:])
    return {
        "batch": documents,
        "source": "made up" if path is None else "a prepared corpus",
        "documents/s collated": round(documents / packed),
        "documents/s learned": round(documents / learned, 1),
        "ratio": round(learned / packed, 1),
        "command": " ".join(["python", *sys.argv]),
    }


if __name__ == "__main__":
    main()
