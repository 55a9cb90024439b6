"""Fitting as a whole: what is gained, what is kept, what happens when it is stopped."""

import csv
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from phraseloom.extractor import Extractor
from phraseloom.network.weights import read_notes
from tests.conftest import Outcome
from tests.train.fit.conftest import TOPICS, make_documents

Run = Callable[..., Outcome]
Write = Callable[..., Path]


@pytest.fixture(scope="module")
def fitted(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that was fitted to forty documents."""
    out = tmp_path_factory.mktemp("fitted") / "mine"
    Extractor.fit(make_documents(40), out, model=base)
    return out


def test_a_fitted_model_lists_what_its_collection_lists(fitted: Path) -> None:
    document = make_documents(1, seed=9)[0]

    phrases = Extractor.load(fitted).extract(document["note"], top=2)

    assert {phrase.text for phrase in phrases} == set(document["subjects"].split("; "))


def test_it_says_what_it_gained_on_documents_that_it_was_not_fitted_to(fitted: Path) -> None:
    report = (read_notes(fitted) or {})["fit"]["report"]

    assert report["measured"] == 40
    assert report["present"] == 1
    assert report["after"] > 1.5 * report["before"]
    assert 0 < report["low"] < report["after"] - report["before"] < report["high"]
    assert f"{report['after']:.3f}" in (fitted / "README.md").read_text()
    assert not fitted.with_name("mine.unfinished").exists()


def test_the_same_command_again_does_nothing(run: Run, base: Path, write_rows: Write) -> None:
    file = write_rows(make_documents(12))
    out = file.with_name("mine")
    command = ("fit", file, "--out", out, "--model", base, "--jobs", 1)
    first = run(*command)
    assert (first.status, first.out) == (0, f"{out}\n")
    assert "text from 'note', title from 'heading', keywords from 'subjects'" in first.err
    before = (out / "manifest.json").read_bytes()

    moved = file.rename(file.with_name("moved.jsonl"))
    again = run("fit", moved, *command[2:])

    assert again.status == 0
    assert "searching" not in again.err
    assert (out / "manifest.json").read_bytes() == before


def test_what_is_not_gained_for_sure_is_not_kept(base: Path, tmp_path: Path) -> None:
    documents = make_documents(12)
    words = ("letter", "ledger", "photograph", "diary", "map", "box", "folder", "volume", "paper")
    for number, document in enumerate(documents):  # one word of the text, whichever
        document["subjects"] = next(
            word for word in (*words[number:], *words) if word in document["note"]
        )

    Extractor.fit(documents, tmp_path / "mine", model=base)

    report = (read_notes(tmp_path / "mine") or {})["fit"]["report"]
    own, old = Extractor.load(tmp_path / "mine"), Extractor.load(base)
    assert report["is_kept"] == (own.styles == old.styles)
    text = documents[0]["note"]
    if report["is_kept"]:
        assert own.extract(text) == old.extract(text)


def test_a_model_may_be_made_where_one_is(
    run: Run, base: Path, write_rows: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write_rows(make_documents(12))
    out = file.with_name("here")
    out.mkdir()
    monkeypatch.chdir(out)

    outcome = run("fit", file, "--out", ".", "--model", base)

    assert outcome.status == 0, outcome.err
    assert "# here\n" in (out / "README.md").read_text()


def test_a_folder_that_holds_something_else_is_left_alone(
    run: Run, base: Path, write_rows: Write
) -> None:
    file = write_rows(make_documents(12))
    other = file.with_name("other")
    other.mkdir()
    (other / "thesis.txt").write_text("mine")

    third = shutil.copytree(base, file.with_name("third"))
    for out, problem in (
        (other, "thesis.txt"),
        (third, "not made by this command"),
        (base, "is the model to begin from"),
    ):
        refused = run("fit", file, "--out", out, "--model", base)
        assert (refused.status, refused.out) == (2, "")
        assert problem in refused.err
    assert (other / "thesis.txt").read_text() == "mine"


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ([{"note": "A text of some words.", "date": "1900"}] * 12, "no column of keywords"),
        (make_documents(1), "1 documents with keywords are too few"),
        ([{**row, "subjects": "zeppelin"} for row in make_documents(12)], "none of the keywords"),
        ([make_documents(1)[0]] * 12, "too few"),
    ],
)
def test_what_cannot_be_fitted_to_is_one_line(
    run: Run, base: Path, write_rows: Write, rows: list[dict[str, str]], problem: str
) -> None:
    file = write_rows(rows)

    refused = run("fit", file, "--out", file.with_name("mine"), "--model", base, "--jobs", 1)

    last = refused.err.splitlines()[-1]
    assert (refused.status, refused.out) == (2, "")
    assert last.startswith("phraseloom: ")
    assert problem in last
    assert not list(file.parent.glob("mine*"))


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_fit_that_was_killed_goes_on_to_the_same_model(
    base: Path, write_rows: Write, number: int
) -> None:
    file = write_rows(make_documents(40))
    command = [Path(sys.executable).with_name("phraseloom"), "fit", file, "--model", base]
    whole, parts = file.with_name("whole"), file.with_name("parts")
    options = ["--jobs", "1", "--out"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen([*command, *options, parts], env=environment, **quiet)  # type: ignore[call-overload]
    work = parts.with_name("parts.unfinished")
    while not (work / "apart" / "meta.json").exists():
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.01)
    process.send_signal(number)
    said = process.communicate()[1]
    assert number == signal.SIGKILL or "run the same command again" in said, said
    assert work.exists()

    for out in (parts, whole):
        subprocess.run([*command, *options, out], env=environment, check=True, **quiet)  # type: ignore[call-overload]

    for name in ("config.json", "lexicon.json", "model.safetensors"):
        assert (parts / name).read_bytes() == (whole / name).read_bytes(), name
    assert not work.exists()


def test_python_has_the_options_of_the_command_line(base: Path, write_rows: Write) -> None:
    documents = make_documents(12)
    files: list[Path | str] = [
        write_rows(documents[:6], "one.jsonl"),
        str(write_rows(documents[6:], "two.jsonl")),
    ]
    out = write_rows([], "none").with_name("mine")

    Extractor.fit(files, out, model=base, network=False, minutes=0.5)

    assert (read_notes(out) or {})["fit"]["report"]["documents"] == 12


def test_topics_are_found_whatever_else_stands_there(fitted: Path) -> None:
    extractor = Extractor.load(fitted)
    lists = [
        [phrase.text for phrase in extractor.extract(row["note"], top=3)]
        for row in make_documents(10, seed=3)
    ]

    assert sum(topic in phrases for phrases in lists for topic in TOPICS) >= 18


def fit_and_read(run: Run, base: Path, path: Path, *options: str) -> str:
    """Fit to a file or a folder; what was said meanwhile, if the model lists the topics."""
    out = path.with_name("mine")
    done = run("fit", path, "--out", out, "--model", base, "--jobs", 1, *options)
    assert done.status == 0, done.err
    document = make_documents(1, seed=9)[0]
    phrases = Extractor.load(out).extract(document["note"], top=2)
    assert {phrase.text for phrase in phrases} == set(document["subjects"].split("; "))
    return done.err


def test_a_folder_of_texts_is_fitted_to(run: Run, base: Path, tmp_path: Path) -> None:
    folder = tmp_path / "letters"
    folder.mkdir()
    for number, document in enumerate(make_documents(50)):
        encoding = "cp1252" if number % 5 == 0 else "utf-8"
        text = f"{document['heading']}\n\n{document['note']} Caf\xe9."
        (folder / f"letter-{number}.txt").write_bytes(text.encode(encoding))
        keywords = document["subjects"].replace("; ", "\n") + "\nzeppelin"
        (folder / f"letter-{number}.key").write_bytes(keywords.encode())
    (folder / "no-keywords.txt").write_text("A letter that nobody has tagged.")

    said = fit_and_read(run, base, folder)

    assert "1 texts without keywords left out" in said
    assert "not UTF-8; read as Windows-1252" in said
    assert "67 % of the keywords stand in their texts" in said.replace("\n", " ")


def test_what_excel_makes_in_germany_is_fitted_to(run: Run, base: Path, tmp_path: Path) -> None:
    file = tmp_path / "bestand.csv"
    with file.open("w", encoding="utf-8-sig", newline="") as table:
        rows = csv.writer(table, delimiter=";")
        rows.writerow(["Titel", "Volltext", "Schlagw\xf6rter"])
        for document in [*make_documents(50), *make_documents(3)]:  # three stand there twice
            subjects = document["subjects"].replace("; ", ", ")
            rows.writerow([document["heading"], document["note"], subjects])

    unnamed = run("fit", file, "--out", tmp_path / "none", "--model", base)
    said = fit_and_read(run, base, file, "--keywords", "Schlagw\xf6rter")

    assert unnamed.status == 2
    assert "name it with --keywords COLUMN" in unnamed.err
    assert "3 documents stand there twice" in said
    assert "keywords divided by ','" in said


def test_a_vocabulary_is_told_of_and_stays_in_the_model(base: Path, tmp_path: Path) -> None:
    terms = {"Lights": "lighthouse", "Ports": ["harbour"]}

    own = Extractor.fit(make_documents(12), tmp_path / "mine", model=base, vocabulary=terms)

    card = (tmp_path / "mine" / "README.md").read_text()
    assert "`model`, with a vocabulary of 2 terms, fitted to a collection of 12" in card
    assert "before and after with a vocabulary of 2 terms" in card
    text = make_documents(1)[0]["note"] + " A lighthouse."
    assert "Lights" in {phrase.label for phrase in own.extract(text, top=10)}
