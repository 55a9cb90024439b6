"""What a collection lists: of the documents in which a phrase stands, how many list it."""

from collections.abc import Collection, Sequence
from hashlib import sha256

from phraseloom.network.lexicon import NEVER_SEEN, Glossary, stem_runs
from phraseloom.text.document import Document, Sentence, Token
from phraseloom.train.corpus.glossary import count_glossary
from phraseloom.train.corpus.prepare import OnProgress, ignore_progress
from phraseloom.train.corpus.prepared import PreparedCorpus

_FEWEST_WITHOUT = 3  # documents that hold a phrase and do not list it, to say that it is none
_DIGITS = 12  # of a fingerprint


def count_collection(
    corpora: Sequence[PreparedCorpus],
    candidates: Collection[str],
    *,
    base: Glossary | None = None,
    on_progress: OnProgress = ignore_progress,
) -> Glossary:
    """Count all phrases that a document lists, and candidates that none does.

    Args:
        corpora: of the collection.
        candidates: phrases that might be listed, as stems joined by spaces.
        base: counts of other documents, to add to.
        on_progress: told of documents.
    """

    def of_both_readings(done: int, total: int) -> None:
        on_progress(done // 2, total // 2)

    base = base or Glossary()
    start = Glossary({**dict.fromkeys(candidates, NEVER_SEEN), **base.counts})
    counted = count_glossary(corpora, base=start, fewest=1, on_progress=of_both_readings)
    return Glossary(
        {
            phrase: counts
            for phrase, counts in counted.counts.items()
            if counts.keyphrase_count or counts.document_count >= _FEWEST_WITHOUT
        },
        base.corpora | fingerprints(corpora),
    )


def fingerprints(corpora: Sequence[PreparedCorpus]) -> frozenset[str]:
    """Of all documents: by these a later fit knows which were counted already."""
    return frozenset(fingerprint(corpus, i) for corpus in corpora for i in range(len(corpus)))


def fingerprint(corpus: PreparedCorpus, i: int) -> str:
    """Of a document's text, whatever its keyphrases."""
    return sha256(f"{corpus.title(i)}\n{corpus.text(i)}".encode()).hexdigest()[:_DIGITS]


def was_counted(collection: Glossary, corpus: PreparedCorpus, i: int) -> bool:
    """Whether a document is among those of a collection; it may be if that does not say."""
    if not collection.corpora:
        return bool(collection.counts)
    return fingerprint(corpus, i) in collection.corpora


def without_document(collection: Glossary, document: Document, own: Collection[str]) -> Glossary:
    """What the other documents of a collection say of the phrases in one of its documents.

    With its own vote among the counts, a document's keyphrases could be read off them.
    """
    counts = {
        run: collection.counts[run].without(run in own)
        for sentence in document.sentences
        for run, _, _ in stem_runs([token.stem for token in sentence.tokens])
        if run in collection.counts
    }
    return Glossary(counts)


def parsed_document(corpus: PreparedCorpus, i: int) -> Document:
    """Document ``i`` of a prepared corpus, as its parser gave it."""
    numbers = corpus.document(i)
    title, text = corpus.title(i), corpus.text(i)
    stems = corpus.stems_of(numbers)
    starts, ends = numbers.start.tolist(), numbers.end.tolist()
    words, tags = numbers.word.tolist(), numbers.pos.tolist()
    relations, heads = numbers.relation.tolist(), numbers.head.tolist()
    firsts = [*numbers.sentence.tolist(), len(stems)]
    sentences = []
    for first, last in zip(firsts, firsts[1:], strict=False):
        in_title = first < numbers.title_tokens
        string = title if in_title else text
        tokens = tuple(
            Token(
                text=string[starts[j] : ends[j]],
                start=starts[j],
                end=ends[j],
                pos=corpus.pos_tags[tags[j]],
                head=heads[j] - first,
                relation=corpus.relations[relations[j]],
                word=corpus.words[words[j]],
                stem=stems[j],
            )
            for j in range(first, last)
        )
        sentences.append(Sentence(tokens, in_title))
    return Document(text, title, tuple(sentences))
