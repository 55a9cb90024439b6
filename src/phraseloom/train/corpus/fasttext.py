"""FastText vectors learned from text with gensim, or read from the official files.

gensim is imported only when it is needed: it is part of the ``train`` extra.
"""

import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from phraseloom.errors import CheckpointError, CorpusError, import_extra
from phraseloom.io.records import read_corpus
from phraseloom.text.words import as_word, normalise

if TYPE_CHECKING:
    from phraseloom.train.corpus.vectors import Vectors

OnWords = Callable[[int, int], None]
"""Told how many words have been read in training, and how many will be in all."""

OFFICIAL_ENDINGS = (".vec", ".vec.gz", ".bin", ".bin.gz")
_FILE_WORDS = 500_000  # trained on between two reports of progress
_TOKEN = re.compile(r"<digit>|\d+(?:[.,]\d+)+|\w+|[^\w\s]")
_LAST_RATE = 1e-4  # the learning rate falls to this in a straight line


@dataclass(frozen=True, slots=True, kw_only=True)
class FastTextSettings:
    """How vectors are learned. Bit-equal when repeated with one thread, not with several."""

    width: int = 300
    epochs: int = 5
    skip_gram: bool = True
    """Predict the neighbours from the word; else the word from its neighbours (CBOW)."""
    window: int = 5
    min_count: int = 5
    """Rarer words have no vector of their own, only that of their subwords."""
    min_n: int = 3
    max_n: int = 6
    buckets: int = 100_000
    """Character n-grams are hashed into so many vectors; zero: no subwords."""
    sample: float = 1e-4
    """Words more frequent than this share are read less often."""
    rate: float = 0.025
    """Learning rate at the start; it falls in a straight line."""
    keep: int | None = None
    """Words with a vector of their own, at most; none: all that are frequent enough."""
    seed: int = 0
    threads: int = 2


class _TextFile(NamedTuple):
    """A stretch of the corpus as a text file, one sentence a line."""

    path: Path
    sentences: int
    words: int


def train_vectors(
    sentences: Iterable[Sequence[str]],
    settings: FastTextSettings,
    *,
    scratch: Path,
    on_progress: OnWords | None = None,
) -> "Vectors":
    """Learn vectors from sentences, which are read once.

    gensim's threads wait for each other when fed from Python, so the sentences are first written
    to files that each thread reads for itself.

    Args:
        sentences: words of each sentence, in the form in which documents have them.
        settings: how to learn.
        scratch: directory for a temporary copy of the text.
        on_progress: called now and then.
    """
    _need_gensim()  # before the text is read, not after
    with tempfile.TemporaryDirectory(dir=scratch, prefix=".vectors-") as folder:
        counts: Counter[str] = Counter()
        files = list(_write_files(sentences, Path(folder), counts))
        if not any(count >= settings.min_count for count in counts.values()):
            raise CorpusError(
                f"no word occurs {settings.min_count} times; give more text or a lower --min-count"
            )
        model = _new_model(counts, settings, sentences=sum(file.sentences for file in files))
        _train(model, files, settings, on_progress or (lambda done, total: None))
    return _from_gensim(model.wv, keep=None)


def read_official(path: Path, *, keep: int | None = None) -> "Vectors":
    """Read the ``.vec`` (words only) or ``.bin`` (with subwords) files that FastText publishes.

    Words take the form that our documents have (`as_word`); where several become one, the vector is
    that of the form spelled like it or else of the most frequent.

    Args:
        path: the file, perhaps with ``.gz``.
        keep: number of words kept, the most frequent first; none: all.
    """
    _need_gensim()
    from gensim.models import KeyedVectors
    from gensim.models.fasttext import load_facebook_vectors

    if not path.is_file():
        raise CheckpointError(f"there is no file {path}")
    try:
        if ".vec" in path.suffixes:
            loaded = KeyedVectors.load_word2vec_format(str(path), unicode_errors="replace")
        else:
            loaded = load_facebook_vectors(str(path))
    except Exception as error:  # gensim lets many kinds of exception escape from a bad file
        raise CheckpointError(
            f"{path} is no FastText file, or damaged ({error}); download it again"
        ) from error
    return _from_gensim(loaded, keep=keep)


def _need_gensim() -> None:
    import_extra("gensim", "learning and converting word vectors", "train")


def _write_files(
    sentences: Iterable[Sequence[str]], folder: Path, counts: Counter[str]
) -> Iterator[_TextFile]:
    """Write the sentences into files of bounded size, counting words on the way."""
    lines: list[str] = []
    words = number = 0
    for sentence in sentences:
        text = " ".join(sentence).encode("utf-8", errors="replace").decode("utf-8")
        line = text.split()  # as gensim will: a word with a space in it becomes two
        if not line:
            continue
        counts.update(line)
        lines.append(" ".join(line) + "\n")
        words += len(line)
        if words >= _FILE_WORDS:
            yield _write_file(folder / f"{number}.txt", lines, words)
            lines, words, number = [], 0, number + 1
    if lines:
        yield _write_file(folder / f"{number}.txt", lines, words)


def _write_file(path: Path, lines: list[str], words: int) -> _TextFile:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(lines)
    return _TextFile(path, len(lines), words)


def _new_model(counts: Counter[str], settings: FastTextSettings, *, sentences: int) -> Any:
    from gensim.models import FastText

    model = FastText(
        vector_size=settings.width,
        sg=int(settings.skip_gram),
        window=settings.window,
        min_count=settings.min_count,
        min_n=settings.min_n,
        max_n=settings.max_n,
        bucket=settings.buckets,
        sample=settings.sample,
        seed=settings.seed,
        sorted_vocab=0,  # they are sorted already, ties too
        workers=settings.threads,
    )
    ranked = dict(sorted(counts.items(), key=lambda item: (-item[1], item[0]))[: settings.keep])
    model.build_vocab_from_freq(ranked, corpus_count=sentences)
    return model


def _train(
    model: Any, files: Sequence[_TextFile], settings: FastTextSettings, on_progress: OnWords
) -> None:
    """One pass over all files per epoch; the learning rate falls over all passes together."""
    total = settings.epochs * sum(file.words for file in files)
    done = 0
    add_subwords_to_words = model.wv.adjust_vectors
    model.wv.adjust_vectors = lambda: None  # gensim would after every file, for seconds
    on_progress(done, total)
    for _ in range(settings.epochs):
        for file in files:
            start = _rate(settings.rate, done / total)
            done += file.words
            model.train(
                corpus_file=str(file.path),
                total_examples=file.sentences,
                total_words=file.words,
                epochs=1,
                start_alpha=start,
                end_alpha=_rate(settings.rate, done / total),
            )
            on_progress(done, total)
    add_subwords_to_words()


def _rate(first: float, share: float) -> float:
    return first + (_LAST_RATE - first) * share


def _from_gensim(loaded: Any, *, keep: int | None) -> "Vectors":
    """Our form of gensim's vectors, with or without subwords."""
    import numpy as np

    from phraseloom.train.corpus.vectors import Vectors  # here: --help reads the settings only

    rows = dict(list(_rows_of_words(loaded.index_to_key).items())[:keep])
    matrix = np.asarray(loaded.vectors, dtype=np.float32)[list(rows.values())]  # (V, D)
    subwords = np.asarray(
        getattr(loaded, "vectors_ngrams", np.empty((0, matrix.shape[1]))), dtype=np.float32
    )  # (buckets, D)
    words = tuple(rows)
    if not len(subwords):
        return Vectors(words, matrix, subwords)
    return Vectors(words, matrix, subwords, min_n=loaded.min_n, max_n=loaded.max_n)


def _rows_of_words(forms: Sequence[str]) -> dict[str, int]:
    """Row of the vector of each of our words among forms, which are most frequent first."""
    rows: dict[str, int] = {}
    for row, form in enumerate(forms):
        word = as_word(form)
        if word == form or word not in rows:
            rows[word] = row
    return rows


def read_sentences(corpora: Sequence[Path], *, strict: bool = False) -> Iterator[list[str]]:
    """Words of every sentence of prepared corpora; of every title and body of raw ones.

    Raw text is not parsed: its tokens are runs of letters and digits, and single other characters.

    Args:
        corpora: directories made by ``phraseloom prepare``, or anything that it reads.
        strict: refuse bad lines of raw corpora instead of skipping them with a warning.
    """
    from phraseloom.train.corpus.prepared import META, SHARDS

    for path in corpora:
        if (path / META).is_file() or (path / SHARDS).is_dir():
            yield from _sentences_of_prepared(path)
        else:
            for document in read_corpus(path, strict=strict):
                yield split_words(document.source.title)
                yield split_words(document.source.text)


def split_words(text: str) -> list[str]:
    """Words of raw text in the form that documents have.

    >>> split_words("Object-oriented parsing of 12 graphs.")
    ['object', 'oriented', 'parsing', 'of', '<digit>', 'graphs', '.']
    """
    return [as_word(token) for token in _TOKEN.findall(normalise(text))]


def _sentences_of_prepared(path: Path) -> Iterator[list[str]]:
    from phraseloom.train.corpus.prepared import PreparedCorpus

    corpus = PreparedCorpus.open(path)
    for document in map(corpus.document, range(len(corpus))):
        words = [corpus.words[word] for word in document.word.tolist()]
        for start, end in pairwise([*document.sentence.tolist(), len(words)]):
            yield words[start:end]
