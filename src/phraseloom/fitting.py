"""`Extractor.fit`: the one door from what extracts to what trains, opened at its first use.

Everything behind it, `phraseloom.train.fit`, stands above the extractor.
"""

from collections.abc import Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from phraseloom.errors import OptionsError, shown
from phraseloom.options import as_count, as_path

T = TypeVar("T")
_MOST_MINUTES = 1e6

Terms = Path | str | Mapping[str, Any] | Iterable[Any]
Documents = Path | str | Iterable[Path | str] | Iterable[Mapping[str, Any]]


def fit(
    cls: type[T],
    documents: Documents,
    out: Path | str,
    *,
    model: Path | str | None = None,
    text: str | None = None,
    title: str | None = None,
    keywords: str | None = None,
    vocabulary: Terms | None = None,
    network: bool = True,
    minutes: float | None = None,
    jobs: int = 1,
    force: bool = False,
) -> T:
    """Fit a model to documents with keywords, as ``phraseloom fit`` does, and load it.

    A call that was stopped goes on where it was. What was gained is in the model's ``README.md``.

    Args:
        cls: `Extractor`.
        documents: a file or a folder, several of them, or rows such as ``{"text": …, "keywords":
            […]}``.
        out: directory of the model to make.
        model: to begin from, a name or a directory; without one, the default.
        text: column of the texts; without it, guessed, and so for the other two.
        title: column of the titles.
        keywords: column of the keywords.
        vocabulary: terms that the model should know, as `Extractor.with_vocabulary` takes them.
        network: whether the network may learn too, if documents are many.
        minutes: for that at most; without it, by the number of documents.
        jobs: processes; with more than one the main module of a program must be importable.
        force: replace what is there, better or stopped or not.

    Raises:
        PhraseloomError: the documents cannot be fitted to, or another model is there.
    """
    if minutes is not None:
        minutes = _as_minutes(minutes)
    if not isinstance(network, bool):
        raise OptionsError(f"network must be True or False, not {shown(network)}")
    for column, name in ((text, "text"), (title, "title"), (keywords, "keywords")):
        if not isinstance(column, str | None):
            raise OptionsError(f"{name} must be the name of a column, not {shown(column)}")
    place = as_path(out, "out")
    pipeline: Any = import_module("phraseloom.train.fit.pipeline")
    options = pipeline.FitOptions(
        base=model,
        vocabulary=vocabulary,
        is_network_trained=network,
        minutes=minutes,
        jobs=as_count(jobs, "jobs"),
        force=force,
    )
    pipeline.fit_rows(_files_or_rows(documents), place, options, columns=(text, title, keywords))
    loaded: T = cls.load(out)  # type: ignore[attr-defined]  # cls is Extractor
    return loaded


def _files_or_rows(documents: Documents) -> list[Any]:
    """Paths, if all of them can be meant as such, or what should be rows."""
    if isinstance(documents, Path | str):
        return [as_path(documents, "documents")]
    if isinstance(documents, Mapping | bytes) or not isinstance(documents, Iterable):
        raise OptionsError("give fit a file, or rows with their texts and keywords")
    listed = list(documents)
    if all(isinstance(document, Path | str) for document in listed):
        return [as_path(document, "documents") for document in listed]
    return listed


def _as_minutes(value: object) -> float:
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not 0 < value <= _MOST_MINUTES
    ):
        raise OptionsError(f"minutes must be a number above 0, not {shown(value)}")
    return float(value)
