"""Batches of documents of like length, in an order that the seed, epoch and place decide.

Nothing here has a state: batch ``number`` of an epoch is the same whoever asks for it and whenever,
so a run that resumes needs to remember two numbers.
"""

import queue
import threading
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, TypeVar

import numpy as np

from phraseloom.config import TrainConfig
from phraseloom.data.batch import Batch, Targets, collate, collate_targets
from phraseloom.data.example import CorpusExamples, Example, Ids
from phraseloom.data.lexicon import Lexicon
from phraseloom.errors import ConfigError, CorpusError

WINDOW = 4096
"""Documents among which those of like length are put together."""
PREFETCHED = 4
"""Batches made ready while the network learns from another."""

T = TypeVar("T")


class Share(NamedTuple):
    """Which documents of a batch are this process's: every ``processes``-th, from ``rank`` on."""

    rank: int
    processes: int


ALONE = Share(0, 1)


@dataclass(frozen=True, slots=True)
class Work:
    """What the network learns from in one step."""

    batch: Batch
    targets: Targets


class DocumentPool:
    """The documents of several corpora that have a phrase to learn, under one numbering."""

    def __init__(
        self, sources: Sequence[CorpusExamples], repeat: Mapping[str, float] | None = None
    ) -> None:
        """Look for the documents; ``repeat`` says how often a set's are seen per epoch, or once."""
        self.sources = sources
        rows = [np.flatnonzero(_has_phrase(source)) for source in sources]
        self.places = [(number, int(row)) for number, found in enumerate(rows) for row in found]
        """Source, and row in it, of each document."""
        if not self.places:
            raise CorpusError("no document with a present keyphrase to learn from")
        sizes = [
            np.minimum(source.corpus.lengths[found], source.max_tokens)
            for source, found in zip(sources, rows, strict=True)
        ]
        self.lengths = np.concatenate(sizes)  # (D,)
        self.repeats = np.concatenate(
            [
                _repeats(source, found, repeat or {})
                for source, found in zip(sources, rows, strict=True)
            ]
        )  # (D,)
        _refuse_unknown(sources, repeat or {})

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, index: int) -> Example:
        source, row = self.places[index]
        return self.sources[source][row]


def plan_epoch(pool: DocumentPool, config: TrainConfig, epoch: int) -> list[Ids]:
    """The batches of an epoch, as numbers of documents; a document may be in none or in several."""
    rng = np.random.default_rng([config.seed, epoch])
    times = np.floor(pool.repeats + rng.random(len(pool))).astype(np.int64)  # (D,)
    documents = rng.permutation(np.repeat(np.arange(len(pool)), times))
    documents = np.concatenate([*_sort_windows(documents, pool.lengths), documents[:0]])
    batches = np.split(documents, _cuts(pool.lengths[documents], config))
    return [batches[i] for i in rng.permutation(len(batches))] if len(documents) else []


class BatchLoader:
    """Makes batches to learn from."""

    def __init__(
        self, pool: DocumentPool, lexicon: Lexicon, config: TrainConfig, share: Share = ALONE
    ) -> None:
        self.pool = pool
        self.lexicon = lexicon
        self.config = config
        self.share = share

    def stream(self, epoch: int, first: int = 0) -> Generator[Work | None, None, None]:
        """Batches of an epoch from number ``first`` on, made ahead by a thread."""
        plan = plan_epoch(self.pool, self.config, epoch)
        numbers = range(first, len(plan))
        return prefetch(partial(self.make, epoch, number, plan[number]) for number in numbers)

    def make(self, epoch: int, number: int, documents: Ids) -> Work | None:
        """This process's share of a batch; none if the batch is too small for all to have one."""
        rng = np.random.default_rng([self.config.seed, epoch, number])
        examples = [self.pool[int(document)] for document in documents]
        limit = self.config.phrases_per_document
        # for all documents, even those of others: the draw must not depend on the share
        chosen = [choose_phrases(len(example.phrases), limit, rng) for example in examples]
        mine = slice(self.share.rank, None, self.share.processes)
        if not examples[mine]:
            return None
        targets = collate_targets(examples[mine], chosen[mine])
        return Work(collate(examples[mine], self.lexicon), targets)


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


def _has_phrase(source: CorpusExamples) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    """Whether each document keeps a phrase when it is cut to ``max_tokens``."""
    corpus = source.corpus
    found = (corpus.phrase_counts > 0) & (corpus.lengths > 0)
    for row in np.flatnonzero(found & (corpus.lengths > source.max_tokens)):
        record = corpus.record(int(row))
        found[row] = bool((record.phrase_start + record.phrase_length <= source.max_tokens).any())
    return found


def _repeats(
    source: CorpusExamples, rows: Ids, repeat: Mapping[str, float]
) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    of_origin = np.array([repeat.get(origin, 1.0) for origin in source.corpus.origins])
    return of_origin[source.corpus.document_origins[rows]]


def _refuse_unknown(sources: Sequence[CorpusExamples], repeat: Mapping[str, float]) -> None:
    known = {origin for source in sources for origin in source.corpus.origins}
    for name, times in repeat.items():
        if name not in known:
            raise ConfigError(
                f"data.repeat names {name}, but the sets are: {', '.join(sorted(known))}"
            )
        if not 0 <= times < float("inf"):
            raise ConfigError(f"data.repeat.{name} = {times}: give a number, zero or more")


def _sort_windows(documents: Ids, lengths: Ids) -> list[Ids]:
    """Sort each window by length, up and down in turn, so that neighbours are always alike."""
    windows = [documents[at : at + WINDOW] for at in range(0, len(documents), WINDOW)]
    ordered = [window[np.argsort(lengths[window], kind="stable")] for window in windows]
    return [window[::-1] if odd % 2 else window for odd, window in enumerate(ordered)]


def _cuts(lengths: Ids, config: TrainConfig) -> list[int]:
    """Where one batch ends and the next begins: by documents, or by tokens if that is set."""
    if config.batch_tokens is None:
        return list(range(config.batch_documents, len(lengths), config.batch_documents))
    cuts, tokens = [], 0
    for place, length in enumerate(lengths.tolist()):
        if tokens and tokens + length > config.batch_tokens:
            cuts.append(place)
            tokens = 0
        tokens += length
    return cuts
