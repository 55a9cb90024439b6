"""Work in several processes: the same results in order, held in bounds, and nothing left behind."""

import itertools
import multiprocessing
import os
import select
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool
from math import isqrt
from pathlib import Path

import pytest

from phraseloom.errors import PhraseloomError
from phraseloom.parallel import WorkerPool, in_batches, ordered_stream, safe_spawning


@pytest.mark.parametrize("processes", [1, 2])
def test_results_come_in_order(processes: int) -> None:
    assert list(ordered_stream(range(50), isqrt, processes=processes)) == [
        isqrt(number) for number in range(50)
    ]
    assert list(ordered_stream([], isqrt, processes=processes)) == []


@pytest.mark.parametrize("processes", [1, 2])
def test_an_endless_source_is_read_only_a_little_ahead(processes: int) -> None:
    numbers = itertools.count()

    def endless() -> Iterator[int]:
        for number in numbers:
            assert number < 1_000, "read far ahead"
            yield number

    stream = ordered_stream(endless(), isqrt, processes=processes)
    assert [next(stream) for _ in range(10)] == [isqrt(number) for number in range(10)]
    stream.close()  # type: ignore[attr-defined]  # it is a generator

    assert next(numbers) <= 10 + 3 * processes
    assert not multiprocessing.active_children()


@pytest.mark.parametrize("processes", [1, 2])
def test_a_mistake_arrives_as_it_was_raised(processes: int) -> None:
    stream = ordered_stream([4, 9, -1, 16], isqrt, processes=processes)
    assert [next(stream), next(stream)] == [2, 3]
    with pytest.raises(ValueError, match="nonnegative"):
        next(stream)


def test_a_killed_process_is_a_clear_error() -> None:
    stream = ordered_stream(itertools.count(), isqrt, processes=2)
    next(stream)
    for worker in multiprocessing.active_children():
        os.kill(worker.pid or 0, signal.SIGKILL)
    with pytest.raises(PhraseloomError, match="use fewer processes"):
        list(itertools.islice(stream, 1_000))


def test_work_is_not_waited_for_when_something_went_wrong(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(KeyboardInterrupt), WorkerPool(2) as pool:
        endless = pool.submit(Path.read_bytes, pipe)
        writer = pipe.open("wb")  # waits until someone reads
        raise KeyboardInterrupt
    writer.close()
    assert isinstance(endless.exception(), BrokenProcessPool)
    assert not multiprocessing.active_children()


def test_each_process_has_one_thread_and_the_parent_is_as_before() -> None:
    before = dict(os.environ)
    with WorkerPool(1) as pool:
        assert pool.submit(os.getenv, "OMP_NUM_THREADS").result() == "1"
    assert dict(os.environ) == before
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


def test_batches_are_read_only_as_they_are_taken() -> None:
    numbers = iter(range(10))
    batches = in_batches(numbers, 4)
    assert next(batches) == [0, 1, 2, 3]
    assert next(numbers) == 4
    assert list(batches) == [[5, 6, 7, 8], [9]]


def write_program(folder: Path, *lines: str) -> Path:
    """A program in a folder of its own, whose main part does not run again in its processes."""
    folder.mkdir()
    program = folder / "program.py"
    body = textwrap.indent("\n".join(lines), "    ")
    head = "from phraseloom.parallel import WorkerPool\n\nif __name__ == '__main__':\n"
    program.write_text(head + body + "\n", encoding="utf-8")
    return program


def test_modules_in_the_current_directory_are_not_run(tmp_path: Path) -> None:
    program = write_program(
        tmp_path / "program",
        "with WorkerPool(2) as pool:",
        "    print(*[pool.submit(abs, -number).result() for number in range(4)])",
    )
    planted = tmp_path / "planted"
    planted.mkdir()
    for name in ("pickle", "multiprocessing", "struct", "signal", "selectors", "threadpoolctl"):
        (planted / f"{name}.py").write_text("open('it ran', 'w')\nraise SystemExit(1)\n")
    done = subprocess.run(
        [sys.executable, program], cwd=planted, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("0 1 2 3\n", "")
    assert not (planted / "it ran").exists()


def test_processes_end_when_their_parent_is_killed(tmp_path: Path) -> None:
    program = write_program(
        tmp_path / "program",
        "import os, time",
        "pool = WorkerPool(2)",
        "sleeping = [pool.submit(time.sleep, 3_600) for _ in range(2)]",
        "pool.submit(abs, 1)",
        "print('started', flush=True)",
        "time.sleep(3_600)",
    )
    with subprocess.Popen([sys.executable, program], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "started\n"
        parent.kill()
        # its output ends when the last process that could write to it has ended
        ended, _, _ = select.select([parent.stdout], [], [], 60)
    assert ended, "the processes outlived their parent"


def test_an_interrupt_is_left_to_the_parent() -> None:
    code = "import signal; print(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ()))"
    with safe_spawning():
        started = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
    assert started.stdout == "True\n", "while it starts, an interrupt has to wait"
    with WorkerPool(1) as pool:
        assert pool.submit(signal.getsignal, signal.SIGINT).result() is signal.SIG_IGN
        assert pool.submit(signal.pthread_sigmask, signal.SIG_BLOCK, ()).result() == set()


def test_a_program_without_a_guard_is_told_of_it(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from math import isqrt\n"
        "from phraseloom.parallel import ordered_stream\n"
        "print(list(ordered_stream([4, 9], isqrt, processes=2)))\n"
    )

    ended = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)

    assert ended.returncode == 1
    assert 'below if __name__ == "__main__":' in ended.stderr.splitlines()[-1]
    assert "bootstrapping" not in ended.stderr
