"""The ``extract`` and ``models`` commands, with a tiny model of random weights."""

import csv
import gzip
import io
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from phraseloom.extractor import Extractor
from phraseloom.network import registry
from phraseloom.network.weights import save_model
from phraseloom.text.parsers import load_parser
from tests.builders import make_styled_model
from tests.io.samples import make_docx
from tests.io.test_atomic import kill, start_writing

if TYPE_CHECKING:
    from tests.conftest import Outcome

Run = Callable[..., "Outcome"]

TEXT = "Graph networks read 😀 dependency trees.\nGraph networks copy phrases from the trees.\n"
OTHER = "Coral reefs decline where oceans turn sour."


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    network, config = make_styled_model()
    directory = tmp_path_factory.mktemp("models") / "tiny"
    notes = {"scores": {"inspec": {"F1@5": 0.25}}, "licence": "CC BY 4.0", "step": 3}
    save_model(directory, network, config, notes=notes)
    return directory


@pytest.fixture(scope="module", autouse=True)
def _one_parser() -> Iterator[None]:
    """Load the parser once: all commands of this file use the same."""
    parser = load_parser()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("phraseloom.extractor.load_parser", lambda name: parser)
        yield


@pytest.fixture(scope="module")
def extractor(model: Path) -> Extractor:
    return Extractor.load(model)


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "tree"
    (folder / "sub").mkdir(parents=True)
    (folder / "a.txt").write_text(TEXT, encoding="utf-8")
    (folder / "bad.txt").write_bytes(b"na\xefve")
    (folder / "sub" / "b.md").write_text(f"# {OTHER}", encoding="utf-8")
    (folder / "sub" / "code.py").write_text("import this")
    return folder


def expected(extractor: Extractor, name: object, text: str, title: str = "") -> dict[str, Any]:
    keyphrases = extractor.extract(text, title=title, top=4)
    assert keyphrases
    phrases = [
        {
            "text": phrase.text,
            "score": pytest.approx(phrase.score, abs=1e-5),
            "rank": phrase.rank,
            "stems": list(phrase.stems),
            "spans": [list(span) for span in phrase.spans],
            "title_spans": [list(span) for span in phrase.title_spans],
        }
        for phrase in keyphrases
    ]
    return {"source": str(name), "phrases": phrases}


def test_json_of_a_file_is_what_python_gives(
    run: Run, model: Path, extractor: Extractor, text: Path
) -> None:
    outcome = run("extract", text, "--model", model, "--top", 4, "--format", "json")
    assert (outcome.status, outcome.err) == (0, "")
    assert json.loads(outcome.out) == expected(extractor, text, TEXT)


def test_piped_text_is_read_and_the_title_counts(
    run: Run, model: Path, extractor: Extractor, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = ("--model", model, "--top", 4, "--title", "Trees", "--format", "jsonl")
    for arguments in ((), ("-",)):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode())))
        outcome = run("extract", *arguments, *options)
        assert json.loads(outcome.out) == expected(extractor, "stdin", TEXT, "Trees")


def test_a_text_can_be_given_itself(run: Run, model: Path, extractor: Extractor) -> None:
    options = ("--model", model, "--top", 4, "--title", "Trees", "--format", "json")
    outcome = run("extract", "--text", TEXT, *options)
    assert json.loads(outcome.out) == expected(extractor, "text", TEXT, "Trees")
    refused = run("extract", "a.txt", "--text", TEXT)
    assert (refused.status, refused.out) == (2, "")
    assert "--text or files, not both" in refused.err


def test_every_option_is_that_of_python(
    run: Run, model: Path, extractor: Extractor, text: Path, tmp_path: Path
) -> None:
    phrases = ["dependency tree", "graph network", "phrases", "coral reef"]
    listed = tmp_path / "phrases.txt"
    listed.write_text("dependency tree\n\n  graph network \r\nphrases\ncoral reef\n")
    options: list[tuple[list[object], dict[str, Any]]] = [
        (["--candidates", listed], {"candidates": phrases}),
        (["--seed", "the trees", "--seed", "copy"], {"seeds": ["the trees", "copy"]}),
        (["--seed", f"@{listed}"], {"seeds": phrases}),
        (["--diversity", 0], {"diversity": 0.0}),
        (["--diversity", 1], {"diversity": 1.0}),
        (["--exclude", "trees", "--exclude", f"@{listed}"], {"exclude": ["trees", *phrases]}),
        (["--min-words", 2], {"min_words": 2}),
        (["--max-words", 1], {"max_words": 1}),
        (["--min-score", 0.2], {"min_score": 0.2}),
        (["--style", "indexer"], {"style": "indexer"}),
        (["--threads", 2], {}),
    ]
    results = set()
    for arguments, changes in options:
        outcome = run("extract", text, "--model", model, "--top", 4, "--format", "text", *arguments)
        wanted = [phrase.text for phrase in extractor.extract(TEXT, top=4, **changes)]
        assert outcome.out.splitlines() == wanted, arguments
        results.add(outcome.out)
    assert len(results) > len(options) // 2, "most options change the list"


def test_candidates_that_cannot_be_read_are_refused(run: Run, text: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty.txt"
    empty.write_text(" \n\n")
    for path, problem in ((empty, "write one a line"), (tmp_path / "none", "cannot read")):
        outcome = run("extract", text, "--candidates", path)
        assert (outcome.status, outcome.out) == (2, "")
        [line] = outcome.err.splitlines()
        assert str(path) in line
        assert problem in line


def test_highlighted_json_holds_the_text_of_the_spans(run: Run, model: Path, tree: Path) -> None:
    path = tree / "sub" / "b.md"
    outcome = run("extract", path, "--model", model, "--format", "json", "--highlight")
    result = json.loads(outcome.out)
    assert (result["title"], result["text"]) == ("", OTHER)
    for phrase in result["phrases"]:
        assert phrase["text"] in {OTHER[start:end] for start, end in phrase["spans"]}


def test_rows_are_documents(run: Run, model: Path, extractor: Extractor, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps({"page": TEXT}) + "\n\n" + json.dumps({"page": "", "id": 7}) + "\n")
    options = ("--model", model, "--top", 4, "--format", "json", "--column", "page")
    outcome = run("extract", path, *options)
    assert json.loads(outcome.out) == [
        {**expected(extractor, f"{path}:1", TEXT), "row": 1},
        {"source": f"{path}:3", "row": 2, "id": 7, "phrases": []},
    ]
    assert outcome.status == 0


ROWS = (
    'id,title,abstract,year,score\nx1,T,"One graph.\nTwo trees.",2021,-5\n,,,,\nx3,,Reefs,1,=1+1\n'
)


def test_a_result_can_be_joined_to_its_row(run: Run, model: Path, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(ROWS, encoding="utf-8")
    options = ("--model", model, "--top", 1)
    lines = run("extract", path, *options, "--format", "jsonl", "--keep").out.splitlines()
    first, second, third = map(json.loads, lines)
    assert (first["row"], first["id"]) == (1, "x1")
    assert first["columns"] == {"year": "2021", "score": "-5"}
    assert (second["row"], third["row"], third["id"]) == (2, 3, "x3")
    assert "columns" not in json.loads(
        run("extract", path, *options, "--format", "jsonl").out[:-1].splitlines()[0]
    )

    rows = list(
        csv.DictReader(io.StringIO(run("extract", path, *options, "--format", "csv", "--keep").out))
    )
    assert [(row["row"], row["id"], row["year"]) for row in rows] == [
        ("1", "x1", "2021"),
        ("3", "x3", "1"),
    ]
    assert [row["row_score"] for row in rows] == ["-5", "'=1+1"], "score is a column of ours"


def test_columns_that_csv_cannot_hold_are_named(run: Run, model: Path, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    rows = [{"text": TEXT, "year": 1}, {"text": TEXT, "year": 2, "place": "x", "tags": ["a"]}]
    path.write_text("\n".join(map(json.dumps, rows)))
    outcome = run("extract", path, "--model", model, "--top", 1, "--format", "csv", "--keep")
    assert [row["year"] for row in csv.DictReader(io.StringIO(outcome.out))] == ["1", "2"]
    assert "as the first row has none: place, tags; take jsonl" in outcome.err


def test_csv_has_a_row_for_each_phrase(
    run: Run, model: Path, extractor: Extractor, text: Path
) -> None:
    outcome = run("extract", text, "--model", model, "--top", 15, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(outcome.out)))
    columns = ["file", "row", "id", "rank", "text", "score", "start", "end", "label"]
    assert list(rows[0]) == columns
    phrases = extractor.extract(TEXT, top=15)
    assert any(len(phrase.spans) > 1 for phrase in phrases)
    for row, phrase in zip(rows, phrases, strict=True):
        assert (row["file"], row["rank"], row["text"]) == (str(text), str(phrase.rank), phrase.text)
        assert (row["row"], row["id"]) == ("", "")
        assert (int(row["start"]), int(row["end"])) == phrase.spans[0]


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", "＝"])
def test_no_cell_is_run_by_a_spreadsheet(run: Run, model: Path, tmp_path: Path, start: str) -> None:
    row = {"id": f"{start}cmd|' /C calc'!A0", "text": TEXT, "note": f'{start}HYPERLINK("x")'}
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(row))
    outcome = run("extract", path, "--model", model, "--top", 1, "--format", "csv", "--keep")
    [cells] = csv.DictReader(io.StringIO(outcome.out, newline=""))
    assert (cells["id"], cells["note"]) == (f"'{row['id']}", f"'{row['note']}")


def test_numbers_stay_numbers(run: Run, model: Path, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("id,text,a,b\n-1,Graph networks.,-2.5e-3,+4\n")
    outcome = run("extract", path, "--model", model, "--top", 1, "--format", "csv", "--keep")
    [cells] = csv.DictReader(io.StringIO(outcome.out))
    assert (cells["id"], cells["a"], cells["b"]) == ("-1", "-2.5e-3", "+4")


def test_text_and_tables_have_no_colours_in_a_pipe(
    run: Run, model: Path, extractor: Extractor, text: Path
) -> None:
    phrases = [phrase.text for phrase in extractor.extract(TEXT, top=4)]
    plain = run("extract", text, "--model", model, "--top", 4, "--format", "text").out
    assert plain.splitlines() == phrases
    many = run("extract", text, text, "--model", model, "--top", 4, "--format", "text").out
    assert many.splitlines() == [f"{text}\t{phrase}" for phrase in phrases] * 2
    table = run("extract", text, "--model", model, "--top", 4).out
    assert all(phrase in table for phrase in phrases)
    assert "\x1b" not in table


def test_highlighted_text_is_the_text_with_stars(
    run: Run, model: Path, extractor: Extractor, text: Path
) -> None:
    outcome = run("extract", text, "--model", model, "--highlight", "--format", "text")
    assert outcome.out.replace("**", "") == TEXT
    starred = " ".join(re.findall(r"\*\*(.+?)\*\*", outcome.out))
    assert extractor.extract(TEXT)[0].text in starred


def test_a_terminal_sees_colours_but_no_control_characters(
    run: Run, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "hostile.txt"
    path.write_text("Graph\x1b]0;owned\x07 networks read trees.")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    shown = run("extract", path, "--model", model, "--highlight").out
    assert "\x1b[" in shown
    assert "\x1b]" not in shown
    assert "\x07" not in shown


def test_what_is_kept_of_a_row_does_not_steer_a_terminal(
    run: Run, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps({"text": TEXT, "note": "\x1b[2J", "\x1b]0;owned\x07": 1}))
    arguments = ["extract", path, "--model", model, "--top", 1, "--format", "csv", "--keep"]
    assert "\x1b[2J" in run(*arguments).out  # into a file it goes as it is
    monkeypatch.setenv("FORCE_COLOR", "1")
    shown = run(*arguments).out
    assert "\ufffd[2J" in shown
    assert not {"\x1b", "\x07"} & set(shown)


@pytest.mark.parametrize("format_", ["json", "jsonl"])
def test_json_says_the_same_on_a_terminal_but_does_not_steer_it(
    run: Run, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format_: str
) -> None:
    path = tmp_path / "rows.jsonl"
    note = "\x1b[2J \x7f \x9b2J \u202e naïve 😀"
    path.write_text("".join(json.dumps({"text": TEXT, "note": note}) + "\n" for _ in range(2)))
    arguments = ["extract", path, "--model", model, "--top", 1, "--format", format_, "--keep"]
    written = run(*arguments).out
    assert "\x9b" in written  # into a file it goes as it is
    monkeypatch.setenv("FORCE_COLOR", "1")
    shown = run(*arguments).out
    assert not {"\x1b", "\x7f", "\x9b", "\u202e"} & set(shown)
    assert "naïve 😀" in shown
    rows = json.loads(shown) if format_ == "json" else map(json.loads, shown.splitlines())
    assert [row["columns"]["note"] for row in rows] == [note] * 2


def test_a_page_does_not_steer_a_terminal(
    run: Run, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "hostile.txt"
    path.write_text("Graph \x9b2J networks \u202e read trees.", encoding="utf-8")
    monkeypatch.setenv("FORCE_COLOR", "1")
    shown = run("extract", path, "--model", model, "--format", "html").out
    assert "networks" in shown
    assert not {"\x9b", "\u202e"} & set(shown)


def test_a_page_holds_every_document(run: Run, model: Path, tree: Path, tmp_path: Path) -> None:
    page = tmp_path / "new" / "page.html"
    outcome = run("extract", tree, "--model", model, "--out", page)
    assert (outcome.status, outcome.out) == (1, "")
    content = page.read_text(encoding="utf-8")
    assert content.startswith("<!doctype html>")
    assert content.count("<article") == 2
    assert "<mark" in content


def test_one_bad_file_is_reported_and_the_rest_done(run: Run, model: Path, tree: Path) -> None:
    outcome = run("extract", tree, "--model", model, "--format", "jsonl")
    assert outcome.status == 1
    sources = [json.loads(line)["source"] for line in outcome.out.splitlines()]
    assert sources == [str(tree / "a.txt"), str(tree / "sub" / "b.md")]
    ignored, problem = outcome.err.splitlines()
    assert "1 .py" in ignored
    assert "bad.txt is not UTF-8 (byte 2)" in problem


def test_a_folder_gets_a_file_for_each_input_and_is_gone_on_with(
    run: Run, model: Path, extractor: Extractor, tree: Path, tmp_path: Path
) -> None:
    out = tree / "results"
    options = ("--model", model, "--top", 4, "--out", out)
    assert run("extract", tree, *options).status == 1
    first, second = out / "a.txt.json", out / "sub" / "b.md.json"
    assert sorted(file for file in out.rglob("*") if file.is_file()) == [first, second]
    assert json.loads(first.read_text()) == expected(extractor, tree / "a.txt", TEXT)

    first.write_text("kept")
    second.unlink()
    (tree / "bad.txt").write_text(OTHER)
    outcome = run("extract", tree, *options)
    assert outcome.status == 0
    assert first.read_text() == "kept"
    assert second.exists()
    assert (out / "bad.txt.json").exists()
    assert "1 were there already" in outcome.err

    assert run("extract", tree, *options, "--force").status == 0
    assert json.loads(first.read_text()) == expected(extractor, tree / "a.txt", TEXT)


def test_a_batch_that_lacks_a_result_is_searched_whole(
    run: Run, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Digits of scores depend on the batch, so a stopped run goes on with the same ones."""
    texts, out = tmp_path / "texts", tmp_path / "out"
    texts.mkdir()
    for number in range(12):
        (texts / f"{number:02}.txt").write_text(f"Tree {number} grows.")
    command = ("extract", texts, "--model", model, "--out", out)
    assert run(*command).status == 0
    results = {path: path.read_bytes() for path in out.iterdir()}
    searched: list[str] = []
    extract = Extractor.extract_many

    def spy(self: Extractor, sources: Any, *arguments: Any, **options: Any) -> Any:
        held = list(sources)
        searched.extend(source.text for source in held)
        return extract(self, held, *arguments, **options)

    monkeypatch.setattr(Extractor, "extract_many", spy)
    (out / "09.txt.json").unlink()
    (out / "11.txt.json").unlink()
    outcome = run(*command)

    assert {path: path.read_bytes() for path in out.iterdir()} == results
    assert searched == [f"Tree {number} grows." for number in range(8, 12)]
    assert "wrote 2 files" in outcome.err
    assert "10 were there already" in outcome.err


def test_nothing_is_loaded_when_all_is_done(run: Run, model: Path, text: Path) -> None:
    out = text.parent / "out"
    assert run("extract", text, "--model", model, "--out", out).status == 0
    assert run("extract", text, "--model", "absent", "--out", out).status == 0


def test_a_result_file_is_whole_or_not_there(
    run: Run, model: Path, tmp_path: Path, text: Path
) -> None:
    out = tmp_path / "one.json"
    out.write_text("old")
    outcome = run("extract", text, "--model", "absent", "--out", out)
    assert outcome.status == 2
    assert out.read_text() == "old"
    assert sorted(tmp_path.iterdir()) == [out, text]


@pytest.mark.slow
def test_several_processes_give_the_same(run: Run, model: Path, tmp_path: Path) -> None:
    rows = [{"text": f"{TEXT} Row {i}." if i % 3 else ""} for i in range(20)]
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n{bad\n")
    options = ("--model", model, "--format", "text")
    one, two = run("extract", path, *options), run("extract", path, *options, "--jobs", 2)
    assert (two.status, two.out, two.err) == (one.status, one.out, one.err)
    assert one.status == 1
    failed = run("extract", path, "--model", "absent", "--jobs", 2)
    assert failed.status == 2
    assert "absent" in failed.err.splitlines()[-1]


def test_a_mistake_is_one_line_and_status_two(
    run: Run, model: Path, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "_SHIPPED", tmp_path / "none")
    folder = tmp_path / "twin"
    folder.mkdir()
    (folder / "text.txt").write_text(OTHER)
    empty = tmp_path / "empty"
    empty.mkdir()
    known = ("--model", model)
    mistakes: dict[tuple[object, ...], str] = {
        (text,): "give its directory with --model",
        (text, "--model", "nowhere"): "nowhere",
        (text, text, *known, "--title", "T"): "--title is for one document",
        (text, *known, "--style", "poet"): "author, indexer",
        (text, *known, "--format", "csv", "--highlight"): "--highlight",
        (text, *known, "--out", tmp_path / "x.png"): ".html",
        (text, *known, "--out", text / "x.json"): "cannot write",
        (text, folder, *known, "--out", tmp_path / "out"): "two inputs",
        (empty, *known): "no files to read",
    }
    for arguments, message in mistakes.items():
        outcome = run("extract", *arguments)
        assert (outcome.status, outcome.out) == (2, "")
        assert message in outcome.err
        assert outcome.err.count("\n") == 1


def test_without_files_a_terminal_is_told_what_to_do(
    run: Run, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr("sys.stdin", terminal)
    outcome = run("extract", "--model", model)
    assert (outcome.status, outcome.out) == (2, "")
    assert "name files, pipe a text" in outcome.err


def test_models_are_listed(run: Run, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_SHIPPED", model.parent)
    outcome = run("models")
    for part in ("tiny", "MB", "inspec F1@5 0.250", "CC BY 4.0"):
        assert part in outcome.out
    [listed] = json.loads(run("models", "--json").out)
    assert (listed["name"], listed["path"]) == ("tiny", str(model))
    assert listed["size_bytes"] == sum(file.stat().st_size for file in model.iterdir())
    assert listed["notes"]["licence"] == "CC BY 4.0"


def test_no_models_is_said(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_SHIPPED", tmp_path)
    outcome = run("models")
    assert (outcome.status, outcome.out) == (0, "")
    assert "no models are installed" in outcome.err
    assert json.loads(run("models", "--json").out) == []


def test_results_inside_the_tree_are_not_read_as_texts(run: Run, model: Path, tree: Path) -> None:
    out = tree / "results"
    for _ in range(2):
        run("extract", tree, "--model", model, "--format", "text", "--out", out)
    files = sorted(str(file.relative_to(out)) for file in out.rglob("*") if file.is_file())
    assert files == ["a.txt.txt", "sub/b.md.txt"]


def test_any_file_that_cannot_be_read_is_one_line_and_the_rest_is_done(
    run: Run, model: Path, tmp_path: Path
) -> None:
    folder, out = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    (folder / "a.txt").write_text(TEXT)
    damaged = bytearray(make_docx("<w:p><w:t>text</w:t></w:p>" * 50))
    damaged[60:90] = bytes(30)
    (folder / "b.docx").write_bytes(damaged)
    (folder / "c.jsonl.gz").write_bytes(gzip.compress(json.dumps({"text": TEXT}).encode())[:-9])
    (folder / "d.csv").write_bytes(b"text\n\xff\n")
    (folder / "loop.txt").symlink_to("loop.txt")
    os.mkfifo(folder / "pipe.txt")
    (folder / ("n" * 251 + ".txt")).write_text(OTHER)
    (folder / "z.html").write_text(f"<p>{OTHER}")

    outcome = run("extract", folder, "--model", model, "--out", out)

    assert (outcome.status, outcome.out) == (1, "")
    done = sorted(path.name for path in out.iterdir())
    assert done == ["a.txt.json", "z.html.json"]
    *problems, summary = outcome.err.splitlines()
    assert summary == f"wrote 2 files into {out}"
    names = ["loop.txt", "pipe.txt", "b.docx", "c.jsonl.gz", "d.csv:2", "nnn"]
    for name, problem in zip(names, problems, strict=True):
        assert problem.startswith("phraseloom: ")
        assert name in problem


def test_a_named_file_that_may_not_be_read_is_one_line(
    run: Run, model: Path, text: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = text.with_name("secret.txt")
    secret.write_text("x")
    opened = Path.open

    def refuse(path: Path, *arguments: Any, **options: Any) -> Any:
        if path == secret:
            raise PermissionError(13, "Permission denied", str(path))
        return opened(path, *arguments, **options)

    monkeypatch.setattr(Path, "open", refuse)
    monkeypatch.setattr("os.access", lambda path, mode, **options: Path(path) != secret)
    outcome = run("extract", secret, text, "--model", model, "--format", "jsonl")
    assert outcome.status == 1
    assert outcome.err == f"phraseloom: cannot read {secret}: Permission denied\n"
    assert json.loads(outcome.out)["source"] == str(text)


def test_what_a_killed_run_left_is_removed(run: Run, model: Path, text: Path) -> None:
    out = text.parent / "out"
    assert run("extract", text, "--model", model, "--out", out).status == 0
    [result] = out.iterdir()
    kill(start_writing(out / "text.txt.json"))
    assert len(list(out.iterdir())) == 2
    assert run("extract", text, "--model", model, "--out", out).status == 0
    assert list(out.iterdir()) == [result]


def test_a_full_disk_is_one_line(model: Path, text: Path) -> None:
    command = [sys.executable, "-c", "from phraseloom.cli import main; main()"]
    for arguments in (["extract", str(text), "--model", str(model)], ["models"], ["--help"]):
        with open("/dev/full", "w") as full:
            done = subprocess.run(
                [*command, *arguments],
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
                env={**os.environ, "PYTHONUNBUFFERED": ""},  # what is buffered fails at the end
            )
        assert done.stderr == (
            "phraseloom: cannot write to standard output: No space left on device\n"
        )
        assert done.returncode == 1


@pytest.mark.parametrize("arguments", [["extract"], ["models"], ["--help"]])
def test_a_closed_output_is_one_line(model: Path, text: Path, arguments: list[str]) -> None:
    files = [str(text), "--model", str(model)] if arguments == ["extract"] else []
    command = [sys.executable, "-c", "from phraseloom.cli import main; main()", *arguments, *files]
    closed = ["sh", "-c", 'exec "$@" >&-', "sh", *command]
    done = subprocess.run(closed, stderr=subprocess.PIPE, text=True, check=False)
    assert done.stderr == "phraseloom: cannot write to standard output: not writable\n"
    assert done.returncode == 1


def test_no_name_and_no_text_steers_the_terminal(run: Run, model: Path, tmp_path: Path) -> None:
    hostile = "\x1b]0;owned\x07\x1b[2J\r"
    path = tmp_path / f"a{hostile}\nb.txt"
    path.write_text(f"{hostile}Мы представляем метод, который находит важные слова в текстах.")
    latin = tmp_path / f"{hostile}.txt"
    latin.write_bytes(b"\xff")
    outcome = run("extract", path, latin, "--model", model, "--top", 1)
    assert outcome.status == 1
    assert len(outcome.err.splitlines()) == 2
    for letter in "\x1b\x07\r":
        assert letter not in outcome.err + outcome.out
    missing = run("extract", "--candidates", tmp_path / hostile, path)
    assert "\x1b" not in missing.err
    assert missing.err.count("\n") == 1


def test_files_may_be_compressed(
    run: Run, model: Path, extractor: Extractor, tmp_path: Path
) -> None:
    path = tmp_path / "text.md.gz"
    path.write_bytes(gzip.compress(TEXT.encode()))
    text = TEXT.replace("\n", " ", 1).rstrip()
    outcome = run("extract", tmp_path, "--model", model, "--top", 4, "--format", "json")
    assert json.loads(outcome.out) == expected(extractor, path, text)


PROGRAM = "from phraseloom.cli import main\n\nif __name__ == '__main__':\n    main()\n"


@pytest.mark.slow
def test_modules_in_the_current_directory_are_not_run(
    model: Path, text: Path, tmp_path: Path
) -> None:
    """Of processes in general tests/test_parallel.py says the same."""
    program, planted = tmp_path / "program.py", tmp_path / "planted"
    program.write_text(PROGRAM)
    planted.mkdir()
    for name in ("pickle", "multiprocessing", "numpy", "spacy", "safetensors", "phraseloom"):
        (planted / f"{name}.py").write_text("open('it ran', 'w')\nraise SystemExit(1)\n")
    command = [sys.executable, program, "extract", text, text, "--model", model, "--jobs", 2]
    done = subprocess.run(
        list(map(str, command)), cwd=planted, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout
    assert not (planted / "it ran").exists()


@pytest.mark.parametrize(
    ("out", "what"), [("one.json", "start anew"), ("folder", "go on"), (None, "start anew")]
)
def test_an_interrupt_is_said_in_one_line(
    run: Run, text: Path, monkeypatch: pytest.MonkeyPatch, out: str | None, what: str
) -> None:
    def interrupt(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Extractor, "load", interrupt)
    outcome = run("extract", text, *([] if out is None else ["--out", text.with_name(out)]))
    assert (outcome.status, outcome.out) == (130, "")
    assert outcome.err == f"phraseloom: stopped; run the same command again to {what}\n"


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_ends_a_command_and_its_processes_in_one_line(
    model: Path, tmp_path: Path, number: int
) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text((json.dumps({"text": TEXT}) + "\n") * 20_000)
    options = ("--model", model, "--jobs", 2)
    command = map(str, (sys.executable, "-m", "phraseloom", "extract", path, *options))
    with subprocess.Popen(
        [*command, "--format", "jsonl"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline()
        process.send_signal(number)
        _, said = process.communicate(timeout=60)

    assert process.returncode == 130
    [line] = said.splitlines()
    assert line.startswith("phraseloom: stopped;")


def test_a_foreign_file_is_said_once(run: Run, model: Path, tmp_path: Path) -> None:
    german = (
        "Wir zeigen ein Verfahren, das in den Texten die Wörter findet, die für uns von Wert sind."
    )
    rows = [json.dumps({"text": f"{german} {german} Nummer {i}."}) for i in range(3)]
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(rows), encoding="utf-8")

    outcome = run("extract", path, "--model", model, "--top", 1, "--format", "jsonl")

    assert outcome.status == 0
    assert len(outcome.out.splitlines()) == 3
    [line] = outcome.err.splitlines()
    assert "rows.jsonl" in line
    assert "is probably German; phraseloom reads English" in line


@pytest.mark.parametrize("arguments", [(), ("-",), ("-", "--column", "text")])
def test_a_closed_standard_input_is_one_line(
    run: Run, model: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.setattr("sys.stdin", None)
    outcome = run("extract", *arguments, "--model", model)

    assert (outcome.status, outcome.out) == (1, "")
    [line] = outcome.err.splitlines()
    assert "stdin: it is closed; name a file" in line


def test_of_many_bad_rows_a_few_are_said_and_the_rest_counted(
    run: Run, model: Path, tmp_path: Path
) -> None:
    many, few = tmp_path / "many.jsonl", tmp_path / "few.jsonl"
    good = json.dumps({"text": TEXT})
    many.write_text("bad\n" * 40 + good)
    few.write_text("bad\n" * 10 + good)
    outcome = run("extract", many, few, "--model", model, "--format", "jsonl")

    assert outcome.status == 1
    assert len(outcome.out.splitlines()) == 2
    lines = outcome.err.splitlines()
    assert len(lines) == 21
    assert lines[9].startswith(f"phraseloom: {many}:10")
    assert lines[10] == f"phraseloom: {many}: 30 more rows cannot be read"
    assert lines[20].startswith(f"phraseloom: {few}:10")
