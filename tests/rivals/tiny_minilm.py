"""One random layer of the width that MiniLM has, with the words of the tests as pieces."""

from functools import cache

import torch
from torch import Tensor

from rivals.minilm import LONGEST, WIDTH, MiniLM, WordPieces
from tests.train.runs import WORDS

_INNER = 64


@cache
def make_minilm() -> MiniLM:
    """The same each time."""
    generator = torch.Generator().manual_seed(0)

    def draw(*shape: int) -> Tensor:
        return torch.randn(shape, generator=generator) * 0.1

    pieces = ["[UNK]", "[CLS]", "[SEP]", *WORDS, "##s"]
    name = "encoder.layer.0."
    shapes = {
        **{f"{name}attention.self.{part}": (WIDTH, WIDTH) for part in ("query", "key", "value")},
        f"{name}attention.output.dense": (WIDTH, WIDTH),
        f"{name}intermediate.dense": (_INNER, WIDTH),
        f"{name}output.dense": (WIDTH, _INNER),
    }
    weights = {f"{key}.weight": draw(*shape) for key, shape in shapes.items()}
    weights |= {f"{key}.bias": draw(shape[0]) for key, shape in shapes.items()}
    for norm in ("embeddings.", f"{name}attention.output.", f"{name}output."):
        weights |= {
            f"{norm}LayerNorm.weight": 1 + draw(WIDTH),
            f"{norm}LayerNorm.bias": draw(WIDTH),
        }
    embeddings = "embeddings.{}_embeddings.weight"
    weights[embeddings.format("word")] = 10 * draw(len(pieces), WIDTH)
    weights[embeddings.format("position")] = draw(LONGEST, WIDTH)
    weights[embeddings.format("token_type")] = draw(2, WIDTH)
    return MiniLM(weights, WordPieces(pieces))
