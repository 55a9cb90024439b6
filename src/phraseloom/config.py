"""Configuration: frozen models, read from TOML, refused when wrong.

The model classes are the only place where a default is written down. A TOML file holds what differs
from them, and ``--set model.layers=3`` what differs from that.
"""

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from phraseloom.errors import ConfigError, shown


class Section(BaseModel):
    """Settings of one subject; numbers are bounded, since a file of a model may hold anything."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, protected_namespaces=()
    )


class ModelConfig(Section):
    """Shape of the network. The defaults are the paper's; symbols are those of docs/notation.md."""

    variant: Literal["gru", "gcn", "dgcn"] = "dgcn"
    word_width: int = Field(300, ge=1, le=4096, description="d_w")
    pos_width: int = Field(30, ge=1, le=4096, description="d_pos")
    position_width: int = Field(10, ge=2, le=4096, multiple_of=2, description="d_p, sinusoidal")
    width: int = Field(
        400, ge=2, le=8192, multiple_of=2, description="d_h: two GRU directions share it"
    )
    edge_width: int = Field(80, ge=1, le=4096, description="d_e, embedding of an edge's type")
    layers: int = Field(6, ge=1, le=100, description="graph convolutions")
    decoder_layers: int = Field(3, ge=1, le=100)
    edge_scorer: Literal["linear", "interaction"] = "linear"
    interaction_rank: int = Field(32, ge=1, le=4096, description="of the interaction edge scorer")
    dynamic_layers: Literal["all", "last", "merged"] = Field(
        "all",
        description="convolutions whose edges change with what was decoded; merged: those of the"
        " last, all edges into a stem alike",
    )
    history_coverage: bool = Field(True, description="coverage begins with earlier phrases")
    numbered: bool = Field(True, description="the decoder is told each phrase's number")
    scaled_edges: bool = Field(False, description="divide edge scores by the root of their width")
    attention: Literal["additive", "bilinear"] = "additive"
    residual: bool = Field(False, description="each graph convolution adds to its input")
    merge: bool = Field(True, description="nodes with one stem become one")
    gate: bool = Field(True, description="residual gated linear unit over the merged nodes")
    pooling: bool = Field(True, description="start the decoder from the mean node; else from H0")
    node_features: bool = Field(False, description="frequency, in title, first place")
    glossary_features: bool = Field(False, description="what the glossary says of a word's phrases")
    token_features: bool = Field(False, description="shape, part in a noun phrase, hyphens")
    importance: bool = Field(False, description="read out whether a word belongs to any phrase")
    styles: tuple[str, ...] = Field(
        (), description="kinds of annotators told apart; none: one kind"
    )
    dropout: float = Field(0.2, ge=0, lt=1)


class SearchConfig(Section):
    """How phrases are looked for. The defaults are for users; see configs/paper.toml."""

    mode: Literal["extractive", "free"] = "extractive"
    beam_width: int = Field(10, ge=1, le=1000, description="hypotheses kept per document")
    max_words: int = Field(6, ge=1, le=20, description="words in a phrase, at most")
    max_phrases: int = Field(10, ge=1, le=10_000)
    alpha: float = Field(1.0, ge=0, le=100, description="length penalty")
    lambda1: float = Field(0.2, ge=0, le=10_000, description="dissimilarity to earlier phrases")
    lambda2: float = Field(0.1, ge=0, le=10_000, description="rank among siblings")
    order: Literal["decoding", "score", "expected"] = Field(
        "expected", description="as decoded, by score, or all finished hypotheses by their chance"
    )
    eos_threshold: float = Field(0.5, gt=0, le=1, description="τ; not for order expected")
    min_score: float = Field(0.15, ge=0, le=1, description="for order expected")
    window_tokens: int = Field(
        600, ge=8, le=5000, description="longer documents are searched in windows"
    )


Weight = Annotated[float, Field(ge=-1e6, le=1e6)]
"""Of a logistic function; more would only overflow."""


class StyleRanking(Section):
    """How a list of one style is put together from what the search found; see `ranker.py`."""

    network_style: str | None = Field(None, description="style that the network is asked for")
    weights: dict[str, Weight] = Field({}, description="of each of `features.FEATURES`")
    weights_of: dict[str, dict[str, Weight]] = Field(
        {}, description="other weights for each kind of text; none: no difference"
    )
    min_score: float = Field(0.15, ge=0, le=1, description="a list goes on as long as this")
    min_phrases: int = Field(4, ge=1, le=10_000, description="of a text that is long enough")
    taste_of: dict[str, dict[str, Annotated[float, Field(ge=0, le=1)]]] = Field(
        {}, description="shares of kinds' weights for a text of one kind; not named: its own"
    )
    lambda1_of: dict[str, Annotated[float, Field(ge=0, le=100)]] = Field(
        {}, description="times search.lambda1 for each kind of text; not named: once"
    )
    term_share: float = Field(
        1.0,
        ge=0,
        le=1,
        description="a part of a whole term comes after it if the term has so much of its chance",
    )


class DataConfig(Section):
    """What is learned from: prepared corpora and word vectors."""

    train: tuple[Path, ...] = ()
    valid: tuple[Path, ...] = ()
    vectors: Path | None = Field(None, description="initial word vectors; none: random")
    center_vectors: bool = Field(False, description="whether to subtract the vectors' mean")
    glossary: Path | None = Field(None, description="for model.glossary_features")
    vocabulary: int = Field(
        50_000, ge=1, le=10_000_000, description="words with a vector of their own"
    )
    repeat: dict[str, float] = Field({}, description="times a set's documents are seen per epoch")
    style_of: dict[str, str] = Field(
        {}, description="style of a set's documents; others: the first"
    )
    max_tokens: int = Field(600, ge=8, le=5000, description="longer training documents are cut")


class TrainConfig(Section):
    """The paper's recipe by default, and what a small machine needs as options."""

    seed: int = Field(0, ge=0, lt=2**63)
    init: Path | None = Field(
        None, description="model, or name of an installed one, to start from; none: new weights"
    )
    epochs: int = Field(20, ge=1, le=1_000_000)
    steps: int | None = Field(
        None,
        ge=1,
        le=10**9,
        description="end after so many, the rate falling to zero in a straight line",
    )
    minutes: float | None = Field(None, gt=0, description="time limit, over all resumes")
    threads: int | None = Field(
        None, ge=1, le=1024, description="of torch; none: as many as it likes"
    )
    precision: Literal["float32", "bfloat16"] = Field(
        "float32", description="of products of matrices; bfloat16 needs a processor that has it"
    )
    device: Literal["auto", "cpu", "cuda", "mps"] = Field(
        "auto", description="a GPU if torch sees one, in 16 bits; checkpoints fit all of them"
    )
    batch_documents: int = Field(128, ge=1, le=100_000)
    batch_tokens: int | None = Field(
        None, ge=1, description="tokens in a batch, instead of documents"
    )
    phrases_per_document: int | None = Field(None, ge=1, description="sampled per step; none: all")
    learning_rate: float = Field(1e-3, gt=0)
    vectors_rate: float = Field(1.0, ge=0, description="learning rate of word vectors, as a factor")
    warmup: int = Field(0, ge=0, description="steps over which the rate rises")
    max_grad_norm: float = Field(0.2, gt=0)
    ema_decay: float | None = Field(None, gt=0, lt=1, description="of the averaged weights")
    feature_dropout: float = Field(
        0.0, ge=0, lt=1, description="share of documents shown without case and hyphens"
    )
    glossary_dropout: float = Field(
        0.0, ge=0, lt=1, description="share of documents shown without known phrases"
    )
    style_dropout: float = Field(
        0.0, ge=0, lt=1, description="share of documents shown under the style auto"
    )
    shuffled_phrases: float = Field(
        0.0, ge=0, le=1, description="share of documents whose phrases come in any order"
    )
    importance_weight: float = Field(1.0, ge=0)
    objective: Literal["likelihood", "reward"] = Field(
        "likelihood", description="reward: of whole lists, for a network that can write already"
    )
    log_every: int = Field(20, ge=1, description="steps")
    validate_every: int = Field(2000, ge=1, description="steps")
    validate_documents: int | None = Field(None, ge=1, description="for perplexity; none: all")
    score_documents: int = Field(200, ge=0, description="decoded for F1 at each validation")
    checkpoint_every: int = Field(200, ge=1, description="steps")
    tensorboard: bool = Field(False, description="write the metrics as TensorBoard reads them, too")
    patience: int = Field(3, ge=1, description="stagnant validations in a row that end training")


class Config(Section):
    """Everything a run depends on; saved beside every checkpoint."""

    model: ModelConfig = ModelConfig()
    search: SearchConfig = SearchConfig()
    ranking: dict[str, StyleRanking] = Field(
        {}, description="by style, the default first; none: the search's own lists"
    )
    kinds: dict[str, tuple[Weight, ...]] = Field(
        {}, description="of text: weights of `network.model.kind_vector`"
    )
    data: DataConfig = DataConfig()
    train: TrainConfig = TrainConfig()


def load_config(path: Path, settings: Sequence[str] = ()) -> Config:
    """Read a TOML file and apply ``key.path=value`` settings; both may only name what exists.

    A file that begins with ``base = "other.toml"`` holds what differs from that file beside it.
    """
    values = _read(path)
    for setting in settings:
        _apply(values, setting)
    return parse_config(values)


def _read(path: Path, seen: tuple[Path, ...] = ()) -> dict[str, Any]:
    """A file's values over those of the file that it is based on, if any."""
    if path.resolve() in seen:
        chain = " -> ".join(str(file) for file in (*seen, path.resolve()))
        raise ConfigError(f"{path} includes itself in a circle ({chain}); remove one base = line")
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot read configuration {path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:  # a number may have too many digits
        raise ConfigError(f"{path} is not valid TOML: {error}") from None
    base = values.pop("base", None)
    if base is None:
        return values
    if not isinstance(base, str):
        raise ConfigError(f"{path}: base = {base!r} must name another TOML file")
    merged = _read(path.parent / base, (*seen, path.resolve()))
    for section, part in values.items():
        is_section = isinstance(part, dict) and isinstance(merged.get(section), dict)
        merged[section] = merged[section] | part if is_section else part
    return merged


def override(config: Config, settings: Sequence[str]) -> Config:
    """The same configuration with ``section.key=value`` settings applied."""
    values = config.model_dump(mode="json")
    for setting in settings:
        _apply(values, setting)
    return parse_config(values)


def parse_config(values: Mapping[str, Any]) -> Config:
    """Check a nested mapping, as read from TOML or JSON; the first thing wrong is named."""
    try:
        return Config.model_validate(values)
    except ValidationError as error:
        raise ConfigError(_explain(error)) from None


def _apply(values: dict[str, Any], setting: str) -> None:
    """Put one ``section.key=value`` into the nested mapping; the value is written as in TOML."""
    key, equals, text = setting.partition("=")
    if not equals:
        raise ConfigError(f"--set {setting}: write it as section.key=value")
    *sections, name = key.strip().split(".")
    for section in sections:
        values = values.setdefault(section, {})
        if not isinstance(values, dict):
            raise ConfigError(f"--set {setting}: {section} is a value, not a section")
    try:
        values[name] = tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):
        values[name] = text.strip()  # a bare word is a string


def _explain(error: ValidationError) -> str:
    from difflib import get_close_matches

    first = error.errors()[0]
    place = [str(part) for part in first["loc"]]
    key = f"{'.'.join(place):.100}"
    if first["type"] != "extra_forbidden":
        reason = f"{first['msg'][0].lower()}{first['msg'][1:]}"
        return f"setting {key} = {shown(first['input'], 100)}: {reason}"
    section: Any = Config
    for part in place[:-1]:
        field = getattr(section, "model_fields", {}).get(part)
        # of a dictionary of sections, the key is passed over and the section counts
        section = (
            section if field is None else (get_args(field.annotation) or [field.annotation])[-1]
        )
    near = get_close_matches(place[-1], getattr(section, "model_fields", ()), n=1)
    hint = f"; did you mean {'.'.join([*place[:-1], near[0]])}?" if near else ""
    return f"unknown setting {key}{hint}"
