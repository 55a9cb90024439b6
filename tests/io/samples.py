"""Files to read: the smallest Word and PDF files that hold a given text, and any others."""

import io
import zipfile
from collections.abc import Sequence
from pathlib import Path

_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_COMPATIBLE = "http://schemas.openxmlformats.org/markup-compatibility/2006"


def write(path: Path, content: str | bytes) -> Path:
    """Write a file, with its directories."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def make_docx(body: str, *, before: str = "", method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A Word file with this XML as its body, and before it, packed by some method."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", method) as archive:
        archive.writestr(
            "word/document.xml",
            f'{before}<w:document xmlns:w="{_WORD}" xmlns:mc="{_COMPATIBLE}">'
            f"<w:body>{body}</w:body></w:document>",
        )
    return content.getvalue()


def make_pdf(*pages: Sequence[str]) -> bytes:
    """A PDF with these lines on its pages."""
    count = len(pages)
    kids = " ".join(f"{4 + 2 * i} 0 R" for i in range(count))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Count {count} /Kids [{kids}] >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for i, lines in enumerate(pages):
        shown = " ".join(f"({line}) Tj T*" for line in lines)
        stream = f"BT /F1 12 Tf 14 TL 72 720 Td {shown} ET".encode()
        objects += [
            (
                "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] "
                f"/Resources << /Font << /F1 3 0 R >> >> /Contents {5 + 2 * i} 0 R >>"
            ).encode(),
            b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        ]
    return _assemble(objects)


def _assemble(objects: Sequence[bytes]) -> bytes:
    content, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(content))
        content += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    size = len(objects) + 1
    return content + (
        b"xref\n0 %d\n0000000000 65535 f \n%s" % (size, table)
        + b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (size, len(content))
    )
