"""The words of corpora as a stream of sentences: what word vectors are learned from."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from phraseloom.data.cache import META, PARTS, Corpus
from phraseloom.data.corpus import read_corpus
from phraseloom.text.normalise import normalise
from phraseloom.text.stem import as_word

_TOKEN = re.compile(r"<digit>|\d+(?:[.,]\d+)+|\w+|[^\w\s]")


def read_sentences(corpora: Sequence[Path], *, strict: bool = False) -> Iterator[list[str]]:
    """Words of every sentence of prepared corpora; of every title and body of raw ones.

    Raw text is not parsed: its tokens are runs of letters and digits, and single other characters.

    Args:
        corpora: directories made by ``phraseloom prepare``, or anything that it reads.
        strict: refuse bad lines of raw corpora instead of skipping them with a warning.
    """
    for path in corpora:
        if (path / META).is_file() or (path / PARTS).is_dir():
            yield from _of_prepared(path)
        else:
            for document in read_corpus(path, strict=strict):
                yield words_of(document.source.title)
                yield words_of(document.source.text)


def words_of(text: str) -> list[str]:
    """Words of raw text in the form that documents have.

    >>> words_of("Object-oriented parsing of 12 graphs.")
    ['object', 'oriented', 'parsing', 'of', '<digit>', 'graphs', '.']
    """
    return [as_word(token) for token in _TOKEN.findall(normalise(text))]


def _of_prepared(path: Path) -> Iterator[list[str]]:
    corpus = Corpus.open(path)
    for i in range(len(corpus)):
        record = corpus.record(i)
        words = [corpus.words[word] for word in record.word.tolist()]
        firsts = record.sentence.tolist()
        for start, end in zip(firsts, [*firsts[1:], len(words)], strict=True):
            yield words[start:end]
