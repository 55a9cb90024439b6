"""What must hold of the decoder: attention, the recurrent cell, coverage and chances."""

from typing import Any

import numpy as np
import pytest
import torch

from phraseloom.config import ModelConfig
from phraseloom.network.decoder import (
    NUMBERED_PHRASES,
    DecoderInputs,
    DecoderState,
    additive_scores,
    begin_phrases,
    bilinear_scores,
    compare_entries,
    decode_step,
    gru_cell,
    word_gates,
)
from phraseloom.network.encoder import encode_graph, encode_tokens
from phraseloom.network.graph import collate, copy_graphs, phrase_context
from phraseloom.network.ops import NUMPY, linear
from phraseloom.slots import FIRST_WORD
from tests.builders import TINY, make_example, make_lexicon, make_weights
from tests.network.graphs import Floats, assert_close, draw

STYLES = ("authors", "readers")
LEXICON = make_lexicon(styles=STYLES)
WIDTH = TINY["width"]
KINDS = ["bilinear", "additive"]
every_kind = pytest.mark.parametrize("kind", KINDS)


def make_config(**settings: Any) -> ModelConfig:
    return ModelConfig.model_validate({**TINY, "styles": STYLES, **settings})


WEIGHTS = make_weights(make_config(), LEXICON)


def score_all(kind: str, queries: Floats, nodes: Floats, coverage: Floats) -> Floats:
    config, is_additive = make_config(attention=kind), kind == "additive"
    keys = linear(WEIGHTS, "decoder.attention.key", nodes) if is_additive else nodes
    inputs = DecoderInputs(keys, np.ones(keys.shape[:2], bool), None, np.zeros(0))
    compared = compare_entries(WEIGHTS, config, inputs, queries, NUMPY)
    attend = additive_scores if is_additive else bilinear_scores
    return np.asarray(attend(WEIGHTS, compared, keys, coverage, np))


def score_pair(kind: str, query: Floats, node: Floats, coverage: float) -> float:
    """The equation for one query and one node."""
    names = ("query.weight", "query.bias", "coverage", "key.weight", "value")
    matrix, bias, covered, key, value = (WEIGHTS[f"decoder.attention.{name}"] for name in names)
    projected = matrix @ query + bias
    if kind == "bilinear":
        return float(projected @ (node + covered * coverage) / WIDTH**0.5)
    return float(value @ np.tanh(projected + key @ node + covered * coverage))


@every_kind
def test_attention_matches_its_equation_written_as_loops(kind: str) -> None:
    queries, nodes, coverage = draw(0, 2, 3, WIDTH), draw(1, 2, 5, WIDTH), draw(2, 2, 3, 5)

    scores = score_all(kind, queries, nodes, coverage)

    for p, k, s in np.ndindex(2, 3, 5):
        expected = score_pair(kind, queries[p, k], nodes[p, s], float(coverage[p, k, s]))
        assert_close(scores[p, k, s], expected)


@every_kind
def test_padding_and_other_graphs_change_no_score(kind: str) -> None:
    queries, nodes, coverage = draw(0, 2, 3, WIDTH), draw(1, 2, 5, WIDTH), draw(2, 2, 3, 5)

    alone = score_all(kind, queries[:1], nodes[:1, :4], coverage[:1, :, :4])

    assert_close(score_all(kind, queries, nodes, coverage)[:1, :, :4], alone)


@every_kind
def test_renumbering_nodes_renumbers_scores(kind: str) -> None:
    queries, nodes, coverage = draw(0, 1, 2, WIDTH), draw(1, 1, 4, WIDTH), draw(2, 1, 2, 4)
    order = np.array([2, 0, 3, 1])

    moved = score_all(kind, queries, nodes[:, order], coverage[..., order])

    assert_close(moved, score_all(kind, queries, nodes, coverage)[..., order])


@torch.no_grad()
def test_the_cell_is_the_gru_of_torch() -> None:
    cell = torch.nn.GRUCell(TINY["word_width"], WIDTH)
    for name, weight in cell.named_parameters():
        weight.copy_(torch.from_numpy(WEIGHTS[f"decoder.gru.{name}_l0"]))
    words, state = draw(0, 2, 3, TINY["word_width"]), draw(1, 2, 3, WIDTH)

    after = gru_cell(WEIGHTS, "decoder.gru.{}_l0", word_gates(WEIGHTS, words), state, np)

    flat = cell(torch.from_numpy(words).flatten(0, 1), torch.from_numpy(state).flatten(0, 1))
    assert_close(after, flat.reshape(2, 3, WIDTH))


BATCH = collate([make_example(i, tokens=t) for i, t in enumerate((7, 4))], LEXICON)
HISTORY = [[(2, 3), (2,)], []]


def begin(config: ModelConfig, history: list[Any] = HISTORY) -> tuple[DecoderInputs, DecoderState]:
    context = phrase_context(BATCH, [0, 1], history)
    copies = copy_graphs(BATCH, context.documents, is_merged=config.merge)
    encoded = encode_tokens(WEIGHTS, config, BATCH, NUMPY)
    graph = encode_graph(WEIGHTS, config, encoded, context, copies, NUMPY)
    return begin_phrases(WEIGHTS, config, graph, copies.entries, context, NUMPY)


def test_a_phrase_begins_with_its_number_its_style_and_what_was_written() -> None:
    inputs, state = begin(make_config(attention="bilinear"))
    start, number, style = (
        WEIGHTS[f"decoder.{name}"] for name in ("start", "number.weight", "style.weight")
    )

    assert_close(inputs.first_input, start + number[[2, 0]] + style[0])
    assert_close(inputs.keys[:, :FIRST_WORD], np.stack([WEIGHTS["decoder.ends"]] * 2), tolerance=0)
    assert state.coverage[0, 0, : FIRST_WORD + 2].tolist() == [0, 0, 2, 1]
    assert not state.coverage[1].any()
    assert len(state.hidden) == TINY["decoder_layers"]
    for hidden in state.hidden:
        assert hidden.shape == (2, 1, WIDTH)
        assert_close(hidden, state.hidden[0], tolerance=0)


def test_from_the_tenth_on_all_phrases_have_one_number() -> None:
    many = [(2,)] * (NUMBERED_PHRASES - 1)

    nine, more = (begin(make_config(), [many, [*many, *others]])[0] for others in ([], [(2,)] * 5))

    assert_close(more.first_input[1], nine.first_input[1], tolerance=0)


@pytest.mark.parametrize("merge", [True, False])
@every_kind
def test_chances_sum_to_one_and_are_added_to_the_coverage(kind: str, merge: bool) -> None:
    config = make_config(attention=kind, merge=merge)
    inputs, state = begin(config)

    gates = word_gates(WEIGHTS, inputs.first_input[:, None])
    log_probs, after = decode_step(WEIGHTS, config, inputs, gates, state, NUMPY)

    probs = np.exp(log_probs)
    stems = np.diff(BATCH.stem_offsets)
    assert_close(probs.sum(-1), np.ones((2, 1)))
    assert np.isfinite(log_probs).sum(-1)[:, 0].tolist() == (FIRST_WORD + stems).tolist()
    assert_close(after.coverage, state.coverage + probs)


def test_an_impossible_word_is_improbable_but_not_impossible_without_a_merge() -> None:
    config = make_config(merge=False, attention="bilinear")
    inputs, state = begin(config)
    inputs.keys[:, :FIRST_WORD] *= 1e4  # all but the two ends underflow

    gates = word_gates(WEIGHTS, inputs.first_input[:, None])
    log_probs, _ = decode_step(WEIGHTS, config, inputs, gates, state, NUMPY)

    words = log_probs[..., FIRST_WORD:]
    assert words.min(where=np.isfinite(words), initial=0) < -50
    assert np.isfinite(log_probs[0]).all()
