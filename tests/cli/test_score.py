"""The score command: a table or flat JSON on stdout, one line and status 2 for a mistake."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from phraseloom.cli import app
from phraseloom.errors import CorpusError, PhraseloomError

RUNNER = CliRunner()


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Options that name three small files; the second document gets one of two phrases right."""
    contents = {
        "source": "graph models <eos> kernels on trees .\nneural nets <eos> they learn .\n",
        "targets": "graph model;kernels\nneural net;learning\n",
        "predictions": "graph models;kernel\nneural nets;they\n",
    }
    options = []
    for name, text in contents.items():
        path = tmp_path / f"{name}.txt"
        path.write_text(text, encoding="utf-8")
        options += [f"--{name}", str(path)]
    return options


def test_json_is_flat_and_has_the_promised_keys(files: list[str]) -> None:
    result = RUNNER.invoke(app, ["score", *files, "--json"])

    values = json.loads(result.stdout)
    assert result.exit_code == 0
    assert all(isinstance(value, int | float) for value in values.values())
    for part in ("present", "absent", "all"):
        for key in (
            *("filled.macro.f1@5", "unfilled.macro.precision@10", "macro.f1@M", "mean.f1@5"),
            *("micro.f1@M", "ndcg@10", "alpha_ndcg@10", "map@10", "predicted", "correct"),
            *("duplicate_rate", "nested_rate", "filled.macro.f1@O", "unfilled.mean.f1@10"),
        ):
            assert f"{part}.{key}" in values
    assert values["documents"] == 2
    assert values["present.macro.precision@M"] == 0.75
    assert values["present.macro.f1@M.low"] <= values["present.macro.f1@M"]


def test_the_table_shows_the_headline(files: list[str]) -> None:
    result = RUNNER.invoke(app, ["score", *files, "--resamples", "0"])

    assert result.exit_code == 0
    row = next(line for line in result.stdout.splitlines() if "precision@M" in line)
    assert "0.750" in row
    assert "–" not in row  # no interval was asked for


def test_a_second_list_is_compared_document_by_document(files: list[str], tmp_path: Path) -> None:
    other = tmp_path / "x[b]\u202e.txt"
    other.write_text("trees\nthey\n", encoding="utf-8")
    command = ["score", *files, "--against", str(other), "--resamples", "50"]

    values = json.loads(RUNNER.invoke(app, [*command, "--json"]).stdout)
    table = RUNNER.invoke(app, command).stdout

    assert values["present.macro.precision@M.difference"] == 0.75
    assert values["present.macro.precision@M.difference.low"] >= 0.5
    assert 0 < values["present.macro.precision@M.p"] < 0.1
    assert "predictions.txt minus x[b]\ufffd.txt" in table
    assert "+0.7500" in table


def test_the_seed_makes_intervals_repeatable(files: list[str]) -> None:
    command = ["score", *files, "--json", "--seed", "7"]

    assert RUNNER.invoke(app, command).stdout == RUNNER.invoke(app, command).stdout


def test_comparing_needs_resamples(files: list[str]) -> None:
    result = RUNNER.invoke(app, ["score", *files, "--against", files[-1], "--resamples", "0"])

    assert isinstance(result.exception, PhraseloomError)


def test_natural_text_is_scored_word_by_word(tmp_path: Path) -> None:
    corpus, said = tmp_path / "corpus.jsonl", tmp_path / "said.jsonl"
    row = {"id": 1, "abstract": "We sell out-of-print books.", "keywords": ["Out-of-print books"]}
    corpus.write_text(json.dumps(row) + "\n", encoding="utf-8")
    said.write_text('{"id": 1, "phrases": [{"text": "out-of-print books"}]}\n', encoding="utf-8")
    command = ["score", "--source", str(corpus), "--predictions", str(said), "--json"]

    by_spaces = json.loads(RUNNER.invoke(app, command).stdout)
    by_words = json.loads(RUNNER.invoke(app, [*command, "--split", "words"]).stdout)

    assert by_spaces["present.targets"] == 0  # "books." is not "books"
    assert by_words["present.macro.f1@M"] == 1


def test_files_of_different_lengths_are_refused(files: list[str]) -> None:
    Path(files[-1]).write_text("one line\n", encoding="utf-8")

    result = RUNNER.invoke(app, ["score", *files])

    assert isinstance(result.exception, CorpusError)
    assert result.stdout == ""


def test_a_mistake_is_one_line_on_stderr_and_status_two(files: list[str]) -> None:
    Path(files[-1]).write_bytes(b"\xff\xfe\n")
    command = [sys.executable, "-c", "from phraseloom.cli import main; main()", "score", *files]

    result = subprocess.run(command, capture_output=True, text=True, check=False)

    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert "is not UTF-8" in result.stderr
