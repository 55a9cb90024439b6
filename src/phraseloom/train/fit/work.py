"""The folder beside a model that is being fitted: what a stopped fit needs to go on.

It is called as the model is, with ``.unfinished`` behind, and is gone when the fit is done.
"""

import hashlib
import json
import shutil
from collections.abc import Sequence
from pathlib import Path

from phraseloom.errors import CorpusError
from phraseloom.io.atomic import sign_directory, written_aside
from phraseloom.io.records import CorpusDocument
from phraseloom.network.weights import MANIFEST

_SUFFIX = ".unfinished"
_SIGNATURE = "fit.json"
_APART_SHARE = 0.3
_FEWEST_APART = 300
_MOST_APART = 600


class Work:
    """Places of the parts of one fit."""

    def __init__(self, out: Path) -> None:
        self.folder = out.with_name(f"{out.name}{_SUFFIX}")
        self.base = self.folder / "base"
        self.apart = self.folder / "apart"
        self.rest = self.folder / "rest"
        self.found = self.folder / "found"
        self.collection = self.folder / "collection.json"
        self.run = self.folder / "network"
        self.tuned_found = self.folder / "found-by-network"

    def claim(self, signature: str) -> None:
        """Begin, or go on with what an earlier call of the same fit has left."""
        mark = self.folder / _SIGNATURE
        if self.folder.exists() and not mark.exists() and any(self.folder.iterdir()):
            raise CorpusError(f"{self.folder} holds something else; choose another --out")
        other = f"{self.folder} holds a fit of other documents or options that was stopped; delete"
        sign_directory(mark, signature, other=f"{other} it, or choose another --out")

    def remove(self) -> None:
        """Leave nothing behind but the model."""
        shutil.rmtree(self.folder, ignore_errors=True)


def signature_of(documents: Sequence[CorpusDocument], base: Path, options: object) -> str:
    """Changes with the documents, with the model that a fit begins from, and with its options.

    Not with the names of files, which made-up ids have in them: a table may be moved meanwhile.
    """
    digest = hashlib.sha256((base / MANIFEST).read_bytes())
    digest.update(repr(options).encode())
    for document in documents:
        digest.update(json.dumps([document.source, document.keywords]).encode())
    return digest.hexdigest()


def split_documents(
    documents: Sequence[CorpusDocument],
) -> tuple[list[CorpusDocument], list[CorpusDocument]]:
    """Documents to put lists together by and to measure on, and the rest, which are counted too.

    Of a small collection there is no rest. Which is which depends on nothing but the texts, so that
    a collection that has grown is parted as before.
    """
    ordered = sorted(documents, key=_digest)
    share = round(_APART_SHARE * len(ordered))
    size = min(max(share, _FEWEST_APART), _MOST_APART)
    return ordered[:size], ordered[size:]


def _digest(document: CorpusDocument) -> str:
    return hashlib.sha256("\n".join(document.source).encode("utf-8", "replace")).hexdigest()


def write_documents(path: Path, documents: Sequence[CorpusDocument]) -> Path:
    """As JSON lines, for `prepare_corpus`."""
    with written_aside(path) as new, new.open("w", encoding="utf-8") as file:
        for document in documents:
            row = {"id": document.id, "set": document.origin, "keywords": document.keywords}
            row |= document.source._asdict()
            file.write(json.dumps(row) + "\n")
    return path
