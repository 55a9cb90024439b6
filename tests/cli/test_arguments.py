"""What several commands take."""

import os

import pytest

from phraseloom.cli.arguments import usual_jobs


@pytest.mark.parametrize(("cores", "jobs"), [(3, 3), (64, 8), (None, 1)])
def test_where_a_process_cannot_ask_for_its_cores_the_machine_s_count(
    monkeypatch: pytest.MonkeyPatch, cores: int | None, jobs: int
) -> None:
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    assert usual_jobs() == jobs
