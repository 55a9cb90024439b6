"""Batches of documents of like length, in an order that the seed, the epoch and a number decide.

Nothing here has a state: batch ``number`` of an epoch is the same whoever asks for it and whenever,
so a run that resumes needs to remember two numbers.
"""

import queue
import threading
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from phraseloom.config import TrainConfig
from phraseloom.errors import ConfigError, CorpusError
from phraseloom.network.example import Example, hide_writing
from phraseloom.network.graph import Batch, collate
from phraseloom.network.lexicon import Ids, Lexicon
from phraseloom.train.corpus.examples import CorpusExamples
from phraseloom.train.corpus.targets import collate_targets

WINDOW = 4096
"""Documents among which those of like length are put together."""
PREFETCHED = 4
"""Batches made ready while the network learns from another."""

T = TypeVar("T")
Collate = Callable[[Batch, Sequence[Example], Sequence[Ids]], Any]
"""Makes the targets of a batch of documents of which some phrases were chosen."""


class ProcessRank(NamedTuple):
    """Which of the processes that train one model this is.

    Of every batch it takes each ``world_size``-th document, from ``rank`` on.
    """

    rank: int
    world_size: int


SINGLE_PROCESS = ProcessRank(0, 1)


@dataclass(frozen=True, slots=True)
class TrainingBatch:
    """What the network learns from in one step."""

    batch: Batch
    targets: Any
    """`Targets`, or what another network's loss function takes."""


class DocumentPool:
    """The documents of several corpora that have a phrase to learn, on one axis."""

    def __init__(
        self, corpora: Sequence[CorpusExamples], repeat: Mapping[str, float] | None = None
    ) -> None:
        """Look for the documents; ``repeat`` says how often a set's are seen per epoch, or once."""
        repeat = repeat or {}
        self.corpora = corpora
        rows = [np.flatnonzero(_has_phrase(examples)) for examples in corpora]
        self.locations = [(i, int(row)) for i, of_corpus in enumerate(rows) for row in of_corpus]
        """Corpus, and row in it, of each document."""
        if not self.locations:
            raise CorpusError("no document with a present keyphrase to learn from")
        _refuse_unknown(corpora, repeat)
        pairs = list(zip(corpora, rows, strict=True))
        self.lengths = np.concatenate(
            [np.minimum(e.corpus.lengths[of_corpus], e.max_tokens) for e, of_corpus in pairs]
        )
        """Tokens of each document."""
        self.repeats = np.concatenate([_repeats(*pair, repeat) for pair in pairs])
        """How often each document is seen per epoch, on average."""

    def __len__(self) -> int:
        return len(self.locations)

    def __getitem__(self, index: int) -> Example:
        corpus, row = self.locations[index]
        return self.corpora[corpus][row]


def plan_epoch(pool: DocumentPool, config: TrainConfig, epoch: int) -> list[Ids]:
    """The batches of an epoch, as numbers of documents; a document may be in none or in several."""
    rng = np.random.default_rng([config.seed, epoch])
    times = np.floor(pool.repeats + rng.random(len(pool))).astype(np.int64)
    documents = rng.permutation(np.repeat(np.arange(len(pool)), times))
    documents = np.concatenate([*_sort_windows(documents, pool.lengths), documents[:0]])
    batches = np.split(documents, _cuts(pool.lengths[documents], config))
    return [batches[i] for i in rng.permutation(len(batches))] if len(documents) else []


class BatchLoader:
    """Makes batches to learn from."""

    def __init__(
        self,
        pool: DocumentPool,
        lexicon: Lexicon,
        config: TrainConfig,
        process: ProcessRank = SINGLE_PROCESS,
        collate: Collate = collate_targets,
    ) -> None:
        self.pool = pool
        self.lexicon = lexicon
        self.config = config
        self.process = process
        self._collate = collate

    def stream(self, epoch: int, first: int = 0) -> Generator[TrainingBatch | None, None, None]:
        """Batches of an epoch from number ``first`` on, made ahead by a thread."""
        plan = plan_epoch(self.pool, self.config, epoch)
        numbers = range(first, len(plan))
        return prefetch(partial(self.make, epoch, number, plan[number]) for number in numbers)

    def make(self, epoch: int, number: int, documents: Ids) -> TrainingBatch | None:
        """This process's part of a batch; none if it is too small for all to have one."""
        rng = np.random.default_rng([self.config.seed, epoch, number])
        examples = [
            hide_features(self.pool[int(document)], self.config, self.lexicon, rng)
            for document in documents
        ]
        if self.config.shuffled_phrases:
            examples = [shuffle_phrases(e, self.config.shuffled_phrases, rng) for e in examples]
        limit = self.config.phrases_per_document
        # for all documents, even those of others: the draw must not depend on the process
        chosen = [choose_phrases(len(example.phrases), limit, rng) for example in examples]
        mine = slice(self.process.rank, None, self.process.world_size)
        if not examples[mine]:
            return None
        batch = collate(examples[mine], self.lexicon)
        return TrainingBatch(batch, self._collate(batch, examples[mine], chosen[mine]))


def hide_features(
    example: Example, config: TrainConfig, lexicon: Lexicon, rng: np.random.Generator
) -> Example:
    """Let some documents look as if nobody knew their writing, their phrases or their style."""
    shares = config.feature_dropout, config.glossary_dropout, config.style_dropout
    if not any(shares):
        return example  # and draw nothing
    hides_writing, hides_glossary, hides_style = rng.random(3) < shares
    if hides_writing:
        example = replace(example, token_features=hide_writing(example.token_features))
    if hides_glossary:
        unknown = np.zeros_like(example.glossary_features)
        example = replace(example, glossary_features=unknown)
    return replace(example, style=lexicon.style_id(None)) if hides_style else example


def shuffle_phrases(example: Example, share: float, rng: np.random.Generator) -> Example:
    """The same in some of the documents, in others with its phrases in any order.

    So that any set of them may have been decoded before the next.
    """
    order = rng.permutation(len(example.phrases))
    if rng.random() >= share:
        return example
    return replace(example, phrases=tuple(example.phrases[i] for i in order.tolist()))


def choose_phrases(count: int, limit: int | None, rng: np.random.Generator) -> Ids:
    """Numbers of the phrases to learn in this step, in ascending order: at most ``limit``."""
    if limit is None or count <= limit:
        return np.arange(count)
    return np.sort(rng.choice(count, limit, replace=False))


def prefetch(jobs: Iterable[Callable[[], T]], ahead: int = PREFETCHED) -> Generator[T, None, None]:
    """Results of jobs in their order, done in a thread while the caller uses earlier ones."""
    ready: queue.Queue[tuple[str, T | BaseException | None]] = queue.Queue(ahead)
    stopped = threading.Event()

    def offer(kind: str, result: T | BaseException | None) -> None:
        while not stopped.is_set():
            try:
                ready.put((kind, result), timeout=0.1)
                return
            except queue.Full:
                continue

    def run() -> None:
        try:
            for job in jobs:
                if stopped.is_set():
                    return
                offer("result", job())
            offer("end", None)
        except BaseException as error:  # raised again where the caller sees it
            offer("error", error)

    thread = threading.Thread(target=run, name="prefetch", daemon=True)
    thread.start()
    try:
        while True:
            kind, result = ready.get()
            if kind == "end":
                return
            if kind == "error":
                assert isinstance(result, BaseException)
                raise result
            yield result  # type: ignore[misc]  # "result" carries a T
    finally:
        stopped.set()
        thread.join()


def _has_phrase(examples: CorpusExamples) -> NDArray[np.bool_]:
    """Whether each document keeps a phrase when it is cut to ``max_tokens``."""
    corpus, size = examples.corpus, examples.max_tokens
    has_phrase = (corpus.phrase_counts > 0) & (corpus.lengths > 0)
    for row in np.flatnonzero(has_phrase & (corpus.lengths > size)):
        document = corpus.document(int(row))
        has_phrase[row] = (document.phrase_start + document.phrase_length <= size).any()
    return has_phrase


def _repeats(
    examples: CorpusExamples, rows: Ids, repeat: Mapping[str, float]
) -> NDArray[np.float64]:
    of_origin = np.array([repeat.get(origin, 1.0) for origin in examples.corpus.origins])
    return of_origin[examples.corpus.document_origins[rows]]


def _refuse_unknown(corpora: Sequence[CorpusExamples], repeat: Mapping[str, float]) -> None:
    known = {origin for examples in corpora for origin in examples.corpus.origins}
    for name, times in repeat.items():
        if name not in known:
            raise ConfigError(
                f"data.repeat names {name}, but the sets are: {', '.join(sorted(known))}"
            )
        if not 0 <= times < float("inf"):
            raise ConfigError(f"data.repeat.{name} = {times}: give a number, zero or more")


def _sort_windows(documents: Ids, lengths: Ids) -> list[Ids]:
    """Sort each window by length, up and down in turn, so that neighbours are always alike."""
    windows = [documents[start : start + WINDOW] for start in range(0, len(documents), WINDOW)]
    ordered = [window[np.argsort(lengths[window], kind="stable")] for window in windows]
    return [window[::-1] if number % 2 else window for number, window in enumerate(ordered)]


def _cuts(lengths: Ids, config: TrainConfig) -> list[int]:
    """Where one batch ends and the next begins: by documents, or by tokens if that is set."""
    if config.batch_tokens is None:
        return list(range(config.batch_documents, len(lengths), config.batch_documents))
    cuts, tokens = [], 0
    for i, length in enumerate(lengths.tolist()):
        if tokens and tokens + length > config.batch_tokens:
            cuts.append(i)
            tokens = 0
        tokens += length
    return cuts
