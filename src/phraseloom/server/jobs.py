"""Documents to search, gathered from several requests, and what comes of each of them.

Runs where the model is, in a thread or in a process of its own; it knows nothing of HTTP.
"""

from collections.abc import Callable, Sequence
from functools import partial
from traceback import extract_tb
from typing import NamedTuple, TypeVar

from phraseloom.errors import PhraseloomError
from phraseloom.explanation import Explanation, explain_parsed
from phraseloom.extractor import Extractor
from phraseloom.keyphrase import Keyphrase
from phraseloom.options import Options
from phraseloom.text.document import Document, Source

_SHORT = 2_000  # characters; a shorter text takes hardly less time for a phrase
_USUAL_PHRASES = 10  # if the model says how many

A = TypeVar("A")
B = TypeVar("B")


class Job(NamedTuple):
    """One document and what is wanted of it."""

    source: Source
    options: Options
    is_traced: bool = False

    @property
    def characters(self) -> int:
        """How long the document is."""
        return len(self.source.text) + len(self.source.title)

    @property
    def work(self) -> int:
        """What it costs, in characters times phrases; see `Limits`."""
        phrases = self.options.top
        if phrases is None:
            candidates = self.options.candidates
            phrases = _USUAL_PHRASES if candidates is None else max(1, len(candidates))
        return max(self.characters, _SHORT) * phrases


class Failure(NamedTuple):
    """Why a document has no keyphrases.

    Attributes:
        message: a mistake of the caller in words that name the fix; of a fault of ours only its
            type and place, because what an exception says may quote the text.
        is_mistake: which of the two.
    """

    message: str
    is_mistake: bool


Outcome = list[Keyphrase] | Explanation | Failure


class _NobodyWaitsError(Exception):
    """All clients of a batch have gone."""


def answer_jobs(
    extractor: Extractor,
    jobs: Sequence[Job],
    is_wanted: Callable[[int], bool] = lambda job: True,
) -> list[Outcome]:
    """Search documents together as far as their options are equal; none harms another.

    Args:
        extractor: to search with.
        jobs: the documents.
        is_wanted: asked between phrases; a job whose client has gone is given up, and the batch as
            soon as all have gone, even between two stretches of a text that is parsed.
    """

    def is_still_wanted(job: int) -> bool:
        if not any(map(is_wanted, range(len(jobs)))):
            raise _NobodyWaitsError
        return is_wanted(job)

    try:
        return _answer(extractor, jobs, is_still_wanted)
    except _NobodyWaitsError:
        return [[] for _ in jobs]


def _answer(
    extractor: Extractor, jobs: Sequence[Job], is_wanted: Callable[[int], bool]
) -> list[Outcome]:
    outcomes: dict[int, Outcome] = {}
    parse = partial(extractor.parser.parse_batch, between=partial(is_wanted, 0))
    parsed = _attempt(parse, [job.source for job in jobs])
    groups: dict[Options, dict[int, Document]] = {}
    for i, (job, document) in enumerate(zip(jobs, parsed, strict=True)):
        if isinstance(document, Failure):
            outcomes[i] = document
        elif not is_wanted(i):
            outcomes[i] = []
        elif job.is_traced:
            explain = partial(_explain, extractor, job.options, partial(is_wanted, i))
            [outcomes[i]] = _attempt(explain, [document])
        else:
            groups.setdefault(job.options, {})[i] = document
    for options, group in groups.items():
        search = partial(_search, extractor, options, is_wanted)
        outcomes.update(zip(group, _attempt(search, list(group.items())), strict=True))
    return [outcomes[i] for i in range(len(jobs))]


def _attempt(run: Callable[[list[A]], Sequence[B]], items: list[A]) -> list[B | Failure]:
    """Run on all items at once; if that fails, on each alone, so that only the bad one fails."""
    if not items:
        return []
    try:
        return list(run(items))
    except _NobodyWaitsError:
        raise
    except Exception as error:
        if len(items) == 1:
            return [describe(error)]
    return [outcome for item in items for outcome in _attempt(run, [item])]


def describe(error: BaseException) -> Failure:
    """What may be said of an exception."""
    if isinstance(error, PhraseloomError):
        return Failure(str(error), is_mistake=True)
    frames = extract_tb(error.__traceback__)
    place = f" in {frames[-1].name}, line {frames[-1].lineno}" if frames else ""
    return Failure(f"{type(error).__name__}{place}", is_mistake=False)


def _search(
    extractor: Extractor,
    options: Options,
    is_wanted: Callable[[int], bool],
    numbered: list[tuple[int, Document]],
) -> list[list[Keyphrase]]:
    """Keyphrases of documents that are given with the numbers of their jobs."""
    jobs, documents = zip(*numbered, strict=True)
    return extractor.extract_parsed(
        documents, options, is_wanted=lambda document: is_wanted(jobs[document])
    )


def _explain(
    extractor: Extractor,
    options: Options,
    is_wanted: Callable[[], bool],
    documents: list[Document],
) -> list[Explanation]:
    return [
        explain_parsed(extractor, document, options, is_wanted=lambda _: is_wanted())
        for document in documents
    ]
