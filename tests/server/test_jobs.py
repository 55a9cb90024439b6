"""Documents of several requests are searched together; one whose client has gone is given up."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from phraseloom.explanation import explain
from phraseloom.extractor import Extractor
from phraseloom.options import Options
from phraseloom.server.jobs import Failure, Job, answer_jobs
from phraseloom.text.document import Document, Source
from tests.server.serving import BROKEN, TEXT, make_extractor

OTHER = "Sparse matrices are fast, and trees grow."


def test_each_gets_what_it_asked_for(extractor: Extractor) -> None:
    jobs = [
        Job(Source(TEXT), Options(top=3)),
        Job(Source(OTHER), Options(top=2), is_traced=True),
        Job(Source(BROKEN), Options(top=3)),
        Job(Source(OTHER, "Trees"), Options(top=3)),
    ]

    plain, traced, broken, titled = answer_jobs(extractor, jobs)

    assert texts_of(plain) == texts_of(extractor.extract(TEXT, top=3))
    assert traced == explain(extractor, OTHER, top=2)
    assert isinstance(broken, Failure)
    assert texts_of(titled) == texts_of(extractor.extract(OTHER, title="Trees", top=3))


def texts_of(outcome: Any) -> list[str]:
    return [phrase.text for phrase in getattr(outcome, "keyphrases", outcome)]


@pytest.mark.parametrize("is_traced", [False, True])
def test_a_search_ends_when_nobody_waits_for_it_and_the_others_go_on(
    extractor: Extractor, is_traced: bool
) -> None:
    asked = []

    def is_wanted(job: int) -> bool:
        asked.append(job)
        return job != 1 or asked.count(1) < 3

    texts = [TEXT, TEXT, OTHER]
    jobs = [Job(Source(text), Options(top=20), is_traced=is_traced) for text in texts]
    outcomes = answer_jobs(extractor, jobs, is_wanted)

    for i in (0, 2):
        [expected] = answer_jobs(extractor, [jobs[i]])
        assert texts_of(outcomes[i]) == texts_of(expected)
    assert len(texts_of(outcomes[1])) < 20
    windows = 2  # of the text, which are searched side by side
    assert asked.count(1) <= 3 + windows


def test_nothing_more_is_done_when_all_have_gone(extractor: Extractor) -> None:
    extractor = extractor.with_search(window_tokens=8)
    asked = []

    def is_wanted(job: int) -> bool:
        asked.append(job)
        return len(asked) < 200

    jobs = [Job(Source(f"{TEXT} {OTHER} " * 40), Options(top=5))] * 2
    assert answer_jobs(extractor, jobs, is_wanted) == [[], []]
    assert len(asked) <= 200 + len(jobs)


class PiecewiseParser:
    """Counts the stretches that it has got through."""

    name = "piecewise"
    parsed = 0

    def parse_batch(
        self, sources: Sequence[Source], *, between: Callable[[], object] = bool
    ) -> list[Document]:
        for _ in range(5):
            between()
            self.parsed += 1
        return [Document(source.text, source.title, ()) for source in sources]


def test_a_long_text_is_parsed_no_further_when_all_have_gone() -> None:
    parser = PiecewiseParser()

    jobs = [Job(Source(TEXT), Options())] * 2
    outcomes = answer_jobs(make_extractor(parser), jobs, lambda job: parser.parsed < 3 - job)

    assert outcomes == [[], []]
    assert parser.parsed == 3


@pytest.mark.parametrize(
    ("characters", "options", "work"),
    [
        (5_000, Options(top=7), 35_000),
        (5_000, Options(), 50_000),
        (5_000, Options(candidates=["a", "b", "c"]), 15_000),
        (5_000, Options(candidates=["a", "b", "c"], top=2), 10_000),
        (10, Options(top=7), 14_000),
        (0, Options(candidates=[]), 2_000),
    ],
)
def test_work_is_characters_times_phrases(characters: int, options: Options, work: int) -> None:
    assert Job(Source("a" * characters), options).work == work
