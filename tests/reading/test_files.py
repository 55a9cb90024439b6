"""Whatever the kind of file, its words come out in order, and what is wrong is said in one line."""

import io
import json
import zipfile
from pathlib import Path

import pytest

from phraseloom.errors import ReadingError
from phraseloom.reading.files import Input, find_inputs, has_rows, read_file
from phraseloom.reading.named import Named
from phraseloom.text.document import Source
from tests.reading.samples import make_docx, make_pdf


def write(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def read_one(path: Path, column: str | None = None) -> Source:
    [text] = read_file(path, column)
    assert isinstance(text, Named), text
    assert text.name == str(path)
    return text.source


def problem_of(path: Path, column: str | None = None) -> str:
    [problem] = read_file(path, column)
    assert isinstance(problem, ReadingError), problem
    message = str(problem)
    assert path.name in message
    assert "\n" not in message
    return message


def test_plain_text_is_kept_to_the_character(tmp_path: Path) -> None:
    text = "  Graphs.\r\n\tTrees 😀\n"
    for name in ("a.txt", "README", "b.rst"):
        assert read_one(write(tmp_path / name, text)) == Source(text)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_wide_text_is_known_by_its_mark(tmp_path: Path, encoding: str) -> None:
    text = "Graphs.\r\nTrees 😀\n"
    assert read_one(write(tmp_path / "a.txt", f"\ufeff{text}".encode(encoding))) == Source(text)


def test_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    assert read_one(write(tmp_path / "a.txt", b"\xef\xbb\xbfGraphs")) == Source("Graphs")


def test_an_empty_file_is_an_empty_text(tmp_path: Path) -> None:
    for name in ("a.txt", "a.md", "a.html"):
        assert read_one(write(tmp_path / name, "")) == Source("")


def test_markdown_loses_its_marks_and_keeps_its_words(tmp_path: Path) -> None:
    text = (
        "---\nauthor: nobody\n---\n# Sparse *graphs*\n\nSee [the **paper**](http://x.example),\n"
        "`spmm` &amp; more.\n\n```python\nimport secret\n```\n\n- one\n- two\n\n<div>boxed</div>\n"
    )
    expected = "Sparse graphs\n\nSee the paper, spmm & more.\n\none\n\ntwo\n\nboxed"
    assert read_one(write(tmp_path / "a.md", text)) == Source(expected)


def test_a_web_page_gives_its_title_and_what_it_shows(tmp_path: Path) -> None:
    page = (
        "<!doctype html><html><head><title>On\n graphs</title><style>p {}</style></head><body>"
        "<script>let hidden</script><h1>Graphs</h1><p>Some <b>bold</b>er\n  text &lt;here&gt;.<p>"
        "Next<br/>line<svg><title>icon</title></svg></body></html>"
    )
    source = read_one(write(tmp_path / "a.html", page))
    assert source == Source("Graphs\n\nSome bolder text <here>.\n\nNext\n\nline", "On graphs")


def test_a_page_without_the_end_of_its_head_is_read(tmp_path: Path) -> None:
    page = "<html><head><title>T</title><meta charset=utf-8><body>Text"
    assert read_one(write(tmp_path / "a.htm", page)) == Source("Text", "T")


def test_word_files_give_their_paragraphs_once(tmp_path: Path) -> None:
    body = (
        "<w:p><w:r><w:t>Sparse </w:t><w:tab/><w:t>graphs</w:t></w:r></w:p>"
        "<w:p><mc:AlternateContent><mc:Choice><w:p><w:t>boxed</w:t></w:p></mc:Choice>"
        "<mc:Fallback><w:p><w:t>boxed</w:t></w:p></mc:Fallback></mc:AlternateContent></w:p>"
        "<w:tbl><w:p><w:r><w:t>cell</w:t><w:delText>gone</w:delText></w:r></w:p></w:tbl>"
    )
    source = read_one(write(tmp_path / "a.docx", make_docx(body)))
    assert source == Source("Sparse \tgraphs\n\nboxed\n\ncell")


def test_pdf_pages_are_read_and_broken_words_joined(tmp_path: Path) -> None:
    pytest.importorskip("pypdf")
    path = write(tmp_path / "a.pdf", make_pdf(["Sparse matri-", "ces are X-", "Y."], ["Next page"]))
    assert read_one(path).text.split() == ["Sparse", "matrices", "are", "X-", "Y.", "Next", "page"]


def test_rows_are_documents_named_by_their_line(tmp_path: Path) -> None:
    rows = [{"text": "One."}, {"title": "T", "abstract": "Two \ud800."}, {"text": ""}]
    lines = "\n\n".join(json.dumps(row) for row in rows)
    path = write(tmp_path / "a.jsonl", lines)
    assert list(read_file(path)) == [
        Named(f"{path}:1", Source("One.")),
        Named(f"{path}:3", Source("Two \ufffd.", "T")),
        Named(f"{path}:5", Source("")),
    ]


def test_csv_rows_may_have_line_ends_and_long_cells(tmp_path: Path) -> None:
    long = "graph " * 30_000
    path = write(tmp_path / "a.csv", f'id,title,body of it\n1,T,"One,\ntwo"\n2,,{long}\n')
    assert list(read_file(path, "body of it")) == [
        Named(f"{path}:3", Source("One,\ntwo", "T")),
        Named(f"{path}:4", Source(long)),
    ]


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_columns_may_be_divided_as_a_spreadsheet_does(tmp_path: Path, mark: str) -> None:
    path = write(tmp_path / "a.csv", f'title{mark}body\nT{mark}"One, two; three"\n')
    assert list(read_file(path)) == [Named(f"{path}:2", Source("One, two; three", "T"))]


def test_a_row_without_its_text_is_said_to_be_empty(tmp_path: Path) -> None:
    assert "text is empty" in problem_of(write(tmp_path / "a.jsonl", '{"text": null}\n'))
    assert "text is empty" in problem_of(write(tmp_path / "a.csv", "id,text\n1\n"))


def test_a_bad_row_does_not_spoil_the_others(tmp_path: Path) -> None:
    lines = [b'{"t": "One"}', b"{oops", b"[1]", b'{"t": "\xff"}', b'{"t": 4}', b'{"u": ""}']
    path = write(tmp_path / "a.jsonl", b"\n".join([*lines, b'{"t": "Two"}']))
    found = list(read_file(path, "t"))
    assert [each.source.text for each in found if isinstance(each, Named)] == ["One", "Two"]
    messages = [str(each) for each in found if isinstance(each, ReadingError)]
    for number, message in zip(range(2, 7), messages, strict=True):
        assert f"a.jsonl:{number}" in message
    for part, message in zip(
        ["not JSON", "not a JSON object", "not UTF-8", "t is not a string", "--column"],
        messages,
        strict=True,
    ):
        assert part in message


def test_what_cannot_be_read_is_said_in_one_line(tmp_path: Path) -> None:
    pytest.importorskip("pypdf")
    empty = io.BytesIO()
    zipfile.ZipFile(empty, "w").close()
    cases: dict[str, tuple[bytes, str]] = {
        "latin.txt": (b"na\xefve", "not UTF-8 (byte 2)"),
        "picture.png": (b"PNG\0\0\0", "no text"),
        "bad.pdf": (b"%PDF-1.4 nothing", "no PDF that can be read"),
        "scan.pdf": (make_pdf([]), "OCR"),
        "bad.docx": (b"PK nothing", "no Word file that can be read"),
        "empty.docx": (empty.getvalue(), "no Word file that can be read"),
        "broken.docx": (make_docx("<w:p>"), "no Word file that can be read"),
        "latin.csv": (b"text\nna\xefve\n", "not UTF-8"),
        "wide.csv": ("\ufefftext\nOne\n".encode("utf-16-le"), "iconv -f UTF-16"),
    }
    for name, (content, message) in cases.items():
        assert message in problem_of(write(tmp_path / name, content))
    assert "cannot read" in problem_of(tmp_path / "absent.txt")
    assert "only text; name" in problem_of(write(tmp_path / "a.csv", "text\nx\n"), "body")


def test_a_directory_stands_for_what_can_be_read_in_it(tmp_path: Path) -> None:
    names = ["b.txt", "a/z.PDF", "a/b/c.md", "a/code.py", ".git/x.txt", ".hidden.txt"]
    for name in names:
        write(tmp_path / name, "x")
    single = write(tmp_path / "elsewhere.py", "x")
    found = find_inputs([single, tmp_path])
    below = [Path("b.txt"), Path("a/z.PDF"), Path("a/b/c.md")]
    assert found.files == [
        Input(single, Path("elsewhere.py")),
        *(Input(tmp_path / each, each) for each in below),
    ]
    assert set(found.ignored) == {tmp_path / "a/code.py", single}


def test_standard_input_has_rows_if_a_column_is_named() -> None:
    assert not has_rows(Path("-"), None)
    assert has_rows(Path("-"), "text")
    assert has_rows(Path("a.jsonl"), None)
    assert not has_rows(Path("a.txt"), "text")


def test_a_directory_that_cannot_be_listed_is_no_empty_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("os.scandir", refuse)
    with pytest.raises(ReadingError, match="cannot list .*: Permission denied"):
        find_inputs([tmp_path])


def test_a_name_that_is_no_text_can_be_printed(tmp_path: Path) -> None:
    path = tmp_path / "b\udcffd.txt"
    [problem] = read_file(path)
    assert "b\ufffdd.txt" in str(problem)
