"""What must hold of the whole network, as search drives it, whatever its weights."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from phraseloom.config import ModelConfig, load_config
from phraseloom.network import encoder
from phraseloom.network.decoder import begin_phrases, decode_step, word_gates
from phraseloom.network.edges import moves_edges
from phraseloom.network.encoder import encode_graph, encode_tokens
from phraseloom.network.example import Example
from phraseloom.network.graph import collate, copy_graphs, phrase_context
from phraseloom.network.model import KeyphraseModel, ModelDecoder
from phraseloom.network.ops import NUMPY
from phraseloom.slots import FIRST_WORD, SEP
from phraseloom.train.initial import initial_weights
from phraseloom.train.ops import TorchOps, to_torch
from tests.builders import make_example, make_lexicon
from tests.network.graphs import Floats, assert_close
from tests.network.variants import build, every_variant

CONFIGS = Path(__file__).parents[2] / "configs"
FILES = [CONFIGS / f"{name}.toml" for name in ("paper", "default", "open")]
FILES += sorted((CONFIGS / "ablations").glob("*.toml"))
SHAPES = {load_config(path).model: path.stem for path in FILES}
"""Every shape of network that has a configuration, each once."""
every_config = pytest.mark.parametrize("config", SHAPES.keys(), ids=SHAPES.values())


def slots_of(example: Example) -> list[tuple[int, ...]]:
    return [tuple((phrase + FIRST_WORD).tolist()) for phrase in example.phrases]


def assert_same_slots(log_probs: Floats, expected: Floats, *, tolerance: float = 1e-5) -> None:
    """The same over the slots that both have; anything beyond is impossible."""
    shared = min(log_probs.shape[-1], expected.shape[-1])
    assert_close(log_probs[..., :shared], expected[..., :shared], tolerance=tolerance)
    assert np.isinf(log_probs[..., shared:]).all()
    assert np.isinf(expected[..., shared:]).all()


def run(config: ModelConfig, weights: Any, examples: Sequence[Example], *, by_torch: bool) -> Any:
    """All that the network computes of the third phrase of each document, by either library."""
    batch: Any = collate(examples, make_lexicon(styles=config.styles))
    documents = list(range(len(examples)))
    history = [slots_of(example)[:2] for example in examples]
    context: Any = phrase_context(batch, documents, history)
    is_moving = moves_edges(config)
    copies: Any = copy_graphs(
        batch, np.array(documents), is_merged=config.merge, is_moving=is_moving
    )
    ops: Any = NUMPY
    if by_torch:
        ops, batch, context, copies = TorchOps(), *map(to_torch, (batch, context, copies))
        weights = {name: torch.from_numpy(array) for name, array in weights.items()}
    encoded = encode_tokens(weights, config, batch, ops)
    graph = encode_graph(weights, config, encoded, context, copies, ops)
    inputs, state = begin_phrases(weights, config, graph, copies.entries, context, ops)
    gates = word_gates(weights, inputs.first_input[:, None])
    steps = []
    for _ in range(3):
        log_probs, state = decode_step(weights, config, inputs, gates, state, ops)
        steps.append(log_probs)
    return [encoded.words, encoded.nodes, graph.nodes, graph.start, graph.edge_weights, *steps]


@torch.no_grad()
@every_config
def test_numpy_computes_what_torch_computes(config: ModelConfig) -> None:
    lexicon = make_lexicon(styles=config.styles)
    parameters = initial_weights(config, lexicon, seed=0)
    weights = {name: weight.detach().numpy() for name, weight in parameters.items()}
    weights["encoder.words.ngrams"] = weights["encoder.words.table"][:1].repeat(50, axis=0)
    examples = [make_example(i, tokens=t, phrases=3) for i, t in enumerate((9, 5, 30))]

    by_numpy = run(config, weights, examples, by_torch=False)
    by_torch = run(config, weights, examples, by_torch=True)

    for array, tensor in zip(by_numpy, by_torch, strict=True):
        assert (array is None) == (tensor is None)
        if array is not None:
            assert array.dtype == np.float32
            assert_close(array, tensor.numpy())


def walk(decoder: ModelDecoder, document: int, number: int, example: Example) -> list[Floats]:
    """Log-probabilities along one gold phrase after those before it."""
    phrases = slots_of(example)
    state = decoder.begin([document], [phrases[:number]])
    steps = []
    for word in (SEP, *phrases[number]):
        log_probs, state = decoder.advance(np.array([[word]]), state)
        steps.append(log_probs[0, 0])
    return steps


@every_variant
def test_a_document_alone_is_the_same_as_in_a_batch(settings: dict[str, Any]) -> None:
    model, examples = build(settings)
    together = model.decoder(examples)
    for document, example in enumerate(examples):
        alone = model.decoder([example])
        assert alone.slots == [together.slots[document]]
        for number in range(len(example.phrases)):
            steps = walk(together, document, number, example)
            for step, expected in zip(steps, walk(alone, 0, number, example), strict=True):
                assert_same_slots(step, expected)


@every_variant
def test_words_are_as_important_alone_as_in_a_batch(settings: dict[str, Any]) -> None:
    model, examples = build(settings)
    together = model.decoder(examples)
    together.begin(range(len(examples)), [[]] * len(examples))
    for document, example in enumerate(examples):
        alone = model.decoder([example])
        alone.begin([0], [[]])
        assert bool(alone.importance[0]) == (model.config.importance and model.config.merge)
        np.testing.assert_allclose(
            alone.importance[0], together.importance[document], rtol=0, atol=1e-5
        )


@every_variant
def test_phrases_and_hypotheses_advance_as_if_alone(settings: dict[str, Any]) -> None:
    model, examples = build(settings)
    decoder, documents = model.decoder(examples), [2, 0]
    history = [slots_of(examples[document])[:number] for document, number in ((2, 2), (0, 1))]
    paths = np.array([[[SEP, 2], [SEP, 3]], [[SEP, 4], [SEP, 2]]])  # (B, K, steps)

    _, state = decoder.advance(np.full((2, 1), SEP), decoder.begin(documents, history))
    together, _ = decoder.advance(paths[:, :, 1], state.select(np.zeros((2, 2), dtype=np.int64)))

    assert together.shape == (2, 2, max(decoder.slots[document] for document in documents))
    for row, document in enumerate(documents):
        for column in range(2):
            alone = decoder.begin([document], [history[row]])
            for word in paths[row, column]:
                log_probs, alone = decoder.advance(np.array([[word]]), alone)
            assert_same_slots(together[row, column], log_probs[0, 0])


@every_variant
def test_probabilities_sum_to_one_over_the_slots_of_the_document(settings: dict[str, Any]) -> None:
    model, examples = build(settings)
    decoder = model.decoder(examples)

    log_probs, _ = decoder.advance(np.full((4, 1), SEP), decoder.begin([0, 1, 2, 3], [[]] * 4))

    assert_close(np.exp(log_probs).sum(-1), np.ones((4, 1)))
    assert np.isfinite(log_probs).sum(-1)[:, 0].tolist() == decoder.slots


@pytest.mark.parametrize("variant", ["gcn", "dgcn"])
@pytest.mark.parametrize("history_coverage", [False, True])
@pytest.mark.parametrize("numbered", [False, True])
def test_what_was_decoded_is_told_by_coverage_number_and_graph_alone(
    variant: str, history_coverage: bool, numbered: bool
) -> None:
    model, examples = build(
        {"variant": variant, "history_coverage": history_coverage, "numbered": numbered}
    )
    decoder = model.decoder(examples)
    histories: list[list[tuple[int, ...]]] = [[], [(2, 3)], [(4,), (3,)]]

    nothing, one, two = (
        decoder.advance(np.full((1, 1), SEP), decoder.begin([0], [history]))[0]
        for history in histories
    )

    is_told = variant == "dgcn" or history_coverage
    assert np.allclose(nothing, one) is not (is_told or numbered)
    assert np.allclose(one, two) is not (is_told or numbered)


def test_edges_of_the_last_convolution_alone_may_change() -> None:
    model, examples = build({"dynamic_layers": "last", "merge": False, "layers": 1})
    same = replace(model, config=model.config.model_copy(update={"dynamic_layers": "all"}))
    history = [slots_of(examples[0])[:1]]

    last, every = (
        network.advance(np.full((1, 1), SEP), network.begin([0], history))[0]
        for network in (model.decoder(examples), same.decoder(examples))
    )

    assert_close(last, every)  # with one convolution, the last is all


def test_selecting_swaps_hypotheses() -> None:
    model, examples = build({})
    decoder = model.decoder(examples)
    state = decoder.begin([0, 1], [[], []]).select(np.zeros((2, 2), dtype=np.int64))
    _, state = decoder.advance(np.array([[2, 3], [3, 2]]), state)

    plain, _ = decoder.advance(np.full((2, 2), 4), state)
    swapped, _ = decoder.advance(np.full((2, 2), 4), state.select(np.array([[1, 0], [0, 0]])))

    assert_close(swapped[0], plain[0, ::-1])
    assert_close(swapped[1], plain[1, [0, 0]])


@pytest.mark.parametrize(("variant", "times"), [("gru", 0), ("gcn", 0), ("dgcn", 3)])
def test_only_a_dynamic_graph_is_convolved_and_merged_again(
    variant: str, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, examples = build({"variant": variant})
    decoder, calls = model.decoder(examples), []

    def count(done: Callable[..., Any], *arguments: Any) -> Any:
        calls.append(done)
        return done(*arguments)

    for name in ("convolve", "pass_gate"):
        done = getattr(encoder, name)
        monkeypatch.setattr(encoder, name, partial(count, done))
    for history in ([], [(2,)], [(2,), (3,)]):
        decoder.begin([1], [history])

    assert len(calls) == 2 * times


def test_what_was_decoded_moves_the_edges_of_a_dynamic_graph_only() -> None:
    for variant, moves in (("gcn", False), ("dgcn", True)):
        model, examples = build({"variant": variant})
        decoder = model.decoder(examples)
        before, after = (
            decoder.edge_weights(decoder.begin([1, 2], [history, history]))
            for history in ([], [(2,)])
        )

        assert [len(weights) for weights in after] == [_edges(examples[i]) for i in (1, 2)]
        same = [np.array_equal(first, second) for first, second in zip(before, after, strict=True)]
        assert same == [not moves] * 2


@pytest.mark.parametrize("merge", [True, False])
def test_one_factor_moves_all_edges_into_a_stem(merge: bool) -> None:
    settings = {"dynamic_layers": "merged", "edge_scorer": "interaction", "merge": merge}
    model, examples = build(settings)
    still = replace(model, config=model.config.model_copy(update={"variant": "gcn"}))
    decoder, batch = model.decoder(examples), collate(examples[2:3], model.lexicon)
    alone = still.decoder(examples[2:3])
    [expected] = alone.edge_weights(alone.begin([0], [[]]))

    before, after = (
        decoder.edge_weights(decoder.begin([1, 2], [[(2,)], history]))[1]
        for history in ([], [(2, 3)])
    )

    assert_close(before, expected)
    factors = after / before
    into = batch.stem_of_node[batch.edges.targets] if merge else batch.edges.targets
    means = np.array([factors[into == place].mean() for place in range(into.max() + 1)])
    assert_close(factors, means[into])
    assert np.ptp(means) > 1e-3 and np.abs(means - 1).min() > 0


def _edges(example: Example) -> int:
    arcs = sum(head != token for token, head in enumerate(example.heads.tolist()))
    return len(example) + 2 * arcs


def test_without_a_graph_no_edge_weighs_anything() -> None:
    model, examples = build({"variant": "gru"})
    decoder = model.decoder(examples)

    weights = decoder.edge_weights(decoder.begin([1, 2], [[], []]))

    assert [len(array) for array in weights] == [0, 0]


@pytest.mark.parametrize("edge_scorer", ["linear", "interaction"])
def test_dgcn_without_its_dynamic_term_is_gcn(edge_scorer: str) -> None:
    dynamic, examples = build({"edge_scorer": edge_scorer})
    weights = dict(dynamic.weights)
    static = KeyphraseModel(
        dynamic.config.model_copy(update={"variant": "gcn"}), dynamic.lexicon, weights
    )

    def last_step(model: KeyphraseModel) -> Floats:
        return walk(model.decoder(examples), 0, 2, examples[0])[-1]

    assert np.abs(last_step(dynamic) - last_step(static)).max() > 1e-4
    for name in weights:
        if name.startswith(("encoder.shift.", "encoder.interaction.said.")):
            weights[name] = np.zeros_like(weights[name])
    silenced = KeyphraseModel(dynamic.config, dynamic.lexicon, weights)
    assert_close(last_step(silenced), last_step(static))
