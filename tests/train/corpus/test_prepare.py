"""A prepared corpus is a function of its inputs: whatever was killed, and however many worked."""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from phraseloom.errors import CorpusError, ParserError
from phraseloom.train.corpus import prepare
from phraseloom.train.corpus.prepare import PrepareOptions, is_lowered, prepare_corpus
from phraseloom.train.corpus.prepared import PreparedCorpus
from tests.train.corpus.chains import row, write_rows

CONLLU = PrepareOptions(parser="conllu", processes=1)
JOB = """
import sys
from pathlib import Path
from phraseloom.train.corpus import prepare

if __name__ == "__main__":
    prepare._CHUNK = 2
    options = prepare.PrepareOptions(parser="conllu", processes=2)
    prepare.prepare_corpus([Path(sys.argv[1])], Path(sys.argv[2]), options)
"""


@pytest.fixture
def corpus_file(tmp_path: Path) -> Path:
    """Forty documents, each with a word of its own."""
    rows = [
        row(
            f"word{i} graph . a node {i}", ["graphs", "tree"], title=f"title {i}", set=f"set{i % 3}"
        )
        for i in range(40)
    ]
    return write_rows(tmp_path / "rows.jsonl", rows)


def contents(directory: Path) -> dict[str, bytes]:
    return {str(f.relative_to(directory)): f.read_bytes() for f in directory.rglob("*.*")}


def start_job(tmp_path: Path, corpus_file: Path, out: Path) -> "subprocess.Popen[bytes]":
    script = tmp_path / "job.py"
    script.write_text(JOB, encoding="utf-8")
    return subprocess.Popen([sys.executable, str(script), str(corpus_file), str(out)])


def children(pid: int) -> list[int]:
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
    return [int(child) for child in text.split()]


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2][1] != "Z"
    except FileNotFoundError:
        return False


def wait_until(condition: Callable[[], bool], *, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.01)


def kill_at(shards: int, job: "subprocess.Popen[bytes]", out: Path) -> bool:
    """Kill a job when so many shards are there; its workers must end by themselves.

    Returns:
        Whether it was killed at work: it had workers and had not finished.
    """
    wait_until(lambda: len(list(out.glob("shards/*.arrow"))) >= shards or job.poll() is not None)
    workers = children(job.pid) if job.poll() is None else []
    job.kill()
    job.wait()
    wait_until(lambda: not any(map(is_running, workers)))
    return bool(workers) and (out / "shards").exists()


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks for processes in /proc")
def test_killed_jobs_go_on_and_give_the_same_bytes(tmp_path: Path, corpus_file: Path) -> None:
    undisturbed, out = tmp_path / "undisturbed", tmp_path / "out"
    assert start_job(tmp_path, corpus_file, undisturbed).wait() == 0

    at_work = [kill_at(shards, start_job(tmp_path, corpus_file, out), out) for shards in (1, 6, 12)]

    assert start_job(tmp_path, corpus_file, out).wait() == 0
    assert any(at_work)  # a fast machine may be done before the later kills
    assert contents(out) == contents(undisturbed)
    assert sorted(contents(out)) == ["documents.arrow", "meta.json", "stems.arrow", "words.arrow"]


def test_the_number_of_processes_and_their_replacement_change_nothing(
    tmp_path: Path, corpus_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prepare, "_CHUNK", 7)
    prepare_corpus([corpus_file], tmp_path / "one", CONLLU)
    monkeypatch.setattr(prepare, "_CHUNKS_OF_POOL", 3)
    prepare_corpus([corpus_file], tmp_path / "two", PrepareOptions(parser="conllu", processes=2))

    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_one_process_is_this_one(
    tmp_path: Path, corpus_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prepare, "WorkerPool", None)  # it would need a guarded main module
    assert prepare_corpus([corpus_file], tmp_path / "one", CONLLU).documents == 40


def test_a_run_that_died_while_merging_goes_on_with_its_shards(
    tmp_path: Path, corpus_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, undisturbed = tmp_path / "out", tmp_path / "undisturbed"
    prepare_corpus([corpus_file], undisturbed, CONLLU)
    with monkeypatch.context() as patch:
        patch.setattr("phraseloom.train.corpus.shards.write_json", lambda *_: 1 / 0)  # the last act
        with pytest.raises(ZeroDivisionError):
            prepare_corpus([corpus_file], out, CONLLU)
    with pytest.raises(CorpusError, match="not a finished corpus"):
        PreparedCorpus.open(out)
    with monkeypatch.context() as patch:
        patch.setattr(prepare, "_parse_chunk", None)  # no shard may be written again
        prepare_corpus([corpus_file], out, CONLLU)

    assert contents(out) == contents(undisturbed)


def test_a_finished_corpus_is_left_alone(tmp_path: Path, corpus_file: Path) -> None:
    out = tmp_path / "out"
    first = prepare_corpus([corpus_file], out, CONLLU)
    before = (out / "meta.json").stat().st_mtime_ns
    assert prepare_corpus([corpus_file], out, CONLLU) == first == (40, 0)
    assert (out / "meta.json").stat().st_mtime_ns == before


def test_another_corpus_is_not_mixed_in(tmp_path: Path, corpus_file: Path) -> None:
    finished, unfinished, foreign = (tmp_path / name for name in ("finished", "half", "foreign"))
    prepare_corpus([corpus_file], finished, CONLLU)
    (unfinished / "shards").mkdir(parents=True)
    (unfinished / "shards" / "signature.json").write_text("{}", encoding="utf-8")
    foreign.mkdir()
    (foreign / "letters.txt").touch()
    with corpus_file.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row("one more")) + "\n")

    for out in (finished, unfinished):
        with pytest.raises(CorpusError, match="other files or with other options; delete it"):
            prepare_corpus([corpus_file], out, CONLLU)
    with pytest.raises(CorpusError, match="letters.txt.*choose another --out"):
        prepare_corpus([corpus_file], foreign, CONLLU)
    with pytest.raises(CorpusError, match="is a file"):
        prepare_corpus([corpus_file], corpus_file, CONLLU)


def test_progress_counts_every_document_once(tmp_path: Path, corpus_file: Path) -> None:
    with corpus_file.open("a", encoding="utf-8") as file:
        file.write("not a row\n")
    seen: list[tuple[int, int]] = []
    outcome = prepare_corpus(
        [corpus_file], tmp_path / "out", CONLLU, on_progress=lambda *counts: seen.append(counts)
    )

    assert outcome == (40, 1)
    assert seen[0] == (0, 41)
    assert seen[-1] == (40, 40)


def test_no_documents_and_unparsable_ones_are_clear_errors(tmp_path: Path) -> None:
    empty = write_rows(tmp_path / "empty.jsonl", [])
    with pytest.raises(CorpusError, match="no documents in .*empty.jsonl"):
        prepare_corpus([empty], tmp_path / "a", CONLLU)
    broken = {"id": "d9", "text": "1\tword", "keywords": []}
    rows = write_rows(tmp_path / "rows.jsonl", [row("good"), broken])
    with pytest.raises(ParserError, match="document d9: "):
        prepare_corpus([rows], tmp_path / "b", CONLLU)
    with pytest.raises(CorpusError, match="lower-case would spoil"):
        options = PrepareOptions(parser="conllu", lower_case=0.5)
        prepare_corpus([rows], tmp_path / "c", options)


def test_the_share_of_lowered_documents_is_the_one_asked_for() -> None:
    lowered = [is_lowered("same id", i, 0.3) for i in range(2000)]

    assert abs(sum(lowered) / 2000 - 0.3) < 0.05
    assert lowered == [is_lowered("same id", i, 0.3) for i in range(2000)]
    assert not any(is_lowered("x", i, 0.0) for i in range(100))
    assert all(is_lowered("x", i, 1.0) for i in range(100))


@pytest.mark.slow
def test_odd_texts_are_parsed_or_skipped_and_lower_cased_if_asked(tmp_path: Path) -> None:
    texts = [
        "",
        " \n",
        "\0",
        "Word",
        "😀 Emoji 😀",
        "שלום עולם",
        "A B\0C",
        "Graphs hold Nodes. " * 9,
    ]
    rows = [{"text": text, "keywords": ["graphs", "😀"]} for text in texts]
    file = write_rows(tmp_path / "odd.jsonl", rows)
    outcome = prepare_corpus([file], tmp_path / "out", PrepareOptions(lower_case=1, processes=1))

    corpus = PreparedCorpus.open(tmp_path / "out")
    assert outcome == (5, 3)
    assert [corpus.text(i) for i in range(5)] == [text.lower() for text in texts[3:]]
    for i in range(5):
        record = corpus.document(i)
        shown = [corpus.text(i)[a:b] for a, b in zip(record.start, record.end, strict=True)]
        assert shown == [corpus.words[word] for word in record.word]
