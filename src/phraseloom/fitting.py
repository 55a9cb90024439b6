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

Terms = Path | str | Mapping[str, Any] | Iterable[Any]
Documents = Path | str | Iterable[Mapping[str, Any]]


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
    jobs: int = 1,
    force: bool = False,
) -> T:
    """Fit a model to documents with keywords, as ``phraseloom fit`` does, and load it.

    A call that was stopped goes on where it was. What was gained is in the model's ``README.md``.

    Args:
        cls: `Extractor`.
        documents: a file or a folder, or rows such as ``{"text": …, "keywords": […]}``.
        out: directory of the model to make.
        model: to begin from, a name or a directory; without one, the default.
        text: column of the texts; without it, guessed, and so for the other two.
        title: column of the titles.
        keywords: column of the keywords.
        vocabulary: terms that the model should know, as `Extractor.with_vocabulary` takes them.
        jobs: processes; with more than one the main module of a program must be importable.
        force: replace the model that is there, better or not.

    Raises:
        PhraseloomError: the documents cannot be fitted to, or a better model is there.
    """
    if isinstance(documents, Mapping | bytes) or not isinstance(documents, Path | str | Iterable):
        raise OptionsError("give fit a file, or rows with their texts and keywords")
    for column, name in ((text, "text"), (title, "title"), (keywords, "keywords")):
        if not isinstance(column, str | None):
            raise OptionsError(f"{name} must be the name of a column, not {shown(column)}")
    is_path, place = isinstance(documents, Path | str), as_path(out, "out")
    pipeline: Any = import_module("phraseloom.train.fit.pipeline")
    options = pipeline.FitOptions(
        base=model, jobs=as_count(jobs, "jobs"), force=force, vocabulary=vocabulary
    )
    pipeline.fit_rows(
        as_path(documents, "documents") if is_path else documents,
        place,
        options,
        columns=(text, title, keywords),
    )
    loaded: T = cls.load(out)  # type: ignore[attr-defined]  # cls is Extractor
    return loaded
