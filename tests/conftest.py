"""What several tests need: settings for property tests, and the command line as a function."""

import os
from collections.abc import Callable
from typing import NamedTuple

import pytest
from hypothesis import settings

for _name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # before NumPy and torch: threads of small products spin

settings.register_profile("default", deadline=None)  # a busy machine is not a bug
settings.load_profile("default")


class Outcome(NamedTuple):
    """How a command ended and what it said."""

    status: int
    out: str
    err: str


@pytest.fixture
def run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Outcome]:
    """Run ``phraseloom`` with some arguments in this process, as a shell would."""
    from phraseloom.cli import main

    def run_command(*arguments: object) -> Outcome:
        monkeypatch.setattr("sys.argv", ["phraseloom", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as exit_info:
            main()
        said = capsys.readouterr()
        return Outcome(int(exit_info.value.code or 0), said.out, said.err)

    return run_command
