"""Time of the search with a whole network behind it, beside the tests' naive search.

    python benchmarks/bench_search.py --out benchmarks/results/search.json

Documents are made up, the networks have the shape of configs/paper.toml and configs/default.toml
and random weights, whose flat distributions seldom let a document stop early: trained ones are
faster. CPU times of one thread; they include encoding, the trie of n-grams and the lists.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # the naive search lives with the tests

import numpy as np

from benchmarks.documents import make_examples, make_lexicon, segments_of
from benchmarks.reporting import ROOT, make_parser, report, timed
from phraseloom.config import Config, SearchConfig, load_config
from phraseloom.network.example import Example
from phraseloom.network.model import KeyphraseModel, ModelDecoder, StepState
from phraseloom.parallel import limit_threads
from phraseloom.search.beam import Hypothesis
from phraseloom.search.decode import Query, find_phrases
from phraseloom.slots import SEP, Phrase
from tests.builders import make_weights
from tests.search.naive import NaiveHypothesis, NaiveSearch, all_phrases

_PHRASES = 6


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--documents", type=int, default=64)
    args = parser.parse_args()
    with limit_threads(1):
        report({**measure_paper(), **measure_default(args.documents)}, args.out)


def measure_paper(documents: int = 4) -> dict[str, Any]:
    """The paper's search, against one hypothesis at a time; both must find the same."""
    config = load_config(ROOT / "configs" / "paper.toml")
    bench = Bench(config, documents, tokens=40)
    search = fixed_list(config, mode="extractive")  # the naive search lists all phrases there are
    ours, theirs = [], []
    lists, naive = [], []
    for _ in range(3):  # in turns: a busy moment hits both
        ours.append(timed(lambda: lists.append(bench.search(search)))[1] / documents)
        theirs.append(timed(lambda: naive.append(bench.search_naively(search)))[1])
    same = {hypothesis.slots for hypothesis in lists[0][0]} & {h.slots for h in naive[0]}
    return {
        f"paper, width {search.beam_width}, 40 tokens: CPU s per document": round(median(ours), 3),
        "  naive: CPU s per document": round(median(theirs), 3),
        "  times faster than naive": round(median(theirs) / median(ours), 1),
        f"  phrases in common with naive, of {_PHRASES}": len(same),
    }


def measure_default(documents: int) -> dict[str, float]:
    """Documents a second of the preset for users, and how they depend on the settings."""
    config = load_config(ROOT / "configs" / "default.toml")
    rates: dict[str, float] = {}
    for width, tokens, phrases in [
        (10, 160, 6),  # what users get
        (1, 160, 6),
        (30, 160, 6),
        (100, 160, 6),
        (10, 40, 6),
        (10, 320, 6),
        (10, 600, 6),
        (10, 160, 1),
        (10, 160, 12),
    ]:
        bench = Bench(config, documents, tokens=tokens)
        search = fixed_list(config, max_phrases=phrases, beam_width=width)
        bench.search(search, documents=8)  # warm up
        seconds = timed(lambda bench=bench, search=search: bench.search(search))[1]  # type: ignore[misc]
        name = f"default, width {width}, {tokens} tokens, {phrases} phrases: documents/CPU s"
        rates[name] = round(documents / seconds, 1)
    return rates


class Bench:
    """A network with random weights and documents to search."""

    def __init__(self, config: Config, documents: int, tokens: int) -> None:
        self.lexicon = make_lexicon(20_000, styles=config.model.styles)
        weights = make_weights(config.model, self.lexicon)
        self.model = KeyphraseModel(config.model, self.lexicon, weights)
        self.examples = make_examples(documents, self.lexicon, tokens=tokens)

    def search(self, config: SearchConfig, documents: int | None = None) -> list[list[Hypothesis]]:
        """Search all documents, or the first few, in batches of 32."""
        lists: list[list[Hypothesis]] = []
        for start in range(0, documents or len(self.examples), 32):
            examples = self.examples[start : start + 32]
            queries = [Query(segments_of(example)) for example in examples]
            lists += find_phrases(self._decoder(examples), queries, config)
        return lists

    def search_naively(self, config: SearchConfig) -> list[NaiveHypothesis]:
        """Search the first document, one hypothesis at a time."""
        decoder = self._decoder(self.examples[:1])
        states: dict[tuple[tuple[Phrase, ...], Phrase], StepState] = {}
        rows: dict[tuple[tuple[Phrase, ...], Phrase], tuple[float, ...]] = {}

        def distribution(_: int, history: tuple[Phrase, ...], prefix: Phrase) -> tuple[float, ...]:
            key = history, prefix
            if key not in rows:
                before = states[history, prefix[:-1]] if prefix else decoder.begin([0], [history])
                word = np.array([[prefix[-1] if prefix else SEP]])
                log_probs, states[key] = decoder.advance(word, before)
                rows[key] = tuple(log_probs[0, 0].tolist())
            return rows[key]

        phrases = all_phrases(segments_of(self.examples[0]), decoder.slots[0], config)
        return NaiveSearch(distribution, 0, phrases, config).find(None)

    def _decoder(self, examples: Sequence[Example]) -> ModelDecoder:
        return self.model.decoder(examples)


def fixed_list(config: Config, **changes: Any) -> SearchConfig:
    """The search of a configuration, but a list of so many phrases."""
    fixed = {"max_phrases": _PHRASES, "eos_threshold": 1.0, **changes}
    return config.search.model_copy(update=fixed)


if __name__ == "__main__":
    main()
