"""How a run begins, or goes on: corpora, the lexicon made of them, weights, and the trainer."""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import torch
from torch.nn import Parameter

from phraseloom.config import Config, DataConfig
from phraseloom.errors import CheckpointError, ConfigError
from phraseloom.io.atomic import remove_leftovers
from phraseloom.network.lexicon import Glossary, Labels, Lexicon, Vocabulary
from phraseloom.network.ops import Weights
from phraseloom.network.registry import find_installed
from phraseloom.network.weights import full_arrays, load_model
from phraseloom.train.checkpoint import (
    clear,
    find_checkpoint,
    load_checkpoint,
    restore_learner,
)
from phraseloom.train.corpus.examples import CorpusExamples
from phraseloom.train.corpus.glossary import load_glossary
from phraseloom.train.corpus.loader import (
    SINGLE_PROCESS,
    BatchLoader,
    Collate,
    DocumentPool,
    ProcessRank,
)
from phraseloom.train.corpus.prepared import PreparedCorpus
from phraseloom.train.corpus.targets import collate_targets
from phraseloom.train.corpus.vectors import Vectors
from phraseloom.train.distributed import find_device, from_first
from phraseloom.train.initial import (
    MAY_DIFFER,
    as_parameters,
    can_grow,
    grow_weights,
    initial_weights,
)
from phraseloom.train.learner import Learner, LossFunction, TrainState
from phraseloom.train.reward import collate_gold, reward_losses
from phraseloom.train.trainer import Trainer
from phraseloom.train.validate import Validator


@dataclass(frozen=True, slots=True)
class TrainingCorpora:
    """Prepared corpora to learn from and to validate on."""

    train: list[PreparedCorpus]
    valid: list[PreparedCorpus]

    @property
    def fingerprint(self) -> str:
        """Changes when another corpus, or one prepared otherwise, takes a corpus's place."""
        prints = [corpus.fingerprint for corpus in (*self.train, *self.valid)]
        return hashlib.sha256(" ".join(prints).encode()).hexdigest()


def open_run(
    config: Config,
    out: Path,
    process: ProcessRank = SINGLE_PROCESS,
    *,
    is_restarted: bool = False,
) -> Trainer:
    """Begin a run, or go on with the one that the directory holds.

    Args:
        config: of the run; one that goes on must have the same but for when it ends.
        out: directory of the run.
        process: which process of how many this is.
        is_restarted: whether to throw away a run that is there.
    """
    set_up_torch(config.train.threads)
    corpora = open_corpora(config.data)
    if process.rank == 0:
        _make_directory(out)
        if is_restarted:
            clear(out)
        remove_leftovers(out)
    from_first(None, process)  # the others wait
    checkpoint = find_checkpoint(out)
    if checkpoint is None:
        weights, lexicon = begin_weights(corpora.train, config)
        state = TrainState(data=corpora.fingerprint)
    else:
        model, state = load_checkpoint(checkpoint, config)
        weights, lexicon = _to_parameters(model.weights), model.lexicon
        if state.data != corpora.fingerprint:
            raise CheckpointError(
                f"the corpora have changed since {checkpoint} was written; give another --out,"
                " or --restart to throw that run away"
            )
    weights = as_parameters(weights, find_device(config.train.device, process))
    losses, collate = _objective(config, lexicon)
    learner = Learner(weights, state, config, process, losses)
    if checkpoint is not None:
        restore_learner(checkpoint, learner)
    pool = make_pool(corpora.train, lexicon, config.data, is_repeated=True)
    valid = make_pool(corpora.valid, lexicon, config.data, is_repeated=False)
    loader = BatchLoader(pool, lexicon, config.train, process, collate)
    trainer = Trainer(out, learner, loader, Validator(valid, lexicon, config))
    if process.rank == 0:
        trainer.metrics.rewind(state.step)
    return trainer


def _objective(config: Config, lexicon: Lexicon) -> tuple[LossFunction | None, Collate]:
    """What is minimised, unless it is the usual likelihood, and what makes its targets."""
    if config.train.objective == "reward":
        return partial(reward_losses, lexicon), collate_gold
    return None, collate_targets


def open_corpora(config: DataConfig) -> TrainingCorpora:
    """Open what the configuration names."""
    for name, paths in (("train", config.train), ("valid", config.valid)):
        if not paths:
            raise ConfigError(f"name prepared corpora in the configuration: data.{name} = [...]")
    train, valid = (list(map(PreparedCorpus.open, paths)) for paths in (config.train, config.valid))
    return TrainingCorpora(train, valid)


def begin_weights(
    corpora: Sequence[PreparedCorpus], config: Config
) -> tuple[dict[str, Parameter], Lexicon]:
    """The weights of a new run: those of another model if one is named, else drawn anew."""
    if config.train.init is not None:
        return _weights_of_model(config.train.init, corpora, config)
    vectors = load_vectors(config.data, config.model.word_width)
    lexicon = build_lexicon(corpora, vectors, config)
    weights = initial_weights(config.model, lexicon, seed=config.train.seed, vectors=vectors)
    return weights, lexicon


def _weights_of_model(
    path: Path, corpora: Sequence[PreparedCorpus], config: Config
) -> tuple[dict[str, Parameter], Lexicon]:
    """The weights and lexicon of a model that was trained before, on whatever corpora.

    It may lack words, features and styles that the configuration asks for: see `grow_weights`.

    Raises:
        ConfigError: the model has another shape than the configuration asks for.
    """
    model, _ = load_model(find_installed(path))
    lexicon = model.lexicon
    if config.model.glossary_features and config.data.glossary is not None:
        lexicon = replace(lexicon, glossary=read_glossary(config))
    if not can_grow(model.config, config.model):
        name, wanted = next(
            (name, wanted)
            for name, wanted in config.model
            if name not in MAY_DIFFER and getattr(model.config, name) != wanted
        )
        actual = getattr(model.config, name)
        raise ConfigError(f"{path} has model.{name} = {actual}, not {wanted}; set it alike")
    words = _more_words(lexicon.words, corpora, config.data.vocabulary)
    lexicon = replace(lexicon, words=words, styles=config.model.styles)
    arrays = _to_parameters(model.weights)
    grown = grow_weights(arrays, model.config, config.model, lexicon, seed=config.train.seed)
    return as_parameters(grown), lexicon


def _more_words(words: Vocabulary, corpora: Sequence[PreparedCorpus], size: int) -> Vocabulary:
    """A vocabulary filled up to some size with the most frequent words that it lacks."""
    counts: Counter[str] = Counter()
    for corpus in corpora:
        for word, count in zip(corpus.words, corpus.word_counts.tolist(), strict=True):
            if words.id(word) is None:
                counts[word] += count
    room = max(size - len(words), 0)
    lacking = sorted(counts, key=lambda word: (-counts[word], word))[:room]
    return Vocabulary((*words.words, *lacking))


def _to_parameters(weights: Weights) -> dict[str, Parameter]:
    arrays: Mapping[str, torch.Tensor] = {
        # row by row, as they were when they were saved, or sums are not the same to the last bit
        name: torch.from_numpy(array).contiguous()
        for name, array in full_arrays(weights).items()
    }
    return as_parameters(arrays)


def build_lexicon(
    corpora: Sequence[PreparedCorpus], vectors: Vectors | None, config: Config
) -> Lexicon:
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
        glossary=read_glossary(config),
    )


def read_glossary(config: Config) -> Glossary:
    """The known phrases, if the network has features for them."""
    if not config.model.glossary_features:
        return Glossary()
    if config.data.glossary is None:
        raise ConfigError(
            "model.glossary_features needs data.glossary; make one with phraseloom glossary, or set"
            " model.glossary_features=false"
        )
    return load_glossary(config.data.glossary)


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
    return vectors.centered() if config.center_vectors else vectors


def make_pool(
    corpora: Sequence[PreparedCorpus], lexicon: Lexicon, config: DataConfig, *, is_repeated: bool
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
    examples = [
        CorpusExamples(corpus, lexicon, max_tokens=config.max_tokens, style_of=config.style_of)
        for corpus in corpora
    ]
    return DocumentPool(examples, config.repeat if is_repeated else {})


def set_up_torch(threads: int | None) -> None:
    """Same seed, same weights: with several threads, sums would else be added in any order."""
    if threads is not None:
        torch.set_num_threads(threads)
    if torch.get_num_threads() > 1:
        torch.use_deterministic_algorithms(True, warn_only=True)
        # filling memory costs time, and we read none before we write it
        torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]


def _make_directory(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CheckpointError(f"cannot make the directory {out}: {error.strerror}") from None
