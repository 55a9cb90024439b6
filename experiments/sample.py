"""Documents of a prepared corpus, encoded once and decoded under many settings."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from phraseloom.config import Config, SearchConfig
from phraseloom.data.batch import FIRST_WORD, collate
from phraseloom.data.cache import Corpus
from phraseloom.data.example import CorpusExamples, Example
from phraseloom.data.lexicon import Lexicon
from phraseloom.errors import PhraseloomError
from phraseloom.evaluate.phrases import Judged, judge_stems
from phraseloom.evaluate.report import score_documents
from phraseloom.model.checkpoint import load_model
from phraseloom.model.network import KeyphraseModel
from phraseloom.model.step import NeuralStep
from phraseloom.search.beam import find_phrases
from phraseloom.search.found import Found
from phraseloom.search.settings import Count, Settings
from phraseloom.search.trace import Trace
from phraseloom.train.validate import find_segments

Progress = Callable[[int, int], None]
"""Told how many documents are done, and of how many."""

_TOGETHER = 32  # documents decoded at once; only speed depends on it


@dataclass(frozen=True, slots=True)
class Reference:
    """What a document's phrases are scored against, all as stems."""

    source: list[str]
    targets: list[list[str]]
    stems: list[str]
    """Of each slot, from `FIRST_WORD` on."""


class Sample:
    """Some documents of a corpus as one model sees them.

    The encoder runs once, when the sample is made; each decoding starts from what it left.
    """

    def __init__(
        self,
        model: KeyphraseModel,
        lexicon: Lexicon,
        config: Config,
        corpus: Corpus,
        rows: Sequence[int],
    ) -> None:
        self.lexicon = lexicon
        numbered = CorpusExamples(
            corpus, lexicon, max_tokens=config.search.window, style_of=config.data.style_of
        )
        self.rows = sorted(rows, key=lambda row: int(corpus.lengths[row]))
        self.examples = [numbered[row] for row in self.rows]
        self.references = [
            _reference(corpus, row, example)
            for row, example in zip(self.rows, self.examples, strict=True)
        ]
        self._segments = [
            find_segments(corpus, row, example)
            for row, example in zip(self.rows, self.examples, strict=True)
        ]
        with torch.inference_mode():
            self._steps = [
                NeuralStep(model, collate(self.examples[at : at + _TOGETHER], lexicon))
                for at in range(0, len(self.examples), _TOGETHER)
            ]

    def __len__(self) -> int:
        return len(self.rows)

    def decode(
        self,
        search: SearchConfig,
        count: Count | None = None,
        *,
        trace: Trace | None = None,
        on_progress: Progress | None = None,
    ) -> list[list[Found]]:
        """Phrases of each document, as slots; a trace numbers the documents as the sample does."""
        settings = Settings(**search.model_dump(exclude={"window"}))
        found: list[list[Found]] = []
        with torch.inference_mode():
            for step in self._steps:
                part = slice(len(found), len(found) + len(step.slots))
                seen = None if trace is None else Trace(trace.runners_up)
                found += find_phrases(
                    step, self._segments[part], settings, count or Count.by_model(), trace=seen
                )
                if trace is not None and seen is not None:
                    for number, phrases in seen.phrases.items():
                        trace.phrases[part.start + number] = phrases
                if on_progress is not None:
                    on_progress(len(found), len(self))
        return found

    def judge(self, lists: Sequence[Sequence[Found]]) -> list[Judged]:
        """Put what was found beside the reference phrases."""
        return [
            judge_stems(
                reference.source,
                reference.targets,
                [[reference.stems[slot - FIRST_WORD] for slot in each.slots] for each in found],
            )
            for reference, found in zip(self.references, lists, strict=True)
        ]

    def score(self, lists: Sequence[Sequence[Found]]) -> dict[str, float]:
        """Values of present phrases, under the keys of docs/metrics.md."""
        return score_documents(self.judge(lists), parts=("present",)).values


def open_sample(
    model_path: Path,
    corpus_path: Path,
    *,
    documents: int | None,
    seed: int = 0,
    sets: Sequence[str] = (),
) -> tuple[Sample, Config]:
    """Draw documents of a prepared corpus for a model, and give the model's configuration.

    Args:
        model_path: a model, or a run with its best one.
        corpus_path: made by ``phraseloom prepare``.
        documents: how many; none: all.
        seed: of the draw.
        sets: names of the sets to draw from; none: all.
    """
    model, lexicon, config = load_model(model_path)
    corpus = Corpus.open(corpus_path)
    rows = choose_rows(corpus, documents=documents, seed=seed, sets=sets)
    return Sample(model, lexicon, config, corpus, rows), config


def choose_rows(
    corpus: Corpus, *, documents: int | None, seed: int, sets: Sequence[str]
) -> list[int]:
    """Numbers of documents drawn at random; those without present keyphrases are among them."""
    unknown = sorted(set(sets) - set(corpus.origins))
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


def _reference(corpus: Corpus, row: int, example: Example) -> Reference:
    record = corpus.record(row)
    stems = [corpus.stems[stem] for stem in corpus.word_stems[record.word]]
    spans = zip(record.phrase_start.tolist(), record.phrase_length.tolist(), strict=True)
    return Reference(
        source=stems,
        targets=[stems[start : start + length] for start, length in spans],
        stems=list(dict.fromkeys(stems[: len(example)])),
    )


def cut_list(found: Sequence[Found], search: SearchConfig) -> list[Found]:
    """What a search with thresholds would give, from the list of one that had none.

    That is one of the same kind with ``stop = 1``, ``floor = 0``, and, unless all that finished
    count, in the order of decoding. So thresholds, and the longest list, cost no decoding.
    """
    kept = list(found[: search.max_phrases])
    if search.order == "expected":
        return [each for each in kept if each is kept[0] or each.score >= search.floor]
    ends = (i for i, each in enumerate(kept, start=1) if each.end_prob > search.stop)
    kept = kept[: next(ends, None)]
    return sorted(kept, key=lambda each: -each.score) if search.order == "score" else kept
