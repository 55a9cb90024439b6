"""Files become documents, or one line that says what is wrong with which line."""

import gzip
import json
import lzma
from pathlib import Path
from typing import Any

import pytest

from phraseloom.errors import CorpusError
from phraseloom.evaluate.files import (
    read_documents,
    read_judged,
    score_predictions,
    write_predictions,
)
from phraseloom.evaluate.phrases import Judged, Split, judge_text
from phraseloom.evaluate.report import score_documents

SOURCES = ["graph models <eos> we study graph models .", "<eos> trees grow"]
TARGETS = ["graph models;kernels", "trees"]
PREDICTIONS = ["graph models;models", ""]
EXPECTED = [
    judge_text(
        "graph models we study graph models .",
        ["graph models", "kernels"],
        PREDICTIONS[0].split(";"),
    ),
    judge_text("trees grow", ["trees"], []),
]
CORPUS = [
    {
        "id": "a",
        "title": "graph models",
        "abstract": "we study graph models .",
        "keywords": ["graph models", "kernels"],
    },
    {"id": "b", "abstract": "trees grow", "keywords": ["trees"]},
]
ROWS: list[dict[str, Any]] = [
    {"id": "a", "phrases": [{"text": "graph models", "score": 0.9}, "models"]},
    {"id": "b", "phrases": []},
]


def write(path: Path, lines: list[str]) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def write_json(path: Path, rows: list[Any]) -> Path:
    return write(path, [json.dumps(row) for row in rows])


def read_text(
    folder: Path, sources: list[str], targets: list[str], said: list[str]
) -> list[Judged]:
    return read_judged(
        write(folder / "source.txt", sources),
        write(folder / "targets.txt", targets),
        write(folder / "predictions.txt", said),
    )


def read_rows(folder: Path, corpus: list[Any], rows: list[Any]) -> list[Judged]:
    corpus_file = write_json(folder / "corpus.jsonl", corpus)
    return read_judged(corpus_file, None, write_json(folder / "said.jsonl", rows))


def test_text_lines_are_documents(tmp_path: Path) -> None:
    assert read_text(tmp_path, SOURCES, TARGETS, PREDICTIONS) == EXPECTED


def test_json_rows_are_the_same_documents(tmp_path: Path) -> None:
    assert read_rows(tmp_path, CORPUS, ROWS) == EXPECTED


def test_rows_are_matched_by_id_not_by_line(tmp_path: Path) -> None:
    assert read_rows(tmp_path, CORPUS, ROWS[::-1]) == EXPECTED


def test_rows_without_ids_are_matched_by_line(tmp_path: Path) -> None:
    rows = [{"phrases": row["phrases"]} for row in ROWS]

    assert read_rows(tmp_path, CORPUS, rows) == EXPECTED


def test_a_json_corpus_takes_predictions_and_targets_from_text(tmp_path: Path) -> None:
    corpus = write_json(tmp_path / "corpus.jsonl", CORPUS)
    said = write(tmp_path / "said.txt", PREDICTIONS)
    targets = write(tmp_path / "targets.txt", TARGETS)

    assert read_judged(corpus, None, said) == EXPECTED
    assert read_judged(corpus, targets, said) == EXPECTED


@pytest.mark.parametrize(("suffix", "module"), [(".xz", lzma), (".gz", gzip)])
def test_compressed_files_are_read(tmp_path: Path, suffix: str, module: Any) -> None:
    plain = write_json(tmp_path / "corpus.jsonl", CORPUS).read_bytes()
    packed = tmp_path / f"corpus.jsonl{suffix}"
    packed.write_bytes(module.compress(plain))

    assert read_judged(packed, None, write_json(tmp_path / "said.jsonl", ROWS)) == EXPECTED


def test_windows_line_ends_and_byte_order_marks_do_no_harm(tmp_path: Path) -> None:
    paths = []
    for name, lines in (("s.txt", SOURCES), ("t.txt", TARGETS), ("p.txt", PREDICTIONS)):
        paths.append(tmp_path / name)
        text = "\ufeff" + "".join(f"{line}\r\n" for line in lines)
        paths[-1].write_bytes(text.encode())

    assert read_judged(*paths) == EXPECTED


def test_a_rare_line_separator_inside_a_line_does_not_end_it(tmp_path: Path) -> None:
    said = ["graph\u2028models;models", ""]

    assert read_text(tmp_path, SOURCES, TARGETS, said) == EXPECTED


@pytest.mark.parametrize(
    ("sources", "targets", "said", "message"),
    [
        (SOURCES, TARGETS[:1], PREDICTIONS, "targets.txt ends before line 2 of .*source.txt"),
        (SOURCES, TARGETS, [*PREDICTIONS, "x"], "has 2 documents but .*predictions.txt has 3"),
        (SOURCES, SOURCES, PREDICTIONS, "targets.txt:1: expected keyphrases with ';'"),
        (["a <eos> b <eos> c"], ["a"], ["b"], "source.txt:1: expected one document"),
        (SOURCES, TARGETS, SOURCES, "predictions.txt:1: expected phrases separated by ';'"),
        (SOURCES, TARGETS, ['{"phrases": []}', ""], "predictions.txt:1: expected phrases"),
        ([], [], PREDICTIONS, "source.txt is empty"),
        (SOURCES, TARGETS, [], "predictions.txt is empty"),
    ],
)
def test_what_is_wrong_with_text_files_is_named(
    tmp_path: Path, sources: list[str], targets: list[str], said: list[str], message: str
) -> None:
    with pytest.raises(CorpusError, match=message):
        read_text(tmp_path, sources, targets, said)


@pytest.mark.parametrize(
    ("corpus", "rows", "message"),
    [
        (CORPUS, ROWS[:1], "no row for id 'b' of .* add one, with an empty list"),
        (CORPUS, [*ROWS, {"id": "c", "phrases": []}], "row for id 'c', which is not in"),
        (CORPUS, [ROWS[0], *ROWS], "said.jsonl:2: id 'a' occurs twice"),
        (CORPUS, [ROWS[0], {"phrases": []}], 'said.jsonl:2: give every row an "id", or none'),
        (CORPUS, [{"phrases": []}], "has 2 documents but .* has 1 lines"),
        (CORPUS, [{"id": "a"}, ROWS[1]], 'said.jsonl:1: expected "phrases" with a list'),
        (CORPUS, [{"id": "a", "phrases": [1]}, ROWS[1]], "must be a string or an object"),
        (CORPUS, [{"id": "a", "phrases": [{}]}, ROWS[1]], "must be a string or an object"),
        (CORPUS, ["text"], "said.jsonl:1: not a JSON object"),
        ([{"id": "a", "title": "t", "keywords": []}], ROWS[:1], "no column text or abstract"),
        ([{"id": "a", "title": 1, "abstract": "t"}], ROWS[:1], "title is not a string"),
        ([{"id": "a", "abstract": "t"}], ROWS[:1], "corpus.jsonl:1: no column keywords"),
    ],
)
def test_what_is_wrong_with_json_rows_is_named(
    tmp_path: Path, corpus: list[Any], rows: list[Any], message: str
) -> None:
    with pytest.raises(CorpusError, match=message):
        read_rows(tmp_path, corpus, rows)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("said.txt", b"caf\xe9\n\n", "said.txt:1 is not UTF-8"),
        ("said.jsonl", b"{not json}\n", r"said.jsonl:1: not valid JSON"),
        ("said.jsonl", b"[" * 100_000, r"said.jsonl:1: not valid JSON"),
        ("said.jsonl", b"\n\n", "said.jsonl is empty"),
        ("said.jsonl.xz", b"not packed", "cannot read"),
        ("said.jsonl.gz", b"not packed", "cannot read"),
    ],
)
def test_damaged_files_are_named(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    damaged = tmp_path / name
    damaged.write_bytes(content)

    with pytest.raises(CorpusError, match=message):
        read_judged(write_json(tmp_path / "corpus.jsonl", CORPUS), None, damaged)


def test_missing_files_and_folders_are_named(tmp_path: Path) -> None:
    corpus = write_json(tmp_path / "corpus.jsonl", CORPUS)

    with pytest.raises(CorpusError, match="nowhere.txt: No such file"):
        read_judged(corpus, None, tmp_path / "nowhere.txt")
    with pytest.raises(CorpusError, match="Is a directory"):
        read_judged(corpus, None, tmp_path)


def test_a_source_finds_its_targets_by_name(tmp_path: Path) -> None:
    source = write(tmp_path / "kp_src.txt", SOURCES)
    write(tmp_path / "kp_trg.txt", TARGETS)

    assert read_judged(source, None, write(tmp_path / "said.txt", PREDICTIONS)) == EXPECTED


def test_what_is_written_is_scored_the_same(tmp_path: Path) -> None:
    for rows in (CORPUS, [{**row, "id": None} for row in CORPUS]):
        corpus = write_json(tmp_path / "corpus.jsonl", rows)
        documents = read_documents(corpus)
        lists = [["graph models", "models"], []]
        write_predictions(tmp_path / "new" / "said.jsonl", documents, lists)
        judged = read_judged(corpus, None, tmp_path / "new" / "said.jsonl")

        assert judged == EXPECTED
        report = score_predictions(documents, lists, Split.spaces)
        assert report.values == score_documents(judged).values


def test_a_corpus_without_reference_phrases_cannot_be_scored(tmp_path: Path) -> None:
    for rows, message in (([], "has no documents"), ([{"text": "t", "keywords": []}], "reference")):
        with pytest.raises(CorpusError, match=message):
            read_documents(write_json(tmp_path / "corpus.jsonl", rows))


def test_text_sources_need_a_targets_file(tmp_path: Path) -> None:
    source = write(tmp_path / "source.txt", SOURCES)

    with pytest.raises(CorpusError, match="give them with --targets"):
        read_judged(source, None, write(tmp_path / "said.txt", PREDICTIONS))
