"""What may be listed of each document of a corpus, found by a model, in several processes.

The search takes long, so what it finds of each chunk of documents is a file that is whole or not
there; the same call goes on where it was stopped.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

from phraseloom.extractor import Extractor
from phraseloom.features import Found
from phraseloom.io.atomic import write_json
from phraseloom.keyphrase import ScoredStems
from phraseloom.network.lexicon import Glossary
from phraseloom.parallel import in_batches, ordered_stream
from phraseloom.text.phrases import count_phrases
from phraseloom.train.corpus.glossary import load_glossary, own_keyphrases
from phraseloom.train.corpus.prepare import OnProgress
from phraseloom.train.corpus.prepared import PreparedCorpus
from phraseloom.train.fit.counts import parsed_document, was_counted, without_document
from phraseloom.train.ranking import LabelledCandidates, label

_CHUNK = 16  # documents


class Search(NamedTuple):
    """Which model searches which corpus, and where what it finds is kept."""

    model: Path
    network_style: str | None
    corpus: Path
    folder: Path

    def file(self, rows: Sequence[int]) -> Path:
        """Of what was found in some documents."""
        return self.folder / f"{rows[0]:08}.json"


class Labelled(NamedTuple):
    """A document as the model lists it, and as one that knows the rest of the collection does."""

    plain: LabelledCandidates
    own: LabelledCandidates


def search_documents(
    search: Search, rows: Sequence[int], processes: int, on_progress: OnProgress
) -> set[str]:
    """Search documents, unless that was done before.

    Returns:
        All phrases that may be listed of them, as stems joined by spaces.
    """
    search.folder.mkdir(parents=True, exist_ok=True)
    _forget()
    chunks = list(in_batches(rows, _CHUNK))
    missing = [chunk for chunk in chunks if not search.file(chunk).exists()]
    done = len(rows) - sum(map(len, missing))
    on_progress(done, len(rows))
    stream = ordered_stream(missing, partial(_search_chunk, search), processes=processes)
    for chunk, found in zip(missing, stream, strict=True):
        write_json(search.file(chunk), found)
        done += len(chunk)
        on_progress(done, len(rows))
    phrases: set[str] = set()
    for chunk in chunks:
        phrases.update(*json.loads(search.file(chunk).read_text(encoding="utf-8"))["candidates"])
    return phrases


def _search_chunk(search: Search, rows: list[int]) -> dict[str, object]:
    extractor, corpus = _extractor(search.model), _corpus(search.corpus)
    documents = [parsed_document(corpus, row) for row in rows]
    found = extractor.find_candidates(documents, network_style=search.network_style)
    lengths = range(1, extractor.search.max_words + 1)
    candidates = [
        {" ".join(stems) for stems in count_phrases(document, [], noun_phrases_of=lengths)}
        | {" ".join(phrase.stems) for phrase in of_document.phrases}
        for document, of_document in zip(documents, found, strict=True)
    ]
    return {
        "found": [[[" ".join(p.stems), p.score] for p in of.phrases] for of in found],
        "importance": [of.importance for of in found],
        "candidates": [sorted(of_document) for of_document in candidates],
    }


def label_documents(
    search: Search,
    rows: Sequence[int],
    collection: Path,
    processes: int,
    on_progress: OnProgress,
) -> list[Labelled]:
    """Documents that were searched, with the features of what may be listed.

    Args:
        search: that was done.
        rows: of the corpus.
        collection: file of its counts, the votes of these documents among them.
        processes: how many.
        on_progress: told of documents.
    """
    _forget()
    labelled: list[Labelled] = []
    chunks = in_batches(rows, _CHUNK)
    work = partial(_label_chunk, search, collection)
    for of_chunk in ordered_stream(chunks, work, processes=processes):
        labelled += of_chunk
        on_progress(len(labelled), len(rows))
    return labelled


def _label_chunk(search: Search, collection: Path, rows: list[int]) -> list[Labelled]:
    return list(_label(search, collection, rows))


def _label(search: Search, collection: Path, rows: list[int]) -> Iterator[Labelled]:
    extractor, corpus = _extractor(search.model), _corpus(search.corpus)
    counts = _glossary(collection)
    searched = json.loads(search.file(rows).read_text(encoding="utf-8"))
    columns = searched["found"], searched["importance"]
    for row, found, importance in zip(rows, *columns, strict=True):
        document = parsed_document(corpus, row)
        own = own_keyphrases(corpus, corpus.document(row))
        phrases = [ScoredStems(tuple(stems.split(" ")), score) for stems, score in found]
        lexicon = extractor.lexicon
        if was_counted(lexicon.collection, corpus, row):
            before = without_document(lexicon.collection, document, own)
            lexicon = replace(lexicon, collection=before)
        others = replace(lexicon, collection=without_document(counts, document, own))
        gold = tuple(tuple(phrase.split(" ")) for phrase in sorted(own))
        work = partial(label, document, Found(phrases, importance), gold, extractor, origin="own")
        yield Labelled(work(lexicon=lexicon), work(lexicon=others))


@lru_cache(maxsize=1)
def _extractor(model: Path) -> Extractor:
    return Extractor.load(model, parser="conllu")  # which needs no model; nothing is parsed


@lru_cache(maxsize=1)
def _corpus(path: Path) -> PreparedCorpus:
    return PreparedCorpus.open(path)


@lru_cache(maxsize=1)
def _glossary(path: Path) -> Glossary:
    return load_glossary(path)


def _forget() -> None:
    """Files of the same name may hold something else by now."""
    for loaded in (_extractor, _corpus, _glossary):
        loaded.cache_clear()
