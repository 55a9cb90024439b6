"""Fit a model to a tagged collection: parse, search, count, fit the lists, measure, write.

Whatever is kept is what did best on documents that it was not fitted to; where a gain is not even
probable, the model's own lists stay.
"""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np

from phraseloom.errors import CheckpointError, CorpusError, import_extra
from phraseloom.extractor import Extractor
from phraseloom.io.records import CorpusDocument
from phraseloom.io.tagged import ColumnNames, read_tagged, tag_rows
from phraseloom.io.vocabulary import Terms
from phraseloom.network.card import save_with_card
from phraseloom.network.lexicon import Glossary
from phraseloom.network.registry import find_installed
from phraseloom.network.weights import (
    dequantize,
    find_model,
    full_arrays,
    quantize,
    read_notes,
    refuse_other_files,
)
from phraseloom.parallel import end_reimport
from phraseloom.train.corpus.glossary import load_glossary, save_glossary
from phraseloom.train.corpus.prepare import PrepareOptions, prepare_corpus
from phraseloom.train.corpus.prepared import PreparedCorpus
from phraseloom.train.fit.counts import count_collection, fingerprints
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
from phraseloom.train.fit.work import Signature, Work, sign, split_documents, write_documents
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
    """Replace whatever model is there, and throw away what another fit has left."""


def fit_rows(
    documents: Sequence[Path] | Iterable[Mapping[str, Any]],
    out: Path,
    options: FitOptions,
    *,
    columns: tuple[str | None, str | None, str | None] = (None, None, None),
) -> FitReport:
    """Fit to files or to rows; ``columns`` are those of texts, titles and keywords."""
    end_reimport()
    names = ColumnNames(*columns)
    listed = list(documents)
    if listed and all(isinstance(document, Path) for document in listed):
        tagged = read_tagged(cast(list[Path], listed), names)
    else:
        tagged = tag_rows(cast(list[Mapping[str, Any]], listed), names)
    for remark in tagged.remarks:
        _logger.info(remark)
    return fit_collection(tagged.documents, out, options)


def fit_collection(
    documents: Sequence[CorpusDocument],
    out: Path,
    options: FitOptions,
    *,
    on_stage: OnStage = lambda what, done, total: None,
    on_remark: Callable[[str], None] = _logger.info,
) -> FitReport:
    """Fit a model to documents with keywords, and write it as a model directory.

    A call that was stopped or killed goes on where it was. What does best so far is in ``out`` as
    soon as there is anything.

    Raises:
        CorpusError: there are too few documents, or none of their keywords stands in them.
        CheckpointError: ``out`` holds something else, such as a model that was fitted to other
            documents, or one that gained more.
    """
    import_extra("pyarrow", "fitting", "train")
    place = find_installed(options.base)
    base = find_model(place)
    if out.resolve() in (place.resolve(), base.resolve()):
        raise CheckpointError(f"{out} is the model to begin from; choose another --out")
    tagged = [document for document in documents if document.keywords]
    if len(tagged) < FEWEST:
        raise CorpusError(
            f"{len(tagged)} documents with keywords are too few to fit to; give {FEWEST} at least,"
            " better 50 or more"
        )
    fitting = _Fitting(tagged, out, options, base, (on_stage, on_remark))
    if (done := fitting.finished()) is not None:
        return done
    default_lists(Extractor.load(base, parser="conllu"))  # before any work: that it can be fitted
    with fitting.work.claimed(fitting.signature, is_forced=options.force):
        return fitting.run()


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
        listeners: tuple[OnStage, Callable[[str], None]],
    ) -> None:
        out = out.resolve()  # "." has no name
        self.documents = documents
        self.out = out
        self.options = options
        self.base = base
        self.on_stage, self.on_remark = listeners
        self.work = Work(out)
        self._name = base.name
        self._terms = None if options.vocabulary is None else load_terms(options.vocabulary)
        self.signature = sign(documents, base, (self._terms, options.is_network_trained))
        self._earlier = _earlier_fit(out, is_replaced=options.force)

    def finished(self) -> FitReport | None:
        """What an earlier call has made of the same documents.

        Raises:
            CheckpointError: it has made something of others, and gains on other documents or over
                another model cannot be compared.
        """
        earlier = self._earlier
        if earlier is None:
            return None
        if earlier.signature[:2] != self.signature[:2]:
            is_same = earlier.signature.documents == self.signature.documents
            of = "documents, from another model" if is_same else "other documents"
            raise CheckpointError(
                f"{self.out} holds a model fitted to {earlier.report.documents} {of}, which gained"
                f" {earlier.report.gain:.3f} in F1@5; choose another --out; --force replaces it"
            )
        is_same = earlier.signature == self.signature
        return earlier.report if is_same and earlier.is_done else None

    def run(self) -> FitReport:
        """All of it, or what is left to do; what did best is saved as soon as it is there."""
        self.prepare()
        learns = self.options.is_network_trained and can_learn(self.work)
        lists = self.fit_lists_of(self.base, self.work.found)
        report = self.save(lists, is_done=not learns)
        if learns:
            lists = self.with_network(lists)
            report = self.save(lists, is_done=True, network=lists.model != self.base)
        self.work.remove()
        return report

    def prepare(self) -> None:
        """Parse, and put the vocabulary into the model, if there is one."""
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
            self.work.remove()
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
            earlier, on_progress = self._counted_before(extractor), stage("counting")
            counted = count_collection(
                self.corpora, candidates, base=earlier, on_progress=on_progress
            )
            save_glossary(counted, self.work.collection)
        counts = self.work.collection
        labelled = label_documents(search, self.rows, counts, jobs, stage("fitting"))
        before = measure([d.plain for d in labelled], [start] * len(labelled), extractor.search)
        own = [document.own for document in labelled]
        return _Lists(model, own, before, measure_fitted(own, start, extractor.search))

    def _counted_before(self, extractor: Extractor) -> Glossary:
        """Counts of other documents to add to, if the model was fitted to some.

        None if these are among them: nothing would tell their old votes from their new ones.
        """
        collection = extractor.lexicon.collection
        if not collection.counts:
            return collection
        again = len(collection.corpora & fingerprints(self.corpora))
        if collection.corpora and not again:
            self.on_remark(
                f"{self._name} was fitted to {len(collection.corpora)} other documents: what they"
                " list goes on counting"
            )
            return collection
        self.on_remark(
            f"{self._name} was fitted to {again or 'some'} of these documents: before, each is"
            f" measured without its own vote; what it had counted of {len(collection.corpora)}"
            " documents is counted anew, of yours alone"
        )
        return Glossary()

    def with_network(self, lists: _Lists) -> _Lists:
        """The same, or with a network that has learned from the rest, if that is better."""
        style = default_lists(Extractor.load(self.base, parser="conllu")).ranking.network_style
        minutes = self.options.minutes
        tuned = tune_network(self.base, style, self.work, minutes, self.on_stage)
        better = self.fit_lists_of(tuned, self.work.tuned_found)
        if is_better(gain(better.after, lists.after)):
            return better._replace(before=lists.before)
        return lists

    def save(self, lists: _Lists, *, is_done: bool, network: bool | None = None) -> FitReport:
        """Write the model, unless a better one of the same documents is there."""
        counts = len(self.documents), len(self._terms or ()), self._present
        report = make_report(*counts, lists.before, lists.after, network=network)
        earlier = self._earlier
        if earlier and earlier.signature != self.signature and report.gain < earlier.report.gain:
            if not is_done:
                return report
            self.work.remove()
            raise CheckpointError(
                f"the model in {self.out} gained {earlier.report.gain:.3f} in F1@5, this one"
                f" {report.gain:.3f}: that one stays; --force replaces it"
            )
        model = self.base if report.is_kept else lists.model
        extractor = Extractor.load(model, parser="conllu")
        if model != self.base:  # a run keeps all digits
            weights = dequantize(quantize(full_arrays(extractor.model.weights)))
            extractor.model = replace(extractor.model, weights=weights)
        if not report.is_kept:
            collection = load_glossary(self.work.collection)
            lexicon = replace(extractor.lexicon, collection=collection)
            extractor.model = replace(extractor.model, lexicon=lexicon)
            fitted = fit_lists(lists.documents, default_lists(extractor), extractor.search)
            extractor.ranking = {STYLE: fitted.ranking}
        signature = self.signature._asdict()
        made = {"signature": signature, "is_done": is_done, "report": asdict(report)}
        notes = {**(read_notes(self.base) or {}), NOTES: made}
        card = fitted_card(self.out.name, self._name, report)
        save_with_card(self.out, extractor.model, extractor.config, notes=notes, card=card)
        return report


class _Earlier(NamedTuple):
    """The fit that a directory holds."""

    signature: Signature
    is_done: bool
    report: FitReport


def _earlier_fit(out: Path, *, is_replaced: bool) -> _Earlier | None:
    """What is in ``out`` already; none if it is free."""
    refuse_other_files(out)
    if is_replaced or not out.exists() or not list(out.iterdir()):
        return None
    try:
        notes = (read_notes(out) or {})[NOTES]
        signature = Signature(**notes["signature"])
        return _Earlier(signature, notes["is_done"], FitReport(**notes["report"]))
    except (KeyError, TypeError, ValueError):
        raise CheckpointError(
            f"{out} holds a model that was not made by this command; choose another --out, or"
            " --force to replace it"
        ) from None
