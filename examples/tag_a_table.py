"""Add a column of keyphrases to a table of papers: papers.csv in, tagged.csv out."""

import csv
from pathlib import Path

from phraseloom import Extractor, Source

SAMPLE = """\
title,abstract
Graph networks,Graph networks read whole sentences and learn from dependency trees.
Photodiodes,Silicon photodiodes measure weak light. We cool them to lower the dark current.
An editorial,
"""


def main() -> None:
    table = Path("papers.csv")
    if not table.exists():
        table.write_text(SAMPLE, encoding="utf-8")
    with table.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    sources = (Source(row["abstract"], row["title"]) for row in rows)
    found = Extractor.load().extract_many(sources)  # as many as the model says
    with Path("tagged.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [*rows[0], "keyphrases"])
        writer.writeheader()
        for row, phrases in zip(rows, found, strict=True):
            row["keyphrases"] = "; ".join(phrase.text for phrase in phrases)
            writer.writerow(row)
            print(f"{row['title']}: {row['keyphrases']}")


if __name__ == "__main__":
    main()
