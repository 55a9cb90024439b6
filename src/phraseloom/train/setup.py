"""What a run starts from: corpora, the lexicon made of them, and a fresh network."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from phraseloom.config import Config, DataConfig
from phraseloom.data.cache import Corpus
from phraseloom.data.example import CorpusExamples
from phraseloom.data.glossary import Glossary
from phraseloom.data.lexicon import Lexicon
from phraseloom.data.loader import DocumentPool
from phraseloom.data.vectors import Vectors
from phraseloom.data.vocab import Labels, Vocabulary
from phraseloom.errors import ConfigError
from phraseloom.model.catalogue import find_installed
from phraseloom.model.checkpoint import load_model
from phraseloom.model.network import KeyphraseModel


@dataclass(frozen=True, slots=True)
class Corpora:
    """Prepared corpora to learn from and to validate on."""

    train: list[Corpus]
    valid: list[Corpus]

    @property
    def fingerprint(self) -> str:
        """Changes when another corpus, or one prepared otherwise, takes a corpus's place."""
        prints = [corpus.fingerprint for corpus in (*self.train, *self.valid)]
        return hashlib.sha256(" ".join(prints).encode()).hexdigest()


def open_corpora(config: DataConfig) -> Corpora:
    """Open what the configuration names."""
    for name, paths in (("train", config.train), ("valid", config.valid)):
        if not paths:
            raise ConfigError(f"name prepared corpora in the configuration: data.{name} = [...]")
    return Corpora(
        [Corpus.open(path) for path in config.train], [Corpus.open(path) for path in config.valid]
    )


def begin_model(corpora: Corpora, config: Config) -> tuple[KeyphraseModel, Lexicon]:
    """The network of a new run: that of another model if one is named, else one drawn anew."""
    if config.train.init is not None:
        return start_from(config.train.init, config)
    vectors = load_vectors(config.data, config.model.word_width)
    lexicon = build_lexicon(corpora.train, vectors, config)
    return build_model(lexicon, vectors, config), lexicon


def build_lexicon(corpora: Sequence[Corpus], vectors: Vectors | None, config: Config) -> Lexicon:
    """Number the words, labels and styles of training corpora.

    Without vectors there are no subwords: a word outside the vocabulary has the zero vector.
    """
    words = [word for corpus in corpora for word in corpus.words]
    counts = [int(count) for corpus in corpora for count in corpus.word_counts]
    return Lexicon(
        words=Vocabulary.from_counts(words, counts, config.data.vocabulary),
        pos_tags=Labels.of(tag for corpus in corpora for tag in corpus.pos_tags),
        relations=Labels.of(name for corpus in corpora for name in corpus.relations),
        styles=config.model.styles,
        min_n=3 if vectors is None else vectors.min_n,
        max_n=6 if vectors is None else vectors.max_n,
        buckets=0 if vectors is None else len(vectors.subwords),
        glossary=load_glossary(config),
    )


def load_glossary(config: Config) -> Glossary:
    """Read the phrases that the network is told of, if it is told of any."""
    if not config.model.known_phrases:
        return Glossary()
    if config.data.glossary is None:
        raise ConfigError(
            "model.known_phrases needs data.glossary; make one with phraseloom glossary, or set"
            " model.known_phrases=false"
        )
    return Glossary.load(config.data.glossary)


def load_vectors(config: DataConfig, word_width: int) -> Vectors | None:
    """Read the initial word vectors, if any; they must be as wide as the network wants them."""
    path = config.vectors
    if path is None:
        return None
    vectors = Vectors.load(path)
    if vectors.width != word_width:
        raise ConfigError(
            f"{path} holds vectors of width {vectors.width}: set model.word_width={vectors.width}"
            f" (it is {word_width}), or name other vectors"
        )
    return vectors.centred() if config.centred else vectors


def build_model(lexicon: Lexicon, vectors: Vectors | None, config: Config) -> KeyphraseModel:
    """A network as the seed draws it, its word vectors started from trained ones if any."""
    torch.manual_seed(config.train.seed)
    model = KeyphraseModel(config.model, lexicon)
    if vectors is not None:
        model.initialise(vectors, lexicon)
    return model


def start_from(path: Path, config: Config) -> tuple[KeyphraseModel, Lexicon]:
    """The network and lexicon of a model that was trained before, on whatever corpora.

    It is given by its directory, or by its name if it came with the install. A glossary takes
    the place of the model's own.

    Raises:
        ConfigError: the model has another shape than the configuration asks for.
    """
    earlier, lexicon, _ = load_model(find_installed(path))
    if config.model.known_phrases and config.data.glossary is not None:
        lexicon = replace(lexicon, glossary=load_glossary(config))
    for name, wanted in config.model:
        found = getattr(earlier.config, name)
        if name != "dropout" and found != wanted:  # dropout is no part of the shape
            raise ConfigError(f"{path} has model.{name} = {found}, not {wanted}; set it alike")
    torch.manual_seed(config.train.seed)
    model = KeyphraseModel(config.model, lexicon)
    model.load_state_dict(earlier.state_dict())
    return model, lexicon


def make_pool(
    corpora: Sequence[Corpus], lexicon: Lexicon, config: DataConfig, *, is_repeated: bool
) -> DocumentPool:
    """The documents of corpora that have something to learn, as often as the configuration says.

    Args:
        corpora: of which documents are taken.
        lexicon: that numbers them.
        config: with their styles, length and repeats.
        is_repeated: whether ``config.repeat`` counts; validation sees every document once.
    """
    unknown = sorted(set(config.style_of.values()) - set(lexicon.styles))
    if unknown:
        raise ConfigError(
            f"data.style_of names the style {unknown[0]}; add it to model.styles ="
            f" {list(lexicon.styles)}"
        )
    sources = [
        CorpusExamples(corpus, lexicon, max_tokens=config.max_tokens, style_of=config.style_of)
        for corpus in corpora
    ]
    return DocumentPool(sources, config.repeat if is_repeated else {})
