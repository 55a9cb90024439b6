"""Documents of a prepared corpus, encoded once and decoded under many settings."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from phraseloom.config import Config, SearchConfig
from phraseloom.errors import PhraseloomError
from phraseloom.evaluate.phrases import Judged
from phraseloom.evaluate.report import score_documents
from phraseloom.network.weights import load_model
from phraseloom.parallel import in_batches, limit_threads, show_progress
from phraseloom.search.beam import Hypothesis
from phraseloom.search.decode import Query, Trace, find_phrases
from phraseloom.train.corpus.examples import CorpusExamples
from phraseloom.train.corpus.prepared import PreparedCorpus
from phraseloom.train.validate import Model, find_segments, judge_phrases

_TOGETHER = 32  # documents decoded at once; only speed depends on it

AT_5, AT_M = "present.filled.macro.f1@5", "present.macro.f1@M"
"""The two scores that settings are chosen by."""


class Sample:
    """Some documents of a corpus as one model sees them.

    The encoder runs once, when the sample is made; each decoding starts from what it left.
    """

    def __init__(
        self, model: Model, config: Config, corpus: PreparedCorpus, rows: Sequence[int]
    ) -> None:
        self.model = model
        self.config = config
        self.about: dict[str, Any] = {}
        """What a result says of its sample."""
        self._corpus = corpus
        examples = CorpusExamples(
            corpus,
            model.lexicon,
            max_tokens=config.search.window_tokens,
            style_of=config.data.style_of,
        )
        self.rows = sorted(rows, key=lambda row: int(corpus.lengths[row]))
        self.examples = [examples[row] for row in self.rows]
        self._queries = [
            Query(find_segments(corpus, row, example))
            for row, example in zip(self.rows, self.examples, strict=True)
        ]
        with limit_threads(1):
            batches = in_batches(self.examples, _TOGETHER)
            self._decoders = [model.decoder(batch) for batch in batches]

    def __len__(self) -> int:
        return len(self.rows)

    def decode(
        self,
        search: SearchConfig,
        *,
        limit: int | None = None,
        title: str = "decoding",
        trace: Trace | None = None,
    ) -> list[list[Hypothesis]]:
        """Phrases of each document, as slots; a trace numbers the documents as the sample does."""
        lists = self._decode(search, limit, trace)
        return list(show_progress(lists, len(self), title, is_shown=None))

    def _decode(
        self, search: SearchConfig, limit: int | None, trace: Trace | None
    ) -> Iterator[list[Hypothesis]]:
        for start, decoder in zip(range(0, len(self), _TOGETHER), self._decoders, strict=True):
            queries = self._queries[start : start + _TOGETHER]
            of_batch = None if trace is None else Trace(trace.runners_up)
            with limit_threads(1):
                lists = find_phrases(decoder, queries, search, limit=limit, trace=of_batch)
            if trace is not None and of_batch is not None:
                for number, phrases in of_batch.phrases.items():
                    trace.phrases[start + number] = phrases
            yield from lists

    def judge(self, lists: Sequence[Sequence[Hypothesis]]) -> list[Judged]:
        """Put what was decoded beside the reference phrases."""
        return [
            judge_phrases(self._corpus, row, example, [phrase.slots for phrase in phrases])
            for row, example, phrases in zip(self.rows, self.examples, lists, strict=True)
        ]

    def score(self, lists: Sequence[Sequence[Hypothesis]]) -> dict[str, float]:
        """Values of present phrases, under the keys of docs/metrics.md."""
        return score_documents(self.judge(lists), parts=("present",)).values


def open_sample(
    model: Path,
    corpus: Path,
    *,
    documents: int | None,
    seed: int = 0,
    sets: Sequence[str] | None = None,
) -> Sample:
    """Draw documents of a prepared corpus for a model.

    Args:
        model: its directory, or a run with its best one.
        corpus: made by ``phraseloom prepare``.
        documents: how many; none: all.
        seed: of the draw.
        sets: names of the sets to draw from; none: all.
    """
    loaded, config = load_model(model)
    prepared = PreparedCorpus.open(corpus)
    rows = choose_rows(prepared, documents=documents, seed=seed, sets=sets)
    sample = Sample(loaded, config, prepared, rows)
    sample.about = {"model": str(model), "corpus": str(corpus), "documents": len(sample)}
    sample.about |= {"seed": seed, "sets": list(sets or [])}
    return sample


def choose_rows(
    corpus: PreparedCorpus, *, documents: int | None, seed: int, sets: Sequence[str] | None = None
) -> list[int]:
    """Numbers of documents drawn at random; those without present keyphrases are among them."""
    unknown = sorted(set(sets or ()) - set(corpus.origins))
    if unknown:
        known = ", ".join(corpus.origins)
        raise PhraseloomError(f"{corpus.path} has no set {unknown[0]}; it has: {known}")
    wanted = [corpus.origins.index(name) for name in sets or corpus.origins]
    of_sets = np.isin(corpus.document_origins, wanted)
    rows = np.flatnonzero(of_sets & (corpus.lengths > 0))
    if not len(rows):
        raise PhraseloomError(f"{corpus.path} has no documents to draw from")
    drawn = np.random.default_rng(seed).permutation(rows)[:documents]
    return [int(row) for row in drawn]


def cut_list(phrases: Sequence[Hypothesis], search: SearchConfig) -> list[Hypothesis]:
    """What a search with thresholds would give, from the list of one that had none.

    That is one of the same kind with ``eos_threshold = 1``, ``min_score = 0``, and, unless all that
    finished count, in the order of decoding. So thresholds, and the longest list, cost no decoding.
    """
    kept = list(phrases[: search.max_phrases])
    if search.order == "expected":
        return kept[:1] + [phrase for phrase in kept[1:] if phrase.score >= search.min_score]
    ends = (i for i, phrase in enumerate(kept, 1) if phrase.end_prob > search.eos_threshold)
    kept = kept[: next(ends, None)]
    return sorted(kept, key=lambda phrase: -phrase.score) if search.order == "score" else kept
