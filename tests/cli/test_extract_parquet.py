"""``extract --format parquet``: what is said, and the exit status."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyarrow import parquet

from phraseloom.dataset import run as dataset_run
from tests.dataset.samples import save_tiny, use_first_word, write_rows

if TYPE_CHECKING:
    from tests.conftest import Outcome

Run = Callable[..., "Outcome"]


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(dataset_run, "load_extractor", use_first_word)
    return save_tiny(tmp_path / "model")


def test_a_file_of_rows_becomes_a_folder_of_parquet(run: Run, model: Path, tmp_path: Path) -> None:
    file = write_rows(tmp_path / "a.jsonl", [{"abstract": f"w{n}", "n": n} for n in range(5)])
    for out, options in ((tmp_path / "b", ["--format", "parquet"]), (tmp_path / "c.parquet", [])):
        command = ("extract", file, "--out", out, "--model", model, "--part-rows", 2, *options)
        outcome = run(*command)
        assert (outcome.status, outcome.out) == (0, "")
        assert outcome.err == f"wrote the keyphrases of 5 rows into {out}\n"
        assert parquet.read_table(out).column("n").to_pylist() == [0, 1, 2, 3, 4]
        assert len([*out.glob("part-*")]) == 3
        again = run(*command)
        assert "wrote the keyphrases of 0 rows" in again.err
        assert "5 were there already; --force does them again" in again.err
        assert "5 rows" in run(*command, "--force").err


def test_what_is_set_aside_is_said_and_the_status_is_1(
    run: Run, model: Path, tmp_path: Path
) -> None:
    file = write_rows(tmp_path / "a.jsonl", [{"text": "one"}, "bad", {"text": "poison"}])
    out = tmp_path / "out"
    outcome = run("extract", file, "--out", out, "--format", "parquet", "--model", model)
    assert outcome.status == 1
    assert outcome.err == (
        f"wrote the keyphrases of 1 rows into {out}\n2 set aside: {out}/_set_aside.jsonl says why\n"
    )
    lines = (out / "_set_aside.jsonl").read_text().splitlines()
    assert [json.loads(line)["row"] for line in lines] == [2, 3]


def test_a_folder_of_results_is_read_without_what_lies_beside_them(
    run: Run, model: Path, tmp_path: Path
) -> None:
    file = write_rows(tmp_path / "a.jsonl", [{"text": "one"}, "bad"])
    options = ("--format", "parquet", "--model", model)
    run("extract", file, "--out", tmp_path / "out", *options)
    outcome = run("extract", tmp_path / "out", "--out", tmp_path / "again", *options)
    assert (outcome.status, outcome.err.count("\n")) == (0, 1)
    names = parquet.read_table(tmp_path / "again").column_names
    assert names == ["text", "row_keyphrases", "keyphrases"]


def test_phrases_of_a_vocabulary_have_their_label(run: Run, tmp_path: Path) -> None:
    file = write_rows(tmp_path / "a.jsonl", [{"text": "The beacons of a harbour."}])
    (tmp_path / "terms.txt").write_text("Lighthouses; beacons\n")
    (tmp_path / "candidates.txt").write_text("beacons\nharbour\n")
    options = ("--format", "parquet", "--model", save_tiny(tmp_path / "model"), "--top", 2)
    candidates = ("--candidates", tmp_path / "candidates.txt")
    command = ("extract", file, "--out", tmp_path / "out", *options, *candidates)
    with_terms = (*command, "--vocabulary", tmp_path / "terms.txt")

    assert run(*with_terms).status == 0

    (phrases,) = parquet.read_table(tmp_path / "out").column("keyphrases").to_pylist()
    labels = {phrase["text"]: phrase["label"] for phrase in phrases}
    assert labels["beacons"] == "Lighthouses"
    assert labels["harbour"] is None
    assert "1 were there already" in run(*with_terms).err  # the same model, made again
    assert "--force" in run(*command).err  # without the terms it is another


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["a.jsonl", "--format", "parquet"], "give files, --out"),
        (["a.jsonl", "--cluster"], "give files, --out"),
        (["--text", "one", "--out", "out", "--format", "parquet"], "give files, --out"),
        (["a.jsonl", "--out", "out", "--cluster", "--format", "json"], "leave --cluster"),
        (["a.jsonl", "--out", "a.jsonl", "--format", "parquet"], "is a file; give a folder"),
        (["a.jsonl", "--out", "out", "--format", "parquet", "--column", "no"], "no column no"),
        (["s3:///", "--out", "out", "--format", "parquet"], "cannot read s3:"),
        (["none.txt", "--out", "out", "--format", "parquet"], "cannot read none.txt"),
        (["foo://x/y", "--out", "out", "--format", "parquet"], "cannot reach foo://x/y"),
    ],
)
def test_a_mistake_is_one_line_and_writes_nothing(
    run: Run,
    model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: list[str],
    problem: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    write_rows(tmp_path / "a.jsonl", [{"text": "one"}])
    outcome = run("extract", *options, "--model", model)
    assert (outcome.status, outcome.out, outcome.err.count("\n")) == (2, "", 1)
    assert problem in outcome.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("files", [(), ("-",)])
def test_standard_input_is_refused_with_what_to_do(
    run: Run, model: Path, tmp_path: Path, files: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO('{"text": "one"}'))
    options = ("--column", "text", "--format", "parquet", "--out", tmp_path / "o")
    outcome = run("extract", *files, *options, "--model", model)

    assert (outcome.status, outcome.out) == (2, "")
    [line] = outcome.err.splitlines()
    assert "write the rows to a file" in line
    assert not (tmp_path / "o").exists()
