"""The files that the documentation speaks of, as a reader would have them."""

import csv
import json
from pathlib import Path

from tests.io.samples import make_pdf

ROOT = Path(__file__).parents[2]
_COLUMNS = ("id", "title", "abstract")


def write_samples(directory: Path) -> None:
    """Texts, a table, a folder, a PDF and a long text, and what a clone has beside the package."""
    abstract = (ROOT / "examples" / "abstract.txt").read_text(encoding="utf-8")
    lines = (ROOT / "examples" / "papers.jsonl").read_text(encoding="utf-8")
    papers = [json.loads(line) for line in lines.splitlines()]
    for name in ("abstract.txt", "paper.txt", "notes.txt"):
        (directory / name).write_text(abstract, encoding="utf-8")
    (directory / "thesaurus.txt").write_text("dependency trees\nsequence model\nphrase structure\n")
    (directory / "papers.jsonl").write_text(lines, encoding="utf-8")
    with (directory / "papers.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, _COLUMNS, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(papers)
    (directory / "papers").mkdir()
    for paper in papers[:2]:
        (directory / "papers" / f"{paper['id']}.txt").write_text(paper["abstract"])
    (directory / "paper.pdf").write_bytes(make_pdf(abstract.split(". ")))
    book = "\n\n".join(paper["abstract"] for paper in papers * 3)
    (directory / "book.txt").write_text(book, encoding="utf-8")
    for name in ("configs", "examples"):
        (directory / name).symlink_to(ROOT / name)
