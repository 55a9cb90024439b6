"""Fit a model to a tagged collection: parse, search, count, fit the lists, measure, write.

Whatever is kept is what did best on documents that it was not fitted to; where nothing is gained
for sure, the model's own lists stay.
"""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from phraseloom.errors import CheckpointError, CorpusError, import_extra
from phraseloom.extractor import Extractor
from phraseloom.io.records import CorpusDocument
from phraseloom.io.tagged import ColumnNames, read_tagged, tag_rows
from phraseloom.io.vocabulary import Terms
from phraseloom.network.card import save_with_card
from phraseloom.network.registry import find_installed
from phraseloom.network.weights import (
    dequantize,
    find_model,
    full_arrays,
    quantize,
    read_notes,
    refuse_other_files,
)
from phraseloom.train.corpus.glossary import load_glossary, save_glossary
from phraseloom.train.corpus.prepare import PrepareOptions, prepare_corpus
from phraseloom.train.corpus.prepared import PreparedCorpus
from phraseloom.train.fit.counts import count_collection
from phraseloom.train.fit.label import Search, label_documents, search_documents
from phraseloom.train.fit.lists import (
    Measured,
    default_lists,
    fit_lists,
    gain,
    is_better,
    measure,
    measure_fitted,
)
from phraseloom.train.fit.network import can_learn, tune_network
from phraseloom.train.fit.report import FitReport, fitted_card, make_report
from phraseloom.train.fit.work import Work, signature_of, split_documents, write_documents
from phraseloom.train.ranking import LabelledCandidates
from phraseloom.vocabulary import load_terms

STYLE = "own"
"""What the style of a fitted model is called."""
FEWEST = 10
"""Documents that can be fitted to; from some fifty on there is much to gain."""
NOTES = "fit"

OnStage = Callable[[str, int, int], None]
"""Told what is being done, and how many documents, or steps of training, of how many are done."""

_logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class FitOptions:
    """How to fit; ``jobs`` and ``force`` have no influence on the result."""

    base: Path | str | None = None
    """Name or directory of the model to begin from; none: the default."""
    vocabulary: Terms | None = None
    """Terms that the model should know."""
    is_network_trained: bool = True
    """Whether the network may learn, too, if there are documents enough."""
    minutes: float | None = None
    """For that; none: by the number of documents."""
    jobs: int = 1
    force: bool = False
    """Replace whatever model is there."""


def fit_rows(
    documents: Path | str | Iterable[Mapping[str, Any]],
    out: Path,
    options: FitOptions,
    *,
    columns: tuple[str | None, str | None, str | None] = (None, None, None),
) -> FitReport:
    """Fit to a file or to rows; ``columns`` are those of texts, titles and keywords."""
    names = ColumnNames(*columns)
    if isinstance(documents, Path | str):
        tagged = read_tagged([Path(documents)], names)
    else:
        tagged = tag_rows(documents, names)
    for remark in tagged.remarks:
        _logger.info(remark)
    return fit_collection(tagged.documents, out, options)


def fit_collection(
    documents: Sequence[CorpusDocument],
    out: Path,
    options: FitOptions,
    *,
    on_stage: OnStage = lambda what, done, total: None,
) -> FitReport:
    """Fit a model to documents with keywords, and write it as a model directory.

    A call that was stopped or killed goes on where it was. What does best so far is in ``out`` as
    soon as there is anything.

    Raises:
        CorpusError: there are too few documents, or none of their keywords stands in them.
        CheckpointError: ``out`` holds something else, or a model that gained more.
    """
    import_extra("pyarrow", "fitting", "train")
    base = find_model(find_installed(options.base))
    tagged = [document for document in documents if document.keywords]
    if len(tagged) < FEWEST:
        raise CorpusError(
            f"{len(tagged)} documents with keywords are too few to fit to; give {FEWEST} at least,"
            " better 50 or more"
        )
    fitting = _Fitting(tagged, out, options, base, on_stage)
    if (done := fitting.finished()) is not None:
        return done
    fitting.prepare()
    learns = options.is_network_trained and can_learn(fitting.work)
    lists = fitting.fit_lists_of(fitting.base, fitting.work.found)
    report = fitting.save(lists, is_done=not learns)
    if learns:
        lists = fitting.with_network(lists)
        report = fitting.save(lists, is_done=True)
    fitting.work.remove()
    return report


class _Lists(NamedTuple):
    """Lists by one network, as they are without a fit and with it."""

    model: Path
    documents: list[LabelledCandidates]
    before: Measured
    after: Measured


class _Fitting:
    """The steps of one fit, each of which goes on where it was stopped."""

    def __init__(
        self,
        documents: Sequence[CorpusDocument],
        out: Path,
        options: FitOptions,
        base: Path,
        on_stage: OnStage,
    ) -> None:
        out = out.resolve()  # "." has no name
        self.documents = documents
        self.out = out
        self.options = options
        self.base = base
        self.on_stage = on_stage
        self.work = Work(out)
        self._name = base.name
        self._terms = None if options.vocabulary is None else load_terms(options.vocabulary)
        self._signature = signature_of(documents, base, (self._terms, options.is_network_trained))
        self._earlier = _earlier_fit(out, is_replaced=options.force)

    def finished(self) -> FitReport | None:
        """What an earlier call has made of the same documents."""
        same = self._earlier is not None and self._earlier.signature == self._signature
        return self._earlier.report if self._earlier and same and self._earlier.is_done else None

    def prepare(self) -> None:
        """Parse, and put the vocabulary into the model, if there is one."""
        self.work.claim(self._signature)
        if self._terms is not None:
            extractor = Extractor.load(self.base, parser="conllu")
            extractor.with_vocabulary(self._terms).save_pretrained(self.work.base)
            self.base = self.work.base
        self.corpora, done = [], 0
        places = self.work.apart, self.work.rest
        for part, place in zip(split_documents(self.documents), places, strict=True):
            if part:
                self.corpora.append(self._parse(part, place, done))
                done += len(part)
        present = sum(int(corpus.phrase_counts.sum()) for corpus in self.corpora)
        self._present = present / sum(len(document.keywords) for document in self.documents)
        self.rows: list[int] = np.flatnonzero(self.corpora[0].phrase_counts > 0).tolist()
        if not self.rows:
            raise CorpusError(
                f"none of the keywords of {len(self.corpora[0])} documents stands in its text, and"
                " only what does can be found; check the columns"
            )

    def _parse(self, part: list[CorpusDocument], place: Path, done: int) -> PreparedCorpus:
        def on_progress(finished: int, total: int) -> None:
            self.on_stage("parsing", done + finished, len(self.documents))

        file = write_documents(place.with_suffix(".jsonl"), part)
        options = PrepareOptions(processes=self.options.jobs)
        prepare_corpus([file], place, options, on_progress=on_progress)
        return PreparedCorpus.open(place)

    def fit_lists_of(self, model: Path, folder: Path) -> _Lists:
        """Search with a network, count the collection, and measure lists before and after a fit."""
        extractor = Extractor.load(model, parser="conllu")
        start = default_lists(extractor)
        search = Search(model, start.ranking.network_style, self.work.apart, folder)
        jobs, stage = self.options.jobs, partial(partial, self.on_stage)
        candidates = search_documents(search, self.rows, jobs, stage("searching"))
        if not self.work.collection.exists():
            counted = count_collection(self.corpora, candidates, on_progress=stage("counting"))
            save_glossary(counted, self.work.collection)
        counts = self.work.collection
        labelled = label_documents(search, self.rows, counts, jobs, stage("fitting"))
        before = measure([d.plain for d in labelled], [start] * len(labelled), extractor.search)
        own = [document.own for document in labelled]
        return _Lists(model, own, before, measure_fitted(own, start, extractor.search))

    def with_network(self, lists: _Lists) -> _Lists:
        """The same, or with a network that has learned from the rest, if that is better."""
        style = default_lists(Extractor.load(self.base, parser="conllu")).ranking.network_style
        minutes = self.options.minutes
        tuned = tune_network(self.base, style, self.work, minutes, self.on_stage)
        better = self.fit_lists_of(tuned, self.work.tuned_found)
        if is_better(gain(better.after, lists.after)):
            return better._replace(before=lists.before)
        return lists

    def save(self, lists: _Lists, *, is_done: bool) -> FitReport:
        """Write the model, unless a better one is there."""
        terms, documents = len(self._terms or ()), len(self.documents)
        report = make_report(documents, terms, self._present, lists.before, lists.after)
        earlier = self._earlier
        if earlier and earlier.signature != self._signature and report.gain < earlier.report.gain:
            if not is_done:
                return report
            raise CheckpointError(
                f"the model in {self.out} gained {earlier.report.gain:.3f} in F1@5, this one"
                f" {report.gain:.3f}: that one stays; --force replaces it"
            )
        extractor = Extractor.load(lists.model, parser="conllu")
        if lists.model != self.base:  # a run keeps all digits
            weights = dequantize(quantize(full_arrays(extractor.model.weights)))
            extractor.model = replace(extractor.model, weights=weights)
        if not report.is_kept:
            collection = load_glossary(self.work.collection)
            lexicon = replace(extractor.lexicon, collection=collection)
            extractor.model = replace(extractor.model, lexicon=lexicon)
            fitted = fit_lists(lists.documents, default_lists(extractor), extractor.search)
            extractor.ranking = {STYLE: fitted.ranking}
        made = {"signature": self._signature, "is_done": is_done, "report": asdict(report)}
        notes = {**(read_notes(self.base) or {}), NOTES: made}
        card = fitted_card(self.out.name, self._name, report)
        save_with_card(self.out, extractor.model, extractor.config, notes=notes, card=card)
        return report


class _Earlier(NamedTuple):
    """The fit that a directory holds."""

    signature: str
    is_done: bool
    report: FitReport


def _earlier_fit(out: Path, *, is_replaced: bool) -> _Earlier | None:
    """What is in ``out`` already; none if it is free."""
    refuse_other_files(out)
    if is_replaced or not out.exists() or not any(out.iterdir()):
        return None
    try:
        notes = (read_notes(out) or {})[NOTES]
        return _Earlier(notes["signature"], notes["is_done"], FitReport(**notes["report"]))
    except (KeyError, TypeError, ValueError):
        raise CheckpointError(
            f"{out} holds a model that was not made by this command; choose another --out, or"
            " --force to replace it"
        ) from None
