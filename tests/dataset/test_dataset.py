"""A folder of Parquet: the same rows in the same order, whole parts, and what is wrong told."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from phraseloom.dataset import run
from phraseloom.dataset.parts import read_parts
from phraseloom.dataset.run import Request, Run, extract_files
from phraseloom.errors import PhraseloomError
from phraseloom.io.arrow import Folder
from phraseloom.options import Options
from tests.dataset.conftest import Extract
from tests.dataset.samples import SCORE, contents, write_rows


def rows_of(out: Path) -> list[dict[str, Any]]:
    """All rows of a folder, in the order of its parts."""
    tables = [parquet.read_table(part) for part in sorted(out.glob("part-*"))]
    assert len({table.schema for table in tables}) == 1, "all parts have the same columns"
    return [row for table in tables for row in table.to_pylist()]


def set_aside(out: Path) -> list[dict[str, Any]]:
    lines = (out / "_set_aside.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def write_parquet(path: Path, columns: dict[str, Any]) -> Path:
    parquet.write_table(pa.table(columns), path)
    return path


@pytest.mark.parametrize("part_rows", [1, 7, 10, 100])
def test_rows_keep_their_order_and_all_their_columns(
    extract: Extract, tmp_path: Path, part_rows: int
) -> None:
    rows = [
        {"text": f"w{n} {'x' * (n * 37 % 50)}", "n": n, "tags": ["a", "b"][: n % 3]}
        for n in range(40)
    ]
    files = [
        write_rows(tmp_path / "a.jsonl", rows[:3]),
        write_rows(tmp_path / "b.jsonl", rows[3:23]),
        write_parquet(tmp_path / "c.parquet", dict(pa.Table.from_pylist(rows[23:]).to_pydict())),
    ]

    outcome = extract(tmp_path / "out", *files, part_rows=part_rows)

    assert outcome == (40, 0, 0)
    written = rows_of(tmp_path / "out")
    assert [{name: row[name] for name in ("text", "n", "tags")} for row in written] == rows
    assert [row["keyphrases"][0]["text"] for row in written] == [f"w{n}" for n in range(40)]
    assert written[7]["keyphrases"][0] == {
        "text": "w7",
        "score": SCORE,
        "spans": [{"start": 0, "end": 2}],
        "title_spans": [],
        "label": None,
    }
    sizes = [parquet.read_metadata(part).num_rows for part in (tmp_path / "out").glob("part-*")]
    assert max(sizes) <= part_rows
    assert len(sizes) <= 40 // part_rows + 3, "small files share a part"


def test_nothing_but_place_and_id_is_kept_if_no_more_is_wanted(
    extract: Extract, tmp_path: Path
) -> None:
    file = write_rows(tmp_path / "a.jsonl", [{"text": "one", "id": "x"}, {"text": "two", "y": 1}])
    extract(tmp_path / "out", file, keep=False)
    rows = rows_of(tmp_path / "out")
    assert [(row["row"], row["id"]) for row in rows] == [(1, "x"), (2, "a-2")]
    assert [*rows[0]] == ["file", "row", "id", "keyphrases"]


def test_texts_of_a_directory_are_rows(extract: Extract, tmp_path: Path) -> None:
    for name, content in (("a.txt", b"one word"), ("b.md", b"# Two\n\nmore"), ("c.txt", b"\xfa")):
        (tmp_path / name).write_bytes(content)
    files = [tmp_path / name for name in ("a.txt", "b.md", "c.txt", "gone.txt")]
    outcome = extract(tmp_path / "out", *files, part_rows=3)
    assert outcome == (2, 0, 2)
    assert [(row["text"], row["title"]) for row in rows_of(tmp_path / "out")] == [
        ("one word", ""),
        ("Two\n\nmore", ""),
    ]
    assert ["not UTF-8" in row["reason"] for row in set_aside(tmp_path / "out")] == [True, False]


def test_a_row_that_cannot_be_done_is_set_aside_and_the_others_are_done(
    extract: Extract, tmp_path: Path
) -> None:
    rows: list[dict[str, Any] | str] = [
        *({"text": f"w{n}"} for n in range(9)),
        *('{"text": ', {"text": None}, {"text": 5}, '["text"]', {"text": "some poison"}),
        {"text": ""},
    ]
    file = write_rows(tmp_path / "a.jsonl", rows)

    outcome = extract(tmp_path / "out", file, part_rows=4)

    assert outcome == (10, 0, 5)
    assert [row["text"] for row in rows_of(tmp_path / "out")] == [*(f"w{n}" for n in range(9)), ""]
    aside = {row["row"]: row for row in set_aside(tmp_path / "out")}
    assert sorted(aside) == [10, 11, 12, 13, 14]
    assert aside[14]["reason"] == "ValueError: this text"
    assert aside[14]["columns"] == {"text": "some poison"}


def test_columns_of_mixed_types_hold_all_rows(extract: Extract, tmp_path: Path) -> None:
    files = [
        write_rows(
            tmp_path / "a.jsonl",
            [
                {
                    "text": "one",
                    "mixed": {"x": [1]},
                    "number": 1,
                    "keyphrases": ["k"],
                    "none": None,
                },
                {"text": "two", "mixed": 7, "number": 2.5, "row_keyphrases": 1},
                {"text": "\ud800", "mixed": "é", "number": 10**30},
            ],
        ),
        write_parquet(
            tmp_path / "b.parquet",
            {
                "text": pa.array(["three"], pa.large_string()),
                "mixed": [{"y": b"\xff"}],
                "number": pa.array([2**63], pa.uint64()),
                "bytes": [b"\xff"],
                "kind": pa.array(["k"]).dictionary_encode(),
            },
        ),
    ]
    assert extract(tmp_path / "out", *files) == (4, 0, 0)
    one, two, three, four = rows_of(tmp_path / "out")
    assert [row["mixed"] for row in (one, two, three)] == ['{"x": [1]}', "7", "é"]
    assert one["row_row_keyphrases"] == ["k"] and two["row_keyphrases"] == 1
    assert (four["bytes"], four["kind"], one["none"]) == (b"\xff", "k", None)


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("a.jsonl", b'{"a": 1}\n{"a": 2}\n', "no column text"),
        ("a.csv", b"a,b\n1,2\n", "no column text"),
        ("a.parquet", b"PAR1", "complete Parquet file"),
        ("missing.jsonl", None, "No such file"),
    ],
)
def test_files_without_a_text_are_refused_before_anything_is_written(
    extract: Extract, tmp_path: Path, name: str, content: bytes | None, problem: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(PhraseloomError, match=problem):
        extract(tmp_path / "out", tmp_path / name)
    assert not (tmp_path / "out").exists()
    good = write_rows(tmp_path / "good.jsonl", [{"text": "one"}])
    assert extract(tmp_path / "out", tmp_path / name, good) == (1, 0, 1)
    assert problem in set_aside(tmp_path / "out")[0]["reason"]


def test_rows_after_a_thousand_bad_ones_are_counted(extract: Extract, tmp_path: Path) -> None:
    rows: list[dict[str, Any] | str] = ["bad"] * 1000 + [{"text": f"w{n}"} for n in range(5)]
    late = write_rows(tmp_path / "late.jsonl", rows)
    other = write_rows(tmp_path / "other.jsonl", [{"text": "one"}])
    assert extract(tmp_path / "out", late, other) == (6, 0, 1000)


def test_a_name_that_is_not_utf8_is_told(extract: Extract, tmp_path: Path) -> None:
    file = write_rows(tmp_path / "a.jsonl", [{"text": "one"}])
    bad = [tmp_path / f"b\udcff.{kind}" for kind in ("txt", "jsonl")]
    for path in bad:
        path.write_text('{"text": "two"}')
    for done in ((1, 0, 2), (0, 1, 2)):
        assert extract(tmp_path / "out", bad[0], file, bad[1]) == done
    assert set_aside(tmp_path / "out")[0]["reason"].endswith("b\ufffd.txt is not UTF-8; rename it")
    with pytest.raises(PhraseloomError, match="is not UTF-8; rename it"):
        extract(tmp_path / "\udcff", file)


def test_a_column_whose_name_is_no_text_is_kept(extract: Extract, tmp_path: Path) -> None:
    row = {"text": "one", "\ud800 key": 1, "deep": {"\ud800": 2}}
    extract(tmp_path / "out", write_rows(tmp_path / "a.jsonl", [row]))
    assert rows_of(tmp_path / "out")[0]["\ufffd key"] == 1


def test_cells_that_python_has_no_value_for_spoil_nothing(extract: Extract, tmp_path: Path) -> None:
    """A date of the year 12921, and bytes that are not UTF-8 in a column of text."""
    bad = pa.array([b"one", b"\xff", b"poison", b"four"]).cast(pa.binary())
    columns = {
        "text": pa.Array.from_buffers(pa.string(), 4, bad.buffers()),
        "id": pa.array([4_000_000] * 4, pa.date32()),
        "until": pa.array([2**62] * 4, pa.timestamp("us")),
    }
    file = write_parquet(tmp_path / "a.parquet", columns)
    assert extract(tmp_path / "out", file, keep=False) == (2, 0, 2)
    assert [row["id"] for row in rows_of(tmp_path / "out")] == ["12921-08-18"] * 2
    first, second = set_aside(tmp_path / "out")
    assert "a.parquet:2: text cannot be read ('utf-8' codec" in first["reason"]
    assert second["columns"]["id"] == "12921-08-18"
    assert extract(tmp_path / "kept", file) == (2, 0, 2)
    [table] = [parquet.read_table(part) for part in (tmp_path / "kept").glob("part-*")]
    assert table["until"].cast(pa.int64()).to_pylist() == [2**62] * 2


def test_rows_that_are_too_large_together_are_set_aside(
    extract: Extract, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("phraseloom.io.arrow._LARGEST_TABLE", 1 << 20)
    texts = ["one", "two", *["three " * 100_000] * 3, "six", "seven"]
    file = write_parquet(tmp_path / "a.parquet", {"text": texts})
    assert extract(tmp_path / "out", file, part_rows=2) == (5, 0, 2)
    rows = set_aside(tmp_path / "out")
    assert [row["row"] for row in rows] == [3, 4]
    assert "2 rows together have more than 1 MB; take fewer --part-rows" in rows[0]["reason"]


def test_more_columns_than_anyone_reads_are_refused_soon(extract: Extract, tmp_path: Path) -> None:
    rows = [{"text": "one", **{f"{n}-{m}": 1 for m in range(20)}} for n in range(2000)]
    file = write_rows(tmp_path / "a.jsonl", rows)
    with pytest.raises(
        PhraseloomError, match=r"more than 1,000 columns, such as text, .*--no-keep"
    ):
        extract(tmp_path / "out", file)
    assert extract(tmp_path / "out", file, keep=False) == (2000, 0, 0)
    deep = [{"text": "one", "more": row} for row in rows[:600]]
    assert extract(tmp_path / "deep", write_rows(tmp_path / "b.jsonl", deep)) == (600, 0, 0)
    assert json.loads(rows_of(tmp_path / "deep")[599]["more"]) == rows[599]


def test_of_a_file_that_is_cut_off_all_rows_before_are_done(
    extract: Extract, tmp_path: Path
) -> None:
    lines = "".join(json.dumps({"text": f"w{n} {n * n}"}) + "\n" for n in range(3000)).encode()
    packed = gzip.compress(lines)
    (tmp_path / "a.jsonl.gz").write_bytes(packed[: len(packed) // 2])
    outcome = extract(tmp_path / "out", tmp_path / "a.jsonl.gz", part_rows=500)
    assert outcome.written > 500
    assert outcome.set_aside == 1
    assert "is the file complete?" in set_aside(tmp_path / "out")[0]["reason"]


def test_empty_files_make_an_empty_folder(extract: Extract, tmp_path: Path) -> None:
    files = [
        write_rows(tmp_path / "a.jsonl", []),
        write_parquet(tmp_path / "b.parquet", {"text": pa.array([], pa.string())}),
    ]
    assert extract(tmp_path / "out", *files) == (0, 0, 0)
    assert sorted(contents(tmp_path / "out")) == ["_manifest.json", "_set_aside.jsonl"]


def test_the_same_again_does_only_what_is_missing(extract: Extract, tmp_path: Path) -> None:
    rows = [{"text": f"w{n} {'poison' * (n == 4)}"} for n in range(10)]
    file, out = write_rows(tmp_path / "a.jsonl", rows), tmp_path / "out"
    extract(out, file, part_rows=3)
    before = contents(out)
    assert extract(out, file, part_rows=3) == (0, 10, 1)
    (out / "part-0000001.parquet").unlink()
    assert extract(out, file, part_rows=3) == (2, 7, 1)
    assert contents(out) == before
    assert extract(out, file, part_rows=3, force=True) == (9, 0, 1)
    assert contents(out) == before


def test_another_command_does_not_go_on_with_it(extract: Extract, tmp_path: Path) -> None:
    file, out = write_rows(tmp_path / "a.jsonl", [{"text": "one"}]), tmp_path / "out"
    extract(out, file)
    with pytest.raises(PhraseloomError, match="begun with other part_rows;"):
        extract(out, file, part_rows=9)
    write_rows(file, [{"text": "another"}])
    with pytest.raises(PhraseloomError, match="begun with other files;"):
        extract(out, file)
    assert extract(out, file, force=True) == (1, 0, 0)
    assert rows_of(out)[0]["text"] == "another"


def test_folders_with_other_things_are_left_alone(extract: Extract, tmp_path: Path) -> None:
    file = write_rows(tmp_path / "a.jsonl", [{"text": "one"}])
    for force in (False, True):
        with pytest.raises(PhraseloomError, match="--out"):
            extract(tmp_path, file, force=force)
    assert [*contents(tmp_path)] == ["a.jsonl"]
    with pytest.raises(PhraseloomError, match="is a file; give a folder"):
        extract(file, file)
    with pytest.raises(PhraseloomError, match="cannot write"):
        extract(Path("/proc/nothing"), file)


def test_two_processes_do_not_write_into_one_folder(extract: Extract, tmp_path: Path) -> None:
    file, out = write_rows(tmp_path / "a.jsonl", [{"text": "one"}]), tmp_path / "out"
    out.mkdir()
    with Folder(out).claimed(), pytest.raises(PhraseloomError, match="another process"):
        extract(out, file)
    assert extract(out, file) == (1, 0, 0)


def test_what_another_process_is_writing_is_not_cleared(extract: Extract, tmp_path: Path) -> None:
    file, out = write_rows(tmp_path / "a.jsonl", [{"text": "one"}]), tmp_path / "out"
    extract(out, file)
    before = contents(out)
    with Folder(out).claimed(), pytest.raises(PhraseloomError, match="another process"):
        extract(out, file, force=True)
    assert contents(out) == before


def test_a_wrong_model_clears_nothing(extract: Extract, tmp_path: Path) -> None:
    file, out = write_rows(tmp_path / "a.jsonl", [{"text": "one"}]), tmp_path / "out"
    extract(out, file)
    before = contents(out)
    for folder in (out, tmp_path / "new"):
        request = Request([file], folder, Options(), model="moon", force=True)
        with pytest.raises(PhraseloomError, match="no model directory moon"):
            extract_files(request)
    assert contents(out) == before
    assert not (tmp_path / "new").exists()


def test_results_can_be_read_from_the_folder_as_if_nothing_else_were_in_it(
    extract: Extract, tmp_path: Path
) -> None:
    file, out = write_rows(tmp_path / "a.jsonl", [{"text": "one"}, "bad"]), tmp_path / "out"
    extract(out, file)
    assert parquet.read_table(out).num_rows == 1


def test_an_address_is_read_and_written_like_a_path(extract: Extract, tmp_path: Path) -> None:
    rows = [{"text": f"w{n} {'poison' * (n == 4)}"} for n in range(10)]
    file = write_rows(tmp_path / "a.jsonl", rows)
    extract(tmp_path / "out", file, part_rows=3)
    address = Path(f"file:{tmp_path}")
    assert extract(address / "there", address / "a.jsonl", part_rows=3) == (9, 0, 1)
    for name, content in contents(tmp_path / "out").items():
        if name.startswith("part-"):
            assert (tmp_path / "there" / name).read_bytes() == content


def test_a_slow_writer_holds_the_reader_back(
    extract: Extract, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: Path
) -> None:
    """However long a part takes, no more than a few are read: memory does not grow with files."""
    rows = [{"text": f"w{n}"} for n in range(300)]
    file = write_rows(tmp_path / "a.jsonl", rows)
    is_read, ahead = 0, []

    def counted(*arguments: Any) -> Iterator[Any]:
        nonlocal is_read
        for part in read_parts(*arguments):
            is_read += 1
            yield part

    def on_progress(done: int, total: int, aside: int) -> None:
        ahead.append(is_read - done)  # each part has one row

    monkeypatch.setattr(run, "read_parts", counted)
    request = Request([file], tmp_path / "out", Options(), model=model, part_rows=1)
    extract_files(request, on_progress=on_progress)
    assert len(ahead) == 300
    assert max(ahead) <= 1


def test_progress_counts_rows_and_those_set_aside(
    extract: Extract, tmp_path: Path, model: Path
) -> None:
    rows = [{"text": f"w{n} {'poison' * (n == 4)}"} for n in range(10)]
    file = write_rows(tmp_path / "a.jsonl", rows)
    told: list[tuple[int, int, int]] = []
    request = Request([file], tmp_path / "out", Options(), model=model, part_rows=4)
    extract_files(request, on_progress=lambda *progress: told.append(progress))
    assert told == [(4, 10, 0), (8, 10, 1), (10, 10, 1)]
    (tmp_path / "out" / "part-0000001.parquet").unlink()
    told.clear()
    extract_files(request, on_progress=lambda *progress: told.append(progress))
    assert told == [(4, 4, 1)]


def test_all_that_is_missing_is_to_do(tmp_path: Path, model: Path) -> None:
    file = write_rows(tmp_path / "a.jsonl", [{"text": f"w{n}"} for n in range(10)])
    request = Request([file], tmp_path / "out", Options(), model=model, part_rows=4)
    begun = Run(request, run._scan)
    assert begun.todo == {0, 1, 2}
    parts = list(read_parts(begun.job, begun.groups, {1}))
    assert [(part.number, [source.text for source in part.sources]) for part in parts] == [
        (1, ["w4", "w5", "w6", "w7"])
    ]
