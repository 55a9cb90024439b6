"""Killed at any moment, by anyone: the same command goes on, to the same bytes."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from phraseloom.dataset import run
from phraseloom.dataset.parts import SET_ASIDE, _Attempts
from phraseloom.dataset.run import Request
from phraseloom.io.arrow import Folder
from phraseloom.options import Options
from tests.dataset import samples
from tests.dataset.conftest import Extract
from tests.dataset.samples import contents, write_rows

ROOT = Path(__file__).parents[2]
ROWS = [{"text": f"w{n} {'poison' * (n % 9 == 4)}"} for n in range(45)]


def start(
    papers: Path, out: Path, model: Path, jobs: int, long: Path | None = None
) -> "subprocess.Popen[str]":
    """Another process that extracts, ten rows to a part; at a long text it says so and waits."""
    return subprocess.Popen(
        [sys.executable, samples.__file__, *map(str, (papers, out, model, jobs))],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={
            **os.environ,
            "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}",
            **({"LONG": str(long)} if long else {}),
        },
        text=True,
        start_new_session=True,
    )


def run_to_its_end(papers: Path, out: Path, model: Path, jobs: int) -> int:
    with start(papers, out, model, jobs) as process:
        process.communicate()
    return process.returncode


def test_a_process_that_is_killed_goes_on_to_the_same_bytes(
    extract: Extract, tmp_path: Path, model: Path
) -> None:
    papers = write_rows(tmp_path / "papers.jsonl", ROWS)
    assert extract(tmp_path / "undisturbed", papers, part_rows=10) == (40, 0, 5)

    out = tmp_path / "out"
    for parts in (1, 2):
        with start(papers, out, model, 1) as process:
            assert process.stdout is not None
            for _ in range(parts):
                assert process.stdout.readline()
            process.kill()
        assert not (out / "_set_aside.jsonl").exists()

    assert run_to_its_end(papers, out, model, 1) == 0
    assert contents(out) == contents(tmp_path / "undisturbed")


@pytest.mark.slow
def test_a_row_at_which_processes_die_is_set_aside_and_nothing_else(
    extract: Extract, tmp_path: Path, model: Path
) -> None:
    deadly = [*ROWS[:17], {"text": "some deadly word"}, *ROWS[17:]]
    papers = write_rows(tmp_path / "papers.jsonl", deadly)

    assert run_to_its_end(papers, tmp_path / "two", model, 2) == 0, "workers are replaced"
    statuses = [run_to_its_end(papers, tmp_path / "one", model, 1) for _ in range(2)]

    assert statuses == [-signal.SIGKILL, 0], "what killed it once is tried in another process"
    assert contents(tmp_path / "two") == contents(tmp_path / "one")
    lines = (tmp_path / "two" / "_set_aside.jsonl").read_text().splitlines()
    assert len(lines) == 6
    assert [line for line in lines if "2 processes died at it" in line and "deadly word" in line]


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("ended_by", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_whoever_ends_the_command_blames_no_row(
    extract: Extract, tmp_path: Path, model: Path, jobs: int, ended_by: signal.Signals
) -> None:
    papers = write_rows(tmp_path / "papers.jsonl", [{"text": "short"}, {"text": "a long text"}])
    extract(tmp_path / "undisturbed", papers, part_rows=10)
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    out = tmp_path / "out"
    for _ in range(4):
        with start(papers, out, model, jobs, long=gate) as process:
            gate.read_text()  # waits until someone is at the long text
            os.killpg(process.pid, ended_by)
    assert [*out.glob("_unfinished/notes-0/*")] or ended_by == signal.SIGINT

    assert run_to_its_end(papers, out, model, jobs) == 0
    assert contents(out) == contents(tmp_path / "undisturbed")


def test_parts_at_which_a_process_died_are_done_one_at_a_time(tmp_path: Path, model: Path) -> None:
    """Else the others of the pool, which end with it, would be blamed for what they were at."""
    papers = write_rows(tmp_path / "papers.jsonl", ROWS)
    request = Request([papers], tmp_path / "out", Options(), model=model, part_rows=10)
    job, earlier = run.Run(request, run._scan).job, run.Run(request, run._scan).job
    todo = {*range(5)}
    with _Attempts(job.out, 0, job.run).noted("part"), _Attempts(job.out, 3, job.run).noted("part"):
        assert run._suspects(job, todo, 2) == {0, 3}
        assert run._suspects(earlier, todo, 2) == set()
        assert run._suspects(earlier, todo, 1) == {0}
    assert run._suspects(job, todo, 2) == set()


def test_what_was_being_written_is_no_part_and_is_cleared_away(
    extract: Extract, tmp_path: Path
) -> None:
    papers = write_rows(tmp_path / "papers.jsonl", ROWS)
    extract(tmp_path / "undisturbed", papers, part_rows=10)
    out = tmp_path / "out"
    extract(out, papers, part_rows=10)
    (out / "part-0000002.parquet").unlink()
    (out / "_set_aside.jsonl").unlink()
    for name in ("_unfinished/0123456789", f"{SET_ASIDE}/part-0000002.jsonl"):
        (out / name).parent.mkdir(exist_ok=True)
        (out / name).write_bytes(b"half of")
    for part in (0, 1, 3, 4):  # they are done; what was set aside of them is there
        name = f"{SET_ASIDE}/part-{part:07d}.jsonl"
        lines = (tmp_path / "undisturbed" / "_set_aside.jsonl").read_bytes().splitlines(True)
        (out / name).write_bytes(lines[part])

    extract(out, papers, part_rows=10)

    assert contents(out) == contents(tmp_path / "undisturbed")


def test_notes_of_attempts_go_when_they_end_and_stay_when_they_do_not(tmp_path: Path) -> None:
    out = Folder(tmp_path)
    first = _Attempts(out, 3, "run")
    with pytest.raises(ZeroDivisionError), first.noted("part"):
        assert _Attempts(out, 3, "run").died_at("part") == 1
        assert _Attempts(out, 3, "another").died_at("part") == 0
        assert _Attempts(out, 4, "run").died_at("part") == 0
        _ = 1 / 0
    assert _Attempts(out, 3, "run").died_at("part") == 0
