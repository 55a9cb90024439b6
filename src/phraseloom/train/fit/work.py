"""The folder beside a model that is being fitted: what a stopped fit needs to go on.

It is called as the model is, with ``.unfinished`` behind, and is gone when the fit is done.
"""

import hashlib
import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from phraseloom.errors import CorpusError
from phraseloom.io.arrow import Folder
from phraseloom.io.atomic import remove_leftovers, sign_directory, written_aside
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

    @contextmanager
    def claimed(self, signature: "Signature", *, is_forced: bool) -> Iterator[None]:
        """Begin, or go on with what an earlier call of the same fit has left; alone.

        Args:
            signature: of the fit.
            is_forced: throw away what another fit has left.

        Raises:
            PhraseloomError: the folder holds something else, or a fit is at work in it.
        """
        with Folder(self.folder).claimed("fit"):
            remove_leftovers(self.folder)
            mark = self.folder / _SIGNATURE
            left = sorted(self.folder.iterdir())
            if left and not mark.exists():
                raise CorpusError(f"{self.folder} holds something else; choose another --out")
            own = signature._asdict()
            if is_forced and left and json.loads(mark.read_text(encoding="utf-8")) != own:
                for entry in left:
                    shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
            other = (
                f"{self.folder} holds a fit of other documents or options that was stopped;"
                " --force throws it away, or choose another --out"
            )
            sign_directory(mark, own, other=other)
            yield

    def remove(self) -> None:
        """Leave nothing behind but the model."""
        shutil.rmtree(self.folder, ignore_errors=True)


class Signature(NamedTuple):
    """What a fit depends on; a part of it changes with what it is of."""

    documents: str
    """Not the names of files, which made-up ids have in them: a table may be moved meanwhile."""
    base: str
    """The model that it begins from."""
    options: str


def sign(documents: Sequence[CorpusDocument], base: Path, options: object) -> Signature:
    """What tells one fit from another."""
    digest = hashlib.sha256()
    for document in documents:
        digest.update(json.dumps([document.source, document.keywords]).encode())
    of_base = hashlib.sha256((base / MANIFEST).read_bytes()).hexdigest()
    of_options = hashlib.sha256(repr(options).encode()).hexdigest()
    return Signature(digest.hexdigest(), of_base, of_options)


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
