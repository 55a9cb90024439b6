"""Files that are whole or not there: written aside, and put in place when all of it is written."""

import json
import os
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from fcntl import LOCK_EX, LOCK_NB, flock
from hashlib import sha256
from itertools import takewhile
from pathlib import Path

from phraseloom.errors import ConfigError, CorpusError, PhraseloomError

_SUFFIX = ".phraseloom-part"
_LONGEST_NAME = 200  # bytes; file systems take 255


@contextmanager
def written_aside(path: Path, *, is_durable: bool = False) -> Iterator[Path]:
    """A place to write a file to, or a directory, which takes the name of ``path`` at the end.

    If something goes wrong, ``path`` is what it was. What a killed process left is removed by the
    next one that writes to the same path, or by `remove_leftovers`.

    Args:
        path: a file is replaced, by one that as many may read; of a directory, the caller has to
            move the old one away first. A link to a file stays one: that file is replaced.
        is_durable: whether it has to outlast a power cut, not only a kill.

    Raises:
        PhraseloomError: it is a pipe or a device.
    """
    mode = _mode_of(path)
    if path.is_symlink() and not path.is_dir():
        path = Path(os.path.realpath(path))
    scratch = _scratch_of(path)
    lock = _claim(scratch)
    try:
        new = scratch / "new"
        yield new
        if mode is not None and new.is_file():
            new.chmod(mode)
        if is_durable:
            _flush(new)
        new.replace(path)
        if is_durable:
            _flush(path.parent)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
        os.close(lock)


def write_text(path: Path, pieces: Iterable[str]) -> None:
    """Write a text file, whole or not at all; directories on the way are made.

    Raises:
        PhraseloomError: it cannot be written. The OSError is its cause.
    """
    try:
        _make_folders(path.parent)
        with (
            written_aside(path) as new,
            new.open("w", encoding="utf-8", errors="replace", newline="\n") as file,
        ):
            file.writelines(pieces)
    except OSError as error:
        raise PhraseloomError(f"cannot write {path}: {error.strerror or error}") from error


def write_json(path: Path, value: object) -> None:
    """Write a JSON file that appears only when it is complete and on the disk."""
    with written_aside(path, is_durable=True) as new:
        new.write_text(f"{json.dumps(value, indent=1)}\n", encoding="utf-8")


def sign_directory(mark: Path, signature: object, *, other: str) -> None:
    """Write down what the directory of a job that may be stopped belongs to; it is made if need be.

    Args:
        mark: the file in it that says so.
        signature: everything that the job's result depends on.
        other: what is wrong if it belongs to another job.

    Raises:
        CorpusError: it does, or cannot be written to.
    """
    if mark.exists() and json.loads(mark.read_text(encoding="utf-8")) != signature:
        raise CorpusError(other)
    try:
        mark.parent.mkdir(parents=True, exist_ok=True)
        write_json(mark, signature)
    except OSError as error:
        raise CorpusError(f"cannot write to {mark.parent}: {error.strerror}") from None


def check_output(path: Path) -> None:
    """Refuse a path to which no file can be written, before work is done for it."""
    if not path.parent.is_dir():
        raise ConfigError(f"there is no directory {path.parent} to write {path.name} into; make it")
    if path.is_dir():
        raise ConfigError(f"{path} is a directory; give the name of a file in it")
    _mode_of(path)


def remove_leftovers(folder: Path) -> None:
    """Remove what killed processes were writing to files of a folder."""
    for scratch in folder.glob(f".*{_SUFFIX}"):
        try:  # it may be a pipe of that name, which would keep whoever opens it waiting
            lock = os.open(scratch, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError:
            continue  # not ours, or gone
        try:
            flock(lock, LOCK_EX | LOCK_NB)
            shutil.rmtree(scratch, ignore_errors=True)
        except BlockingIOError:
            pass  # someone is writing
        finally:
            os.close(lock)


def _make_folders(path: Path) -> None:
    """Make a folder and those above it, however deep: pathlib has a call for each level."""
    missing = list(takewhile(lambda folder: not folder.is_dir(), (path, *path.parents)))
    for folder in reversed(missing):
        folder.mkdir(exist_ok=True)


def _mode_of(path: Path) -> int | None:
    """Who may read and write a file; None if there is none."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    if stat.S_ISREG(status.st_mode):
        return stat.S_IMODE(status.st_mode)
    if stat.S_ISDIR(status.st_mode):
        return None
    raise PhraseloomError(f"{path} is a pipe or a device; give the name of a file")


def _scratch_of(path: Path) -> Path:
    """Where a path is written aside: always the same, so that what was left there is found."""
    name = os.fsencode(path.name)
    if len(name) > _LONGEST_NAME:
        name = sha256(name).hexdigest().encode()
    return path.with_name(f".{os.fsdecode(name)}{_SUFFIX}")


def _claim(scratch: Path) -> int:
    """Make a directory empty and one's own, after whoever else writes to the same path is done."""
    while True:
        scratch.mkdir(mode=0o700, exist_ok=True)  # until it has its mode, a file is for nobody else
        try:
            lock = os.open(scratch, os.O_RDONLY)
        except FileNotFoundError:
            continue  # another process was done just now
        flock(lock, LOCK_EX)
        if _is_at(scratch, lock):
            break
        os.close(lock)
    for leftover in scratch.iterdir():
        shutil.rmtree(leftover) if leftover.is_dir() else leftover.unlink()
    return lock


def _is_at(path: Path, handle: int) -> bool:
    """Whether an open directory still has its name."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(handle))
    except FileNotFoundError:
        return False


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
