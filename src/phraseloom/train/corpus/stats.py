"""What a corpus is like: the paper's data table and its graph table."""

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from phraseloom.errors import CorpusError
from phraseloom.io.records import corpus_name
from phraseloom.train.corpus.prepare import (
    OnProgress,
    PrepareOptions,
    ignore_progress,
    prepare_corpus,
)
from phraseloom.train.corpus.prepared import META, PreparedCorpus, PreparedDocument


@dataclass(frozen=True, slots=True)
class CorpusStats:
    """Means over all documents of a corpus, those without present keyphrases included.

    Edges are counted as the model sees them: for each dependency arc one in either direction, and
    a self-loop for each node. A node is *in* if its stem occurs in a present keyphrase of its
    document, wherever the node stands. An edge is *in–in* if both its ends are (so the self-loop
    of such a node is), and *in–out* if one of them is.
    """

    name: str
    documents: int
    present: float
    """Present keyphrases per document."""
    absent: float
    without_present: int
    """Documents that have no present keyphrase."""
    phrase_length: float
    """Words in a present keyphrase."""
    nodes: float
    edges: float
    in_in_edges: float
    in_out_edges: float


def describe(
    path: Path, options: PrepareOptions, *, on_progress: OnProgress = ignore_progress
) -> CorpusStats:
    """Statistics of a prepared corpus, or of any other after parsing it into a temporary one."""
    if (path / META).is_file():
        return describe_corpus(PreparedCorpus.open(path), path.name)
    with TemporaryDirectory(prefix="phraseloom-") as directory:
        out = Path(directory) / "corpus"
        prepare_corpus([path], out, options, on_progress=on_progress)
        return describe_corpus(PreparedCorpus.open(out), corpus_name(path))


def describe_corpus(corpus: PreparedCorpus, name: str) -> CorpusStats:
    """Statistics of a prepared corpus."""
    if not len(corpus):
        raise CorpusError(f"{corpus.path} holds no documents")
    documents = len(corpus)
    phrases = int(corpus.phrase_counts.sum())
    words = edges = in_in = in_out = absent = 0
    for i in range(documents):
        document = corpus.document(i)
        words += int(document.phrase_length.sum())
        absent += len(corpus.absent(i))
        counts = _count_edges(document, corpus.word_stems[document.word])
        edges, in_in, in_out = edges + counts.all, in_in + counts.in_in, in_out + counts.in_out
    return CorpusStats(
        name=name,
        documents=documents,
        present=phrases / documents,
        absent=absent / documents,
        without_present=int((corpus.phrase_counts == 0).sum()),
        phrase_length=words / max(phrases, 1),
        nodes=float(corpus.lengths.mean()),
        edges=edges / documents,
        in_in_edges=in_in / documents,
        in_out_edges=in_out / documents,
    )


class _EdgeCounts(NamedTuple):
    all: int
    in_in: int
    in_out: int


def _count_edges(document: PreparedDocument, stems: NDArray[np.int32]) -> _EdgeCounts:
    phrases = [stems[start:end] for start, end in document.phrase_spans()]
    is_in = np.isin(stems, np.concatenate(phrases)) if phrases else np.zeros(len(stems), bool)
    dependents = np.flatnonzero(document.head != np.arange(len(document.head)))
    dependent_in, head_in = is_in[dependents], is_in[document.head[dependents]]
    return _EdgeCounts(
        all=2 * len(dependents) + len(stems),
        in_in=2 * int((dependent_in & head_in).sum()) + int(is_in.sum()),
        in_out=2 * int((dependent_in ^ head_in).sum()),
    )
