"""Name and shape of every weight, as the configuration and the lexicon make them."""

from phraseloom.config import ModelConfig
from phraseloom.network.decoder import NUMBERED_PHRASES
from phraseloom.network.example import FEATURE_WIDTH, feature_sizes, token_width
from phraseloom.network.lexicon import Lexicon


def weight_shapes(config: ModelConfig, lexicon: Lexicon) -> dict[str, tuple[int, ...]]:
    """Name and shape of every weight of a network."""
    width, word_width, half = config.width, config.word_width, config.width // 2
    tokens = token_width(config)
    shapes: dict[str, tuple[int, ...]] = {
        "encoder.words.table": (len(lexicon.words), word_width),
        "encoder.words.ngrams": (lexicon.buckets, word_width),
        "encoder.tokens.pos.weight": (len(lexicon.pos_tags), config.pos_width),
    }
    for column, size in enumerate(feature_sizes(config, lexicon)):
        shapes[f"encoder.tokens.features.{column}.weight"] = (size, FEATURE_WIDTH)
    for way in ("", "_reverse"):
        shapes |= _gru_shapes(f"encoder.context.{{}}_l0{way}", tokens, half)
    if config.variant != "gru":
        shapes |= _graph_shapes(config, lexicon)
    if config.gate:
        shapes["encoder.gate.value.weight"] = shapes["encoder.gate.gate.weight"] = (width, width)
    if config.importance:
        shapes |= _linear_shapes("encoder.importance", width, 1)
    shapes |= {
        "decoder.ends": (2, width),
        "decoder.start": (word_width,),
        "decoder.number.weight": (NUMBERED_PHRASES, word_width),
        "decoder.attention.coverage": (width,),
    }
    if lexicon.styles:
        shapes["decoder.style.weight"] = (len(lexicon.styles), word_width)
    for layer in range(config.decoder_layers):
        inputs = width if layer else word_width
        shapes |= _gru_shapes(f"decoder.gru.{{}}_l{layer}", inputs, width)
    shapes |= _linear_shapes("decoder.attention.query", width, width)
    if config.attention == "additive":
        shapes["decoder.attention.key.weight"] = (width, width)
        shapes["decoder.attention.value"] = (width,)
    return shapes


def _graph_shapes(config: ModelConfig, lexicon: Lexicon) -> dict[str, tuple[int, ...]]:
    tokens, rank = token_width(config), config.interaction_rank
    shapes: dict[str, tuple[int, ...]] = _linear_shapes("encoder.edges.ends", tokens, 2)
    shapes["encoder.edges.types.weight"] = (lexicon.edge_types, config.edge_width)
    shapes["encoder.edges.type_score.weight"] = (1, config.edge_width)
    for layer in range(config.layers):
        name = f"encoder.convolutions.{layer}.message"
        shapes |= _linear_shapes(name, config.width, config.width)
    if config.variant == "dgcn":
        shapes["encoder.shift.score.weight"] = (1, config.word_width)
        if config.edge_scorer == "interaction":
            shapes["encoder.interaction.said.weight"] = (rank, config.word_width)
            shapes["encoder.interaction.target.weight"] = (rank, tokens)
            # not read by (G6), but there whatever edges move: a network can be read in other ways
            shapes["encoder.interaction.source.weight"] = (rank, tokens)
    return shapes


def _linear_shapes(name: str, inputs: int, outputs: int) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}


def _gru_shapes(name: str, inputs: int, width: int) -> dict[str, tuple[int, ...]]:
    return {
        name.format("weight_ih"): (3 * width, inputs),
        name.format("weight_hh"): (3 * width, width),
        name.format("bias_ih"): (3 * width,),
        name.format("bias_hh"): (3 * width,),
    }
