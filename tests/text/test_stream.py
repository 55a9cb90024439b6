"""A stream gives what one batch gives, in order, holding little, in any number of processes."""

import itertools
import multiprocessing
import os
import select
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from phraseloom.errors import ParserError, PhraseloomError
from phraseloom.text.document import Source
from phraseloom.text.parse import load_parser
from phraseloom.text.stream import parse_stream


def conllu(word: str) -> Source:
    return Source(f"1\t{word}\t_\t_\tNN\t_\t0\troot\n")


SOURCES = [conllu(f"word{i}") for i in range(50)]


@pytest.mark.parametrize(("processes", "batch_size"), [(1, 1), (1, 7), (1, 64), (2, 7)])
def test_equals_one_batch(processes: int, batch_size: int) -> None:
    stream = parse_stream(SOURCES, parser="conllu", batch_size=batch_size, processes=processes)

    assert list(stream) == load_parser("conllu").parse_batch(SOURCES)


@pytest.mark.parametrize("processes", [1, 2])
def test_nothing_in_nothing_out(processes: int) -> None:
    assert list(parse_stream([], parser="conllu", processes=processes)) == []


@pytest.mark.parametrize("processes", [1, 2])
def test_an_endless_source_is_read_only_a_little_ahead(processes: int) -> None:
    numbers = itertools.count()

    def endless() -> Iterator[Source]:
        for i in numbers:
            assert i < 1_000, "read far ahead"
            yield conllu(f"w{i}")

    stream = parse_stream(endless(), parser="conllu", batch_size=4, processes=processes)
    taken = [next(stream).text for _ in range(10)]
    stream.close()  # type: ignore[attr-defined]  # it is a generator

    assert taken == [f"w{i}" for i in range(10)]
    assert next(numbers) <= 4 * (3 + 3 * processes)
    assert not multiprocessing.active_children()


@pytest.mark.parametrize("processes", [1, 2])
def test_a_mistake_arrives_as_it_was_raised(processes: int) -> None:
    sources = [*SOURCES, Source("not parsed")]
    with pytest.raises(ParserError, match="line 1: 1 columns"):
        list(parse_stream(sources, parser="conllu", batch_size=8, processes=processes))


def test_an_unknown_parser_is_refused_by_the_workers_too() -> None:
    with pytest.raises(ParserError, match="choose spacy"):
        list(parse_stream(SOURCES, parser="corenlp", processes=2))


def test_spacy_in_two_processes_equals_one() -> None:
    sources = [Source(f"Graph {i} has <digit> nodes-edges. It is small.", "T") for i in range(6)]
    one = list(parse_stream(sources, batch_size=2))

    assert list(parse_stream(sources, batch_size=2, processes=2)) == one


def test_a_killed_worker_is_a_clear_error() -> None:
    stream = parse_stream(itertools.cycle(SOURCES), parser="conllu", batch_size=1, processes=2)
    next(stream)
    for worker in multiprocessing.active_children():
        os.kill(worker.pid or 0, signal.SIGKILL)
    with pytest.raises(PhraseloomError, match="use fewer processes"):
        list(itertools.islice(stream, 1_000))


ENDLESS = """
    import itertools, multiprocessing
    from phraseloom.text.document import Source
    from phraseloom.text.stream import parse_stream

    if __name__ == "__main__":
        source = Source("1\\ta\\t_\\t_\\tNN\\t_\\t0\\troot")
        stream = parse_stream(itertools.repeat(source), parser="conllu", processes=2)
        next(stream)
        print(*(child.pid for child in multiprocessing.active_children()), flush=True)
        while True:
            next(stream)
"""


def test_workers_end_when_their_parent_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "endless.py"
    script.write_text(textwrap.dedent(ENDLESS), encoding="utf-8")
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        workers = [int(pid) for pid in parent.stdout.readline().split()]
        parent.kill()
        # its output ends when the last process that could write to it has ended
        ended, _, _ = select.select([parent.stdout], [], [], 60)
        if not ended:
            for pid in workers:
                os.kill(pid, signal.SIGKILL)
    assert len(workers) == 2
    assert ended, "the workers outlived their parent"
