"""Documents to search, gathered from several requests, and what comes of each of them.

Runs where the model is, in a thread or in a process of its own; it knows nothing of HTTP.
"""

from collections.abc import Callable, Sequence
from functools import partial
from traceback import extract_tb
from typing import Literal, NamedTuple, TypeVar

from phraseloom.errors import PhraseloomError
from phraseloom.explain import Explanation, explain
from phraseloom.extractor import Extractor, Keyphrase
from phraseloom.text.document import Document, Source

Mode = Literal["extractive", "free"]
A = TypeVar("A")
B = TypeVar("B")


class Options(NamedTuple):
    """How to search; None is what the model was saved with. Equal options are searched together."""

    top: int | None = None
    style: str | None = None
    lambda1: float | None = None
    lambda2: float | None = None
    mode: Mode | None = None
    trace: bool = False


class Job(NamedTuple):
    """One document and how to search it."""

    source: Source
    options: Options

    @property
    def characters(self) -> int:
        """How long the document is."""
        return len(self.source.text) + len(self.source.title)


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


def answer_jobs(extractor: Extractor, jobs: Sequence[Job]) -> list[Outcome]:
    """Search documents together as far as their options are equal; none harms another."""
    outcomes: dict[int, Outcome] = {}
    plain = [place for place, job in enumerate(jobs) if not job.options.trace]
    parsed = _attempt(extractor.parser.parse_batch, [jobs[place].source for place in plain])
    groups: dict[Options, dict[int, Document]] = {}
    for place, document in zip(plain, parsed, strict=True):
        if isinstance(document, Failure):
            outcomes[place] = document
        else:
            groups.setdefault(jobs[place].options, {})[place] = document
    for options, group in groups.items():
        found = _attempt(partial(_search, extractor, options), list(group.values()))
        outcomes.update(zip(group, found, strict=True))
    for place in set(range(len(jobs))) - set(plain):
        [outcomes[place]] = _attempt(partial(_explain, extractor), [jobs[place]])
    return [outcomes[place] for place in range(len(jobs))]


def _attempt(run: Callable[[list[A]], Sequence[B]], items: list[A]) -> list[B | Failure]:
    """Run on all items at once; if that fails, on each alone, so that only the bad one fails."""
    if not items:
        return []
    try:
        return list(run(items))
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
    extractor: Extractor, options: Options, documents: list[Document]
) -> list[list[Keyphrase]]:
    searching = _with_options(extractor, options)
    return searching.extract_parsed(documents, top=options.top, style=options.style)


def _explain(extractor: Extractor, jobs: list[Job]) -> list[Explanation]:
    return [
        explain(
            _with_options(extractor, options),
            source.text,
            title=source.title,
            top=options.top,
            style=options.style,
        )
        for source, options in jobs
    ]


def _with_options(extractor: Extractor, options: Options) -> Extractor:
    wanted = {
        "lambda1": options.lambda1,
        "lambda2": options.lambda2,
        "mode": options.mode,
    }
    changes = {name: value for name, value in wanted.items() if value is not None}
    return extractor.with_search(**changes) if changes else extractor
