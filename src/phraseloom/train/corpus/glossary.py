"""Counting known phrases: how many documents list each, of those in which it occurs."""

import json
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from phraseloom.errors import CheckpointError
from phraseloom.io.atomic import write_json
from phraseloom.network.lexicon import (
    MAX_GLOSSARY_WORDS,
    MIN_KEYPHRASE_COUNT,
    NEVER_SEEN,
    Glossary,
    PhraseCounts,
    stem_runs,
)
from phraseloom.train.corpus.prepare import OnProgress, ignore_progress
from phraseloom.train.corpus.prepared import PreparedCorpus, PreparedDocument


def count_glossary(
    corpora: Sequence[PreparedCorpus],
    *,
    base: Glossary | None = None,
    counted: Sequence[PreparedCorpus] = (),
    fewest: int = MIN_KEYPHRASE_COUNT,
    on_progress: OnProgress = ignore_progress,
) -> Glossary:
    """Count in how many documents each phrase is a keyphrase, and in how many it occurs.

    Args:
        corpora: to count.
        base: counts to add to, such as those of a trained model.
        counted: corpora whose documents ``base`` has counted already, prepared otherwise.
        fewest: documents that have to list a phrase, or it is left out.
        on_progress: told of documents, each of which is read twice.
    """
    base = base or Glossary()
    total, done = 2 * sum(map(len, corpora)), 0
    keyphrase_counts: Counter[str] = Counter()
    document_counts: Counter[str] = Counter()
    for corpus in corpora:
        for document in map(corpus.document, range(len(corpus))):
            keyphrase_counts.update(own_keyphrases(corpus, document))
            done += 1
            on_progress(done, total)
    known = {
        phrase
        for phrase, count in keyphrase_counts.items()
        if count >= fewest and len(phrase.split(" ")) <= MAX_GLOSSARY_WORDS
    } | set(base.counts)
    for corpus in corpora:
        for document in map(corpus.document, range(len(corpus))):
            sentences = sentence_stems(corpus, document)
            runs = (run for stems in sentences for run, _, _ in stem_runs(stems))
            document_counts.update(known.intersection(runs))
            done += 1
            on_progress(done, total)
    counts = {}
    for phrase in sorted(known):
        before = base.counts.get(phrase, NEVER_SEEN)
        counts[phrase] = PhraseCounts(
            before.keyphrase_count + keyphrase_counts[phrase],
            before.document_count + document_counts[phrase],
        )
    prints = {corpus.fingerprint for corpus in (*corpora, *counted)}
    return Glossary(counts, base.corpora | prints)


def own_keyphrases(corpus: PreparedCorpus, document: PreparedDocument) -> set[str]:
    """Present keyphrases of a document, as stems joined by spaces."""
    stems = corpus.stems_of(document)
    return {" ".join(stems[start:end]) for start, end in document.phrase_spans()}


def sentence_stems(
    corpus: PreparedCorpus, document: PreparedDocument, size: int | None = None
) -> list[list[str]]:
    """Stems of each sentence's words, of the first ``size`` tokens if that is given."""
    stems = corpus.stems_of(document)[:size]
    bounds = pairwise([*document.sentence.tolist(), len(stems)])
    return [stems[start:end] for start, end in bounds]


def save_glossary(glossary: Glossary, path: Path) -> None:
    """Write one JSON file; whoever looks sees the old file or the whole new one."""
    write_json(path, glossary.columns())


def load_glossary(path: Path) -> Glossary:
    """Read what `save_glossary` wrote; a damaged file is named."""
    try:
        return Glossary.from_columns(json.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise CheckpointError(
            f"cannot read {path}: {error.strerror}; make it with phraseloom glossary"
        ) from None
    except (ValueError, KeyError, TypeError) as error:
        raise CheckpointError(
            f"{path} is no glossary, or damaged ({error}); make it with phraseloom glossary"
        ) from None
