"""Small corpora that come parsed, so that a test need not load a parser's model."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def chain(text: str) -> str:
    """CoNLL-U of a text, one sentence per full stop, in which each word governs the next."""
    sentences = []
    for sentence in text.split(" . "):
        lines = [
            f"{i}\t{word}\t_\t_\tNN\t_\t{i - 1}\t{'dep' if i > 1 else 'root'}\t_\t_\n"
            for i, word in enumerate(sentence.split(), start=1)
        ]
        sentences.append("".join(lines))
    return "\n".join(sentences)


def row(text: str, keywords: Iterable[str] = (), *, title: str = "", **more: str) -> dict[str, Any]:
    return {"title": chain(title), "text": chain(text), "keywords": list(keywords), **more}


def write_rows(path: Path, rows: Iterable[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path
