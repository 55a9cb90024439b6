"""Time of the search with a whole network behind it, beside the tests' naive search.

    python benchmarks/bench_search.py --threads 2 --out benchmarks/results/search.json

Documents are made up: as long as abstracts, words drawn from a Zipf-like vocabulary. The networks
have the shape of configs/paper.toml and configs/base.toml and random weights, whose flat
distributions seldom let a document stop early: trained ones are faster. All is timed in one run;
times are wall-clock and include encoding, the index of n-grams and reading out the results.
"""

import argparse
import json
import platform
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # the naive search lives with the tests

import numpy as np
import torch

from phraseloom.config import Config, load_config
from phraseloom.data.batch import collate
from phraseloom.data.example import FEATURE_SIZES, Example
from phraseloom.data.glossary import MARK_SIZES
from phraseloom.data.lexicon import Lexicon
from phraseloom.data.vocab import Labels, Vocabulary
from phraseloom.model.network import KeyphraseModel
from phraseloom.model.step import DecoderState, NeuralStep
from phraseloom.search.beam import find_phrases
from phraseloom.search.found import Found
from phraseloom.search.settings import Count, Settings
from phraseloom.search.step import FIRST_WORD, SEP, Phrase
from tests.builders import make_heads, number_by_first_occurrence
from tests.search.naive import Naive, NaiveSearch

ROOT = Path(__file__).parents[1]
VOCABULARY = 20_000
SEGMENT = 12
"""Words between two punctuation marks, about."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--documents", type=int, default=64)
    parser.add_argument("--out", type=Path, help="JSON file to write")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    with torch.inference_mode():
        result: dict[str, Any] = {
            **measure_paper(),
            **measure_base(args.documents),
            "machine": f"{platform.machine()}, {args.threads} threads, torch {torch.__version__}",
            "commit": _commit(),
            "command": " ".join(["python", *sys.argv]),
        }
    for name, value in result.items():
        print(f"{name:52} {value}")
    if args.out is not None:
        args.out.parent.mkdir(parents=True, exist_ok=True)
        args.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def measure_paper(documents: int = 8, phrases: int = 6) -> dict[str, float]:
    """The paper's search, against one hypothesis at a time; both must find the same."""
    config = load_config(ROOT / "configs" / "paper.toml")
    bench = Bench(config, make_examples(documents, tokens=160))
    settings = fixed_list(config, phrases=phrases)
    ours_of, theirs_of = [], []
    for _ in range(3):  # in turns: a busy moment hits both
        start = time.perf_counter()
        found = bench.search(settings)
        ours_of.append((time.perf_counter() - start) / documents)
        start = time.perf_counter()
        naive = bench.search_naively(settings, document=0)
        theirs_of.append(time.perf_counter() - start)
    ours, theirs = median(ours_of), median(theirs_of)
    return {
        f"paper, width {settings.width}, free: s per document": round(ours, 3),
        "  naive: s per document": round(theirs, 3),
        "  times faster than naive": round(theirs / ours, 1),
        "  phrases in common with naive": len(
            {each.slots for each in found[0]} & {each.slots for each in naive}
        ),
    }


def measure_base(documents: int) -> dict[str, float]:
    """Documents a second of the preset for users, and how they depend on the settings."""
    config = load_config(ROOT / "configs" / "base.toml")
    rates: dict[str, float] = {}
    for width, tokens, phrases in [
        (10, 160, 6),  # what users get
        (1, 160, 6),
        (3, 160, 6),
        (30, 160, 6),
        (100, 160, 6),
        (10, 40, 6),
        (10, 320, 6),
        (10, 600, 6),
        (10, 160, 1),
        (10, 160, 3),
        (10, 160, 12),
    ]:
        bench = Bench(config, make_examples(documents, tokens=tokens))
        settings = fixed_list(config, phrases=phrases, width=width)
        bench.search(settings, documents=min(documents, 8))  # warm up
        start = time.perf_counter()
        bench.search(settings)
        rate = documents / (time.perf_counter() - start)
        name = f"base, width {width}, {tokens} tokens, {phrases} phrases: documents/s"
        rates[name] = round(rate, 1)
    return rates


class Bench:
    """A network with random weights and documents to search."""

    def __init__(self, config: Config, examples: Sequence[Example]) -> None:
        torch.manual_seed(0)
        self.lexicon = make_lexicon()
        self.model = KeyphraseModel(config.model, self.lexicon).eval()
        self.examples = examples
        self.segments = [segments_of(example) for example in examples]

    def search(self, settings: Settings, documents: int | None = None) -> list[list[Found]]:
        """Search all documents, or the first few, in batches of 32."""
        found: list[list[Found]] = []
        for start in range(0, documents or len(self.examples), 32):
            step = self._step(self.examples[start : start + 32])
            segments = self.segments[start : start + 32]
            found += find_phrases(step, segments, settings, Count.by_model())
        return found

    def search_naively(self, settings: Settings, document: int) -> list[Naive]:
        """Search one document of mode ``free``, one hypothesis at a time."""
        step = self._step([self.examples[document]])
        states: dict[tuple[tuple[Phrase, ...], Phrase], DecoderState] = {}
        rows: dict[tuple[tuple[Phrase, ...], Phrase], tuple[float, ...]] = {}

        def distribution(_: int, said: tuple[Phrase, ...], prefix: Phrase) -> tuple[float, ...]:
            key = said, prefix
            if key not in rows:
                before = states[said, prefix[:-1]] if prefix else step.begin([0], [said])
                word = torch.tensor([[prefix[-1] if prefix else SEP]])
                log_probs, states[key] = step.advance(word, before)
                rows[key] = tuple(log_probs[0, 0].tolist())
            return rows[key]

        return NaiveSearch(distribution, 0, None, settings).find(Count.by_model())

    def _step(self, examples: Sequence[Example]) -> NeuralStep:
        return NeuralStep(self.model, collate(examples, self.lexicon))


def fixed_list(config: Config, phrases: int, width: int | None = None) -> Settings:
    """The settings of a configuration, but a list of so many phrases."""
    changed = {"max_phrases": phrases, "stop": 1.0, "width": width or config.search.width}
    return Settings(**{**config.search.model_dump(exclude={"window"}), **changed})


def make_lexicon() -> Lexicon:
    """As large as what a trained model has, as far as it matters for time."""
    return Lexicon(
        words=Vocabulary(tuple(f"word{i}" for i in range(VOCABULARY))),
        pos_tags=Labels.of([f"tag{i}" for i in range(17)]),
        relations=Labels.of([f"relation{i}" for i in range(45)]),
        styles=(),
        min_n=3,
        max_n=6,
        buckets=1000,
    )


def make_examples(count: int, tokens: int) -> list[Example]:
    """Made-up documents of known words, without gold phrases."""
    chance = np.random.default_rng(0)
    weights = 1 / np.arange(1, VOCABULARY + 1)
    weights /= weights.sum()
    return [_make_example(chance, weights, tokens) for _ in range(count)]


def _make_example(chance: np.random.Generator, weights: Any, tokens: int) -> Example:
    words = chance.choice(VOCABULARY, tokens, p=weights)
    return Example(
        word_ids=words,
        unknown=(),
        pos_ids=chance.integers(0, 17, tokens),
        heads=make_heads(chance, tokens),
        relation_ids=chance.integers(0, 45, tokens),
        stem_ids=number_by_first_occurrence(words),
        features=np.stack([chance.integers(0, size, tokens) for size in FEATURE_SIZES], 1),
        marks=np.stack([chance.integers(0, size, tokens) for size in MARK_SIZES], 1),
        style=0,
        phrases=(),
    )


def segments_of(example: Example) -> list[list[int]]:
    """The document's slots, cut every few words."""
    slots = (example.stem_ids + FIRST_WORD).tolist()
    return [slots[start : start + SEGMENT] for start in range(0, len(slots), SEGMENT)]


def _commit() -> str:
    command = ["git", "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


if __name__ == "__main__":
    main()
