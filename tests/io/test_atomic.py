"""A file is whole or not there, whatever happens, and nothing is left lying about."""

import os
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from phraseloom.errors import PhraseloomError
from phraseloom.io.atomic import check_output, remove_leftovers, write_text, written_aside

WRITE_AND_WAIT = """
import sys
from collections.abc import Iterator
from pathlib import Path
from phraseloom.io.atomic import written_aside

with written_aside(Path(sys.argv[1])) as new:
    new.write_text("half of it")
    print("writing", flush=True)
    sys.stdin.readline()
"""


def start_writing(path: Path) -> "subprocess.Popen[str]":
    """Another process that has begun to write a file, and goes on when it is told to."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITE_AND_WAIT, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None and process.stdout.readline() == "writing\n"
    return process


def kill(process: "subprocess.Popen[str]") -> None:
    with process:
        process.send_signal(signal.SIGKILL)


def test_a_file_appears_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    for is_durable in (False, True):
        with written_aside(path, is_durable=is_durable) as new:
            new.write_text("new")
            assert path.read_text() == "old"
        assert path.read_text() == "new"
        assert list(tmp_path.iterdir()) == [path]
        path.write_text("old")


def test_what_fails_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(ZeroDivisionError), written_aside(path) as new:
        new.write_text("half of it")
        _ = 1 / 0
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_directory_can_be_written_aside_too(tmp_path: Path) -> None:
    with written_aside(tmp_path / "model") as new:
        new.mkdir()
        (new / "part").write_text("x")
    assert [file.name for file in tmp_path.rglob("*")] == ["model", "part"]


def test_text_is_written_with_its_directories_and_as_utf8(tmp_path: Path) -> None:
    write_text(tmp_path / "a" / "b" / "c.txt", ["😀\n", "lone \ud800"])
    assert (tmp_path / "a" / "b" / "c.txt").read_bytes() == "😀\nlone ?".encode()


def test_a_long_name_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / ("é" * 127)  # 254 of 255 bytes
    write_text(path, ["text"])
    assert path.read_text() == "text"
    with pytest.raises(PhraseloomError, match="cannot write .*: File name too long"):
        write_text(tmp_path / ("x" * 256), ["text"])
    assert list(tmp_path.iterdir()) == [path]


def test_what_cannot_be_written_is_one_line_with_its_cause(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(PhraseloomError, match="cannot write .*below: File exists") as failure:
        write_text(file / "below", ["text"])
    assert isinstance(failure.value.__cause__, OSError)


def test_what_a_killed_process_left_goes_with_the_next_writing(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    kill(start_writing(path))
    assert [entry for entry in tmp_path.iterdir() if entry != path], "nothing was left to remove"
    write_text(path, ["new"])
    assert list(tmp_path.iterdir()) == [path]


def test_leftovers_of_a_folder_are_removed_but_not_what_is_being_written(tmp_path: Path) -> None:
    own = tmp_path / ".hidden.txt"
    own.write_text("mine")
    kill(start_writing(tmp_path / "killed.txt"))
    with start_writing(tmp_path / "alive.txt") as alive:
        remove_leftovers(tmp_path)
        assert len(list(tmp_path.iterdir())) == 2
        alive.communicate("go on\n")
    assert sorted(tmp_path.iterdir()) == [own, tmp_path / "alive.txt"]
    assert (tmp_path / "alive.txt").read_text() == "half of it"
    remove_leftovers(tmp_path / "not there")


def test_leftovers_that_go_meanwhile_are_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one.txt", "two.txt"):
        kill(start_writing(tmp_path / name))
    remove = shutil.rmtree

    def remove_all(path: Path, ignore_errors: bool) -> None:
        for scratch in tmp_path.iterdir():
            remove(scratch)

    monkeypatch.setattr(shutil, "rmtree", remove_all)
    remove_leftovers(tmp_path)
    assert not any(tmp_path.iterdir())


def test_what_has_the_name_of_a_leftover_and_is_none_is_left_alone(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".z.phraseloom-part")
    (tmp_path / ".y.phraseloom-part").write_text("mine")
    (tmp_path / ".x.phraseloom-part").symlink_to(tmp_path)
    remove_leftovers(tmp_path)
    assert len(list(tmp_path.iterdir())) == 3


def test_two_writers_of_one_file_wait_for_each_other(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    with start_writing(path) as first:
        second = subprocess.Popen(
            [sys.executable, "-c", WRITE_AND_WAIT, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        first.communicate("go on\n")
    with second:
        second.communicate(b"go on\n")
    assert path.read_text() == "half of it"
    assert os.listdir(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("is_there", [True, False])
def test_what_a_link_leads_to_is_written(tmp_path: Path, is_there: bool) -> None:
    target, link = tmp_path / "elsewhere" / "a.txt", tmp_path / "link.txt"
    target.parent.mkdir()
    if is_there:
        target.write_text("old")
    link.symlink_to("elsewhere/a.txt")
    write_text(link, ["new"])
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert sorted(tmp_path.rglob("*")) == [target.parent, target, link]


def test_a_link_to_itself_is_one_line(tmp_path: Path) -> None:
    link = tmp_path / "link.txt"
    link.symlink_to(link)
    with pytest.raises(PhraseloomError, match="cannot write .*symbolic links"):
        write_text(link, ["new"])
    assert list(tmp_path.iterdir()) == [link]


def test_a_pipe_stays_one_and_no_work_is_done_for_it(tmp_path: Path) -> None:
    def work() -> Iterator[str]:
        pytest.fail("work was done")
        yield ""

    pipe = tmp_path / "pipe.json"
    os.mkfifo(pipe)
    with pytest.raises(PhraseloomError, match="pipe.json is a pipe or a device; give"):
        write_text(pipe, work())
    with pytest.raises(PhraseloomError, match="pipe.json is a pipe or a device; give"):
        check_output(pipe)
    assert pipe.is_fifo()
    assert list(tmp_path.iterdir()) == [pipe]


def test_a_directory_can_replace_a_link_or_a_file_that_was_moved_away(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "link").symlink_to("old")
    (tmp_path / "file").write_text("old")
    for name in ("link", "file"):
        with written_aside(tmp_path / name) as new:
            new.mkdir()
            (new / "part").write_text("x")
            (tmp_path / name).rename(tmp_path / f"{name}.old")
        assert (tmp_path / name / "part").read_text() == "x"
        assert not (tmp_path / name).is_symlink()


@pytest.mark.parametrize("mode", [0o600, 0o664])
def test_whoever_could_read_a_file_can_read_what_replaces_it_and_nobody_else(
    tmp_path: Path, mode: int
) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    path.chmod(mode)
    with written_aside(path) as new:
        new.write_text("new")
        assert stat.S_IMODE(new.parent.stat().st_mode) == 0o700
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_folders_are_made_however_deep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = Path(*["d"] * 1_200, "a.txt")
    try:
        write_text(path, ["x"])
        assert path.read_text() == "x"
    finally:  # pytest cannot: shutil has a call for each level
        subprocess.run(["rm", "-r", "d"], check=True)
