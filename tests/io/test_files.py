"""Paths stand for the files that can be read, and a file that is one document gives its text."""

import os
import subprocess
from pathlib import Path

import pytest

from phraseloom.errors import ReadingError
from phraseloom.io.files import Input, find_inputs, has_rows, read_phrases, read_source
from phraseloom.text.document import Source
from tests.io.samples import write


def test_plain_text_is_kept_to_the_character(tmp_path: Path) -> None:
    text = "  Graphs.\r\n\tTrees 😀\n"
    for name in ("a.txt", "README", "b.rst"):
        assert read_source(write(tmp_path / name, text)) == Source(text)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_wide_text_is_known_by_its_mark(tmp_path: Path, encoding: str) -> None:
    text = "Graphs.\r\nTrees 😀\n"
    assert read_source(write(tmp_path / "a.txt", f"\ufeff{text}".encode(encoding))) == Source(text)


def test_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    assert read_source(write(tmp_path / "a.txt", b"\xef\xbb\xbfGraphs")) == Source("Graphs")


def test_an_empty_file_is_an_empty_text(tmp_path: Path) -> None:
    for name in ("a.txt", "a.md", "a.html"):
        assert read_source(write(tmp_path / name, "")) == Source("")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("latin.txt", b"x\nna\xefve", r"not UTF-8 \(byte 4 in line 2\)"),
        ("picture.png", b"PNG\0\0\0", "no text"),
        ("rows.jsonl", b"{}", "may hold many documents"),
        ("book.epub", b"PK\x03\x04\x14\0\xff", "give it as .docx"),
        ("letter.doc", b"\xd0\xcf\x11\xe0\xa1", "give it as .docx"),
        ("letter.rtf", rb"{\rtf1 Graphs}", "give it as .docx"),
    ],
)
def test_what_cannot_be_read_is_one_line(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    with pytest.raises(ReadingError, match=message) as problem:
        read_source(write(tmp_path / name, content))
    assert name in str(problem.value)
    assert "\n" not in str(problem.value)


def test_a_name_that_is_no_text_can_be_printed(tmp_path: Path) -> None:
    with pytest.raises(ReadingError, match="b\ufffdd.txt: No such file"):
        read_source(tmp_path / "b\udcffd.txt")


def test_a_directory_stands_for_what_can_be_read_in_it(tmp_path: Path) -> None:
    names = ["b.txt", "a/z.PDF", "a/b/c.md", "a/rows.jsonl.gz", "a/code.py", ".git/x.txt"]
    for name in [*names, ".hidden.txt", "kp_src.txt", "kp_trg.txt"]:
        write(tmp_path / name, "x")
    single = write(tmp_path / "elsewhere.py", "x")
    found = find_inputs([single, tmp_path])
    below = ["b.txt", "kp_src.txt", "a/rows.jsonl.gz", "a/z.PDF", "a/b/c.md"]
    assert found.files == [
        Input(single, Path("elsewhere.py")),
        *(Input(tmp_path / name, Path(name)) for name in below),
    ]
    assert set(found.ignored) == {tmp_path / "a/code.py", single}
    assert found.problems == []


def test_what_in_a_directory_would_never_end_is_left_out(tmp_path: Path) -> None:
    ok = write(tmp_path / "ok.txt", "x")
    os.mkfifo(tmp_path / "pipe.txt")
    (tmp_path / "loop.txt").symlink_to("loop.txt")
    (tmp_path / "gone.txt").symlink_to("nowhere")
    (tmp_path / "zero.txt").symlink_to("/dev/zero")
    found = find_inputs([tmp_path])
    assert [file.path for file in found.files] == [ok]
    messages = [str(problem) for problem in found.problems]
    assert len(messages) == 4
    for name, reason in {
        "loop.txt": "Too many levels of symbolic links",
        "gone.txt": "No such file",
        "pipe.txt": "no file but a pipe",
        "zero.txt": "no file but a pipe or device",
    }.items():
        [message] = [message for message in messages if name in message]
        assert reason in message


def test_a_directory_that_cannot_be_listed_is_no_empty_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("os.scandir", refuse)
    [problem] = find_inputs([tmp_path]).problems
    assert str(problem) == f"cannot list {tmp_path}: Permission denied"


def test_a_directory_may_be_as_deep_as_names_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    depth = 1_500
    monkeypatch.chdir(tmp_path)
    for _ in range(depth):
        os.mkdir("d")
        os.chdir("d")
    Path("a.txt").write_text("x")
    os.chdir(tmp_path)
    try:
        [file] = find_inputs([Path("d")]).files
        assert len(file.below.parts) == depth
        assert file.path.read_text() == "x"
    finally:  # pytest cannot: shutil has a call for each level
        subprocess.run(["rm", "-r", "d"], check=True)


@pytest.mark.parametrize("scheme", ["s3:", "file:", "gs:"])
def test_what_a_directory_holds_is_no_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scheme: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for place in ("a.txt", "bucket/b.txt"):
        write(tmp_path / scheme / place, "x")
    files = [tmp_path / scheme / "a.txt", tmp_path / scheme / "bucket" / "b.txt"]
    for named in (Path(), Path(scheme)):
        found = find_inputs([named])
        assert [file.path for file in found.files] == files
        below = Path() if named == Path(scheme) else Path(scheme)
        assert [file.below for file in found.files] == [below / "a.txt", below / "bucket/b.txt"]
    named_files = find_inputs([Path(scheme, "a.txt"), Path(scheme, "bucket")]).files
    assert named_files == [Input(files[0], Path("a.txt")), Input(files[1], Path("b.txt"))]


def test_which_files_have_rows(tmp_path: Path) -> None:
    assert not has_rows(Path("-"), None)
    assert has_rows(Path("-"), "text")
    for name in ("a.jsonl", "a.csv", "a.tsv.gz", "a.JSON.xz"):
        assert has_rows(Path(name))
    assert not has_rows(Path("a.txt"), "text")
    source = write(tmp_path / "a.src.txt", "x")
    assert not has_rows(source)
    write(tmp_path / "a.trg.txt", "x")
    assert has_rows(source)


def test_phrases_are_lines_that_are_not_blank(tmp_path: Path) -> None:
    assert read_phrases(write(tmp_path / "a", "one \n\n  two two\r\n")) == ["one", "two two"]
    with pytest.raises(ReadingError, match="no phrases in .*b; write one a line"):
        read_phrases(write(tmp_path / "b", " \n\n"))
