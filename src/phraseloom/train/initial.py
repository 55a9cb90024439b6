"""Where training begins: random weights under the names that `weight_shapes` gives."""

from collections.abc import Mapping
from typing import get_args

import torch
from torch import Tensor
from torch.nn import Parameter
from torch.nn import functional as F

from phraseloom.config import ModelConfig
from phraseloom.network.example import token_width
from phraseloom.network.lexicon import Lexicon
from phraseloom.network.shapes import weight_shapes
from phraseloom.train.corpus.vectors import Vectors
from phraseloom.train.ops import CPU

MAY_DIFFER = ("dropout", "dynamic_layers", "history_coverage", "numbered")
"""Settings that change what a network makes of its weights, and not their shapes."""
VARIANTS = get_args(ModelConfig.model_fields["variant"].annotation)
_GROWING = ("variant", "token_features", "styles")
FIXED = "encoder.words.ngrams"
"""Vectors of character n-grams: read, never learned."""
CONVOLUTION_GAIN = 24**0.5
"""Convolutions that do not add to their input begin with weights of variance 8 / D, not the usual
1 / 3D: ReLU takes half of what they pass on, and edge weights, a half at first, three quarters of
the rest. Else nodes are all alike after two of them, and the first ones get no gradient."""


def initial_weights(
    config: ModelConfig, lexicon: Lexicon, *, seed: int, vectors: Vectors | None = None
) -> dict[str, Parameter]:
    """Draw the weights of a new network; word vectors may come from trained ones."""
    generator = torch.Generator().manual_seed(seed)
    shapes = weight_shapes(config, lexicon)
    weights = {name: _draw(name, shapes, generator) for name in shapes}
    if not config.residual:
        widen_convolutions(weights, CONVOLUTION_GAIN)
    if vectors is not None:
        weights["encoder.words.table"] = torch.from_numpy(vectors.rows(lexicon.words.words))
        weights[FIXED] = torch.from_numpy(vectors.subwords)
    return as_parameters(weights)


def grow_weights(
    weights: Mapping[str, Tensor],
    old: ModelConfig,
    new: ModelConfig,
    lexicon: Lexicon,
    *,
    seed: int,
) -> dict[str, Tensor]:
    """The weights of a trained network, given room for more words, features and styles.

    It computes what it did before: a new word has the vector that its n-grams gave it, features
    that are new count nothing yet, a new style is the first one, and edge scores, which are divided
    by the root of their width, are kept.

    Args:
        weights: of the trained network.
        old: its shape.
        new: the shape to give it; see `can_grow`.
        lexicon: with the new words and styles after the old ones.
        seed: of what has to be drawn.
    """
    generator = torch.Generator().manual_seed(seed)
    shapes = weight_shapes(new, lexicon)
    widths = [2 * token_width(config) + config.edge_width for config in (old, new)]
    grown = {}
    for name, shape in shapes.items():
        if name not in weights:
            grown[name] = _draw(name, shapes, generator)
            continue
        weight = weights[name]
        if name == "encoder.words.table":
            weight = torch.cat([weight, _vectors_of_ngrams(weights[FIXED], lexicon, len(weight))])
        is_style = name == "decoder.style.weight" or name.startswith("encoder.tokens.features.")
        if is_style and len(weight) < shape[0]:
            weight = torch.cat([weight, weight[:1].expand(shape[0] - len(weight), -1)])
        if name.startswith("encoder.edges.") and "types" not in name and new.scaled_edges:
            weight = weight * (widths[1] / widths[0]) ** 0.5
        if weight.ndim == 2:
            weight = F.pad(weight, (0, shape[1] - weight.shape[1]))
        grown[name] = weight
    return grown


def widen_convolutions(weights: Mapping[str, Tensor], gain: float) -> None:
    """Multiply the weights of the graph convolutions in place, and set their biases to zero."""
    for name, weight in weights.items():
        if name.startswith("encoder.convolutions."):
            weight.mul_(gain if name.endswith("weight") else 0.0)


def _vectors_of_ngrams(table: Tensor, lexicon: Lexicon, first: int) -> Tensor:
    """Vectors of the words from number ``first`` on; without n-grams, zero."""
    ngrams = [torch.from_numpy(lexicon.ngrams(word).copy()) for word in lexicon.words.words[first:]]
    rows = [table[ids].mean(0) if len(ids) else table.new_zeros(table.shape[1]) for ids in ngrams]
    return torch.stack(rows) if rows else table.new_zeros(0, table.shape[1])


def can_grow(old: ModelConfig, new: ModelConfig) -> bool:
    """Whether a network lacks token features, or styles after its own, at most."""
    same = {name: getattr(new, name) for name in (*MAY_DIFFER, *_GROWING)}
    return (
        old.model_copy(update=same) == new
        and VARIANTS.index(new.variant) <= VARIANTS.index(old.variant)
        and old.token_features <= new.token_features
        and bool(old.styles) == bool(new.styles)
        and new.styles[: len(old.styles)] == old.styles
    )


def as_parameters(
    weights: Mapping[str, Tensor], device: torch.device = CPU
) -> dict[str, Parameter]:
    """Weights that learn, but for the fixed ones; each a copy."""
    return {
        name: Parameter(weight.float().clone().to(device), requires_grad=name != FIXED)
        for name, weight in weights.items()
    }


def _draw(name: str, shapes: Mapping[str, tuple[int, ...]], generator: torch.Generator) -> Tensor:
    """One weight: gates and products uniform by their inputs, embeddings and vectors normal."""
    shape = shapes[name]
    if name in (FIXED, "decoder.start"):
        return torch.zeros(shape)
    last = name.rpartition(".")[2]
    if "_l" in last:  # a GRU's
        width = shapes[name.replace("ih", "hh").replace("bias", "weight")][1]
        return _uniform(shape, width, generator)
    is_product = last == "bias" or f"{name.removesuffix('.weight')}.bias" in shapes
    if is_product or name.startswith(("encoder.gate.", "encoder.interaction.")):
        inputs = shapes[name.replace(".bias", ".weight")][1]
        return _uniform(shape, inputs, generator)
    if last == "weight" and not name.endswith(("score.weight", "key.weight")):
        return torch.randn(shape, generator=generator)  # an embedding
    if last == "weight":
        return _uniform(shape, shape[1], generator)
    return torch.randn(shape, generator=generator) * shape[-1] ** -0.5


def _uniform(shape: tuple[int, ...], inputs: int, generator: torch.Generator) -> Tensor:
    bound: float = inputs**-0.5
    return torch.empty(shape).uniform_(-bound, bound, generator=generator)
