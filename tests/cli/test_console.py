"""What is shown beside the results."""

import pytest

from phraseloom.cli.console import stage_progress


def test_each_stage_is_a_line_with_what_it_counts(capsys: pytest.CaptureFixture[str]) -> None:
    with stage_progress("fitting", {"training": "steps"}) as on_stage:
        for done in range(3):
            on_stage("parsing", done, 1200)
        on_stage("training", 1, 32)

    lines = capsys.readouterr().err.splitlines()
    assert [line for line in lines if "━" not in line and line] == [
        "parsing 1,200 documents",
        "training 32 steps",
    ]
