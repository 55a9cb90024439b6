"""What a corpus is like: the paper's data table and its graph table."""

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from phraseloom.data.cache import META, Corpus, Record
from phraseloom.data.corpus import corpus_name
from phraseloom.data.prepare import OnProgress, PrepareOptions, ignore_progress, prepare_corpus
from phraseloom.errors import CorpusError


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
        return describe_corpus(Corpus.open(path), path.name)
    with TemporaryDirectory(prefix="phraseloom-") as directory:
        out = Path(directory) / "corpus"
        prepare_corpus([path], out, options, on_progress=on_progress)
        return describe_corpus(Corpus.open(out), corpus_name(path))


def describe_corpus(corpus: Corpus, name: str) -> CorpusStats:
    """Statistics of a prepared corpus."""
    if not len(corpus):
        raise CorpusError(f"{corpus.path} holds no documents")
    documents = len(corpus)
    phrases = int(corpus.phrase_counts.sum())
    words = edges = in_in = in_out = absent = 0
    for i in range(documents):
        record = corpus.record(i)
        words += int(record.phrase_length.sum())
        absent += len(corpus.absent(i))
        counts = _count_edges(record, corpus.word_stems[record.word])
        edges, in_in, in_out = edges + counts[0], in_in + counts[1], in_out + counts[2]
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


def _count_edges(record: Record, stems: "np.ndarray[tuple[int], np.dtype[np.int32]]") -> list[int]:
    """All edges of a document, those in–in, and those in–out."""
    spans = zip(record.phrase_start.tolist(), record.phrase_length.tolist(), strict=True)
    targets = [stems[start : start + length] for start, length in spans]
    is_in = np.isin(stems, np.concatenate(targets)) if targets else np.zeros(len(stems), bool)
    dependents = np.flatnonzero(record.head != np.arange(len(record.head)))
    ends = is_in[dependents], is_in[record.head[dependents]]
    in_in = 2 * int((ends[0] & ends[1]).sum()) + int(is_in.sum())
    in_out = 2 * int((ends[0] ^ ends[1]).sum())
    return [2 * len(dependents) + len(stems), in_in, in_out]
