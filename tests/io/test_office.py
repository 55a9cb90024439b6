"""Word and PDF files give their text once; a damaged or endless one is refused in one line."""

import io
import random
import zipfile
from typing import Any

import pytest

from phraseloom.errors import ReadingError
from phraseloom.io import office, pdf_size
from phraseloom.io.office import docx_source, pdf_source
from phraseloom.io.pdf_size import PageSizes
from phraseloom.text.document import Source
from tests.io.samples import make_docx, make_pdf


def problem_of(content: bytes, name: str = "a.docx") -> str:
    read = pdf_source if name.endswith("pdf") else docx_source
    with pytest.raises(ReadingError) as problem:
        read(content, name)
    message = str(problem.value)
    assert message.startswith(name)
    assert "\n" not in message
    return message


def test_word_files_give_their_paragraphs_once() -> None:
    body = (
        "<w:p><w:r><w:t>Sparse </w:t><w:tab/><w:t>graphs</w:t></w:r></w:p>"
        "<w:p><mc:AlternateContent><mc:Choice><w:p><w:t>boxed</w:t></w:p></mc:Choice>"
        "<mc:Fallback><w:p><w:t>boxed</w:t></w:p></mc:Fallback></mc:AlternateContent></w:p>"
        "<w:tbl><w:p><w:r><w:t>cell</w:t><w:delText>gone</w:delText></w:r></w:p></w:tbl>"
    )
    assert docx_source(make_docx(body), "a.docx") == Source("Sparse \tgraphs\n\nboxed\n\ncell")


def test_pdf_pages_are_read_and_broken_words_joined() -> None:
    content = make_pdf(["Sparse matri-", "ces are X-", "Y."], ["Next page"])
    words = pdf_source(content, "a.pdf").text.split()
    assert words == ["Sparse", "matrices", "are", "X-", "Y.", "Next", "page"]


def test_what_is_no_such_file_is_refused() -> None:
    empty = io.BytesIO()
    zipfile.ZipFile(empty, "w").close()
    for content in (b"PK nothing", b"", empty.getvalue(), make_docx("<w:p>")):
        assert "no Word file that can be read" in problem_of(content)
    assert "no PDF that can be read" in problem_of(b"%PDF-1.4 nothing", "a.pdf")
    assert "OCR" in problem_of(make_pdf([]), "a.pdf")


@pytest.mark.parametrize("encoding", ["nosuch", "shift_jis", "utf-16", "UTF-7"])
def test_an_odd_encoding_is_read_or_refused(encoding: str) -> None:
    declaration = f'<?xml version="1.0" encoding="{encoding}"?>'
    content = make_docx("<w:p><w:t>text</w:t></w:p>", before=declaration)
    try:
        assert docx_source(content, "a.docx").text == "text"
    except ReadingError as problem:
        assert "no Word file that can be read" in str(problem)


def test_entities_are_not_followed() -> None:
    outside = '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/hostname">]>'
    laughs = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, 10))
    many = f'<!DOCTYPE x [<!ENTITY e0 "ha">{laughs}<!ENTITY e "&e9;">]>'
    for doctype in (outside, many):
        content = make_docx("<w:p><w:t>a&e;b</w:t></w:p>", before=doctype)
        try:
            assert len(docx_source(content, "a.docx").text) < 10
        except ReadingError as problem:
            assert "no Word file that can be read" in str(problem)


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_damage_anywhere_is_one_line(method: int) -> None:
    whole = make_docx("<w:p><w:t>some text</w:t></w:p>" * 50, method=method)
    chance = random.Random(method)
    for _ in range(150):
        damaged = bytearray(whole)
        for _ in range(chance.randint(1, 8)):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        try:
            docx_source(bytes(damaged[: chance.choice([len(damaged), 300])]), "a.docx")
        except ReadingError as problem:
            assert "\n" not in str(problem)


def test_what_unpacks_to_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    content = make_docx("<w:p/>" * 100_000)
    monkeypatch.setattr(office, "_MAX_BYTES", 400_000)
    assert "unpacks to more than" in problem_of(content)


def test_too_many_elements_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(office, "MAX_ELEMENTS", 1_000)
    assert "more than 1,000 elements; split it" in problem_of(make_docx("<w:p/>" * 1_000))


def test_too_much_text_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(office, "_MAX_TEXT", 100)
    assert "more than 100 characters; split it" in problem_of(
        make_docx("<w:p><w:t>some text</w:t></w:p>" * 12)
    )
    assert "more than 100 characters; split it" in problem_of(
        make_pdf(*[["some text"]] * 12), "a.pdf"
    )


def test_a_page_that_stands_there_often_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    pypdf = pytest.importorskip("pypdf")
    read = []
    extract_text = pypdf.PageObject.extract_text

    def noted(page: Any) -> str:
        read.append(page)
        return str(extract_text(page))

    monkeypatch.setattr(pypdf.PageObject, "extract_text", noted)
    content = make_pdf(["again"], ["other"]).replace(b"/Kids [4 0 R 6 0 R]", b"/Kids [4 0 R 4 0 R]")
    assert pdf_source(content, "a.pdf").text.split() == ["again", "again"]
    assert len(read) == 1
    monkeypatch.setattr(office, "MAX_PAGES", 1)
    assert "more than 1 pages; split it" in problem_of(content, "a.pdf")


def test_a_page_that_shows_too_much_is_refused_before_it_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    content = make_pdf(["first"], ["line"] * 50)
    assert len(pdf_source(content, "a.pdf").text.split()) == 51
    with monkeypatch.context() as patched:
        patched.setattr(pdf_size, "_MAX_PIECES", 50)
        assert "more than 50 pieces of text; split it" in problem_of(content, "a.pdf")
    for limit in ("_MAX_BYTES", "_MAX_SQUARE"):
        with monkeypatch.context() as patched:
            patched.setattr(pdf_size, limit, 600)
            assert "shows too much on page 2; leave it out" in problem_of(content, "a.pdf")


def test_what_a_form_shows_counts_as_often_as_it_is_drawn() -> None:
    generic = pytest.importorskip("pypdf.generic")

    def make(content: bytes, **drawn: object) -> Any:
        form = generic.DecodedStreamObject()
        form.set_data(content)
        objects = {generic.NameObject(f"/{name}"): other for name, other in drawn.items()}
        names = {"Subtype": generic.NameObject("/Form")}
        names["Resources"] = generic.DictionaryObject(
            {generic.NameObject("/XObject"): generic.DictionaryObject(objects)}
        )
        form.update({generic.NameObject(f"/{name}"): value for name, value in names.items()})
        return form

    inner = make(b"(a) Tj (b) Tj")
    middle = make(b"/In Do /In Do", In=inner)
    page = make(b"(c) Tj /Mid Do /Other Do /Mi#64 Do", Mid=middle)
    sizes = PageSizes("a.pdf")
    assert sizes._measure(page, page.get_data()).pieces == 1 + 2 * 4
    middle["/Resources"]["/XObject"][generic.NameObject("/In")] = middle
    assert PageSizes("a.pdf")._measure(page, page.get_data()).pieces == 1
    assert PageSizes("a.pdf")._measure(make(b"0 0 m"), b"0 0 m" * 99) == (0, 0)


def test_a_password_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    pypdf = pytest.importorskip("pypdf")
    writer = pypdf.PdfWriter(io.BytesIO(make_pdf(["secret"])))
    writer.encrypt("word", algorithm="RC4-128")
    content = io.BytesIO()
    writer.write(content)
    assert "needs a password" in problem_of(content.getvalue(), "a.pdf")


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pypdf", None)
    with pytest.raises(Exception, match=r"pip install '\.\[pdf\]'"):
        pdf_source(b"", "a.pdf")
