"""The six operations equal loops, and NumPy's equal torch's."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from torch.nn.utils.rnn import pack_sequence, unpack_sequence

from phraseloom.network.graph import Groups, offsets_of, schedule_steps
from phraseloom.network.ops import (
    NUMPY,
    NumpyOps,
    Ops,
    QuantizedTable,
    attend,
    linear,
    masked_log_softmax,
    product,
    sigmoid,
)
from phraseloom.train.ops import TorchOps, to_torch
from tests.network.graphs import Floats, assert_close, draw, make_edges, to_dense

LENGTHS = [[4], [3, 5, 1], [2, 2], [1, 1, 6, 2]]
every_batch = pytest.mark.parametrize("lengths", LENGTHS, ids=str)
GROUPS = Groups(np.array([1, 5, 0, 2, 4, 3]), np.array([0, 2, 5, 6]))
"""Rows 1 and 5; 0, 2 and 4; 3."""


class ThroughTorch(NumpyOps):
    """The operations of training, from NumPy to NumPy."""

    def gru_scan(self, inputs, weights, biases, schedule):  # type: ignore[no-untyped-def]
        arrays = map(to_torch, (inputs, weights, biases, schedule))
        return TorchOps().gru_scan(*arrays).numpy()

    def graph_product(self, edges, weights, nodes):  # type: ignore[no-untyped-def]
        return TorchOps().graph_product(*map(to_torch, (edges, weights, nodes))).numpy()

    def segment_mean(self, rows, groups):  # type: ignore[no-untyped-def]
        return TorchOps().segment_mean(to_torch(rows), to_torch(groups)).numpy()

    def gather_rows(self, table, index):  # type: ignore[no-untyped-def]
        return TorchOps().gather_rows(to_torch(table), to_torch(index)).numpy()

    def bag_mean(self, table, groups):  # type: ignore[no-untyped-def]
        return TorchOps().bag_mean(to_torch(table), to_torch(groups)).numpy()

    def dropout(self, array):  # type: ignore[no-untyped-def]
        return TorchOps().dropout(to_torch(array)).numpy()


@pytest.fixture(params=[NUMPY, ThroughTorch()], ids=["numpy", "torch"])
def ops(request: pytest.FixtureRequest) -> Ops:
    made: Ops = request.param
    return made


def scan(ops: Ops, gru: torch.nn.GRU, rows: Floats, lengths: list[int]) -> Floats:
    """A GRU over documents, by our operation, with the weights of torch's."""
    weights = {name: weight.detach().numpy() for name, weight in gru.named_parameters()}
    ways = ("", "_reverse")
    of_input = np.concatenate([weights[f"weight_ih_l0{way}"] for way in ways])
    input_bias = np.concatenate([weights[f"bias_ih_l0{way}"] for way in ways])
    inputs = rows @ of_input.T + input_bias
    of_state = np.stack([weights[f"weight_hh_l0{way}"] for way in ways])
    state_bias = np.stack([weights[f"bias_hh_l0{way}"] for way in ways])
    schedule = schedule_steps(offsets_of(np.array(lengths)))
    states: Floats = ops.gru_scan(inputs, of_state, state_bias, schedule)
    return states


def make_gru() -> torch.nn.GRU:
    torch.manual_seed(0)
    return torch.nn.GRU(5, 3, bidirectional=True)


@every_batch
@torch.no_grad()
def test_a_scan_is_the_gru_of_torch(ops: Ops, lengths: list[int]) -> None:
    gru, rows = make_gru(), draw(0, sum(lengths), 5)
    packed = pack_sequence(list(torch.from_numpy(rows).split(lengths)), enforce_sorted=False)
    expected = torch.cat(unpack_sequence(gru(packed)[0]))

    assert_close(scan(ops, gru, rows, lengths), expected)


@every_batch
@torch.no_grad()
def test_documents_do_not_touch_in_a_scan(ops: Ops, lengths: list[int]) -> None:
    gru, rows = make_gru(), draw(0, sum(lengths), 5)

    together = scan(ops, gru, rows, lengths)

    for start, length in zip(offsets_of(np.array(lengths)), lengths, strict=False):
        alone = rows[start : start + length]
        assert_close(together[start : start + length], scan(ops, gru, alone, [length]))


@pytest.mark.parametrize(("seed", "nodes"), [(0, 1), (1, 2), (2, 7), (3, 12)])
def test_a_graph_product_equals_the_dense_one(ops: Ops, seed: int, nodes: int) -> None:
    edges, states = make_edges(seed, nodes), draw(seed, nodes, 5)
    weights = draw(seed + 1, len(edges.targets))

    assert_close(ops.graph_product(edges, weights, states), to_dense(edges, weights) @ states)


def test_a_segment_mean_is_the_mean_of_each_group(ops: Ops) -> None:
    rows = draw(0, 6, 3)
    expected = np.stack([rows[group].mean(0) for group in ([1, 5], [0, 2, 4], [3])])

    assert_close(ops.segment_mean(rows, GROUPS), expected)


def test_renumbering_the_rows_of_segments_changes_nothing(ops: Ops) -> None:
    rows, order = draw(0, 6, 3), np.array([4, 2, 0, 5, 1, 3])
    moved = Groups(np.argsort(order)[GROUPS.rows], GROUPS.offsets)

    assert_close(ops.segment_mean(rows[order], moved), ops.segment_mean(rows, GROUPS))


@pytest.mark.parametrize("size", [4, 9])
def test_gathering_rows_is_indexing(ops: Ops, size: int) -> None:
    rows, index = draw(0, size, 3), np.array([3, 0, 0, 2, 3, 3])

    assert_close(ops.gather_rows(rows, index), rows[index])


def test_a_bag_is_the_mean_of_its_rows_and_zero_without_any(ops: Ops) -> None:
    table = draw(0, 6, 3)
    bags = Groups(np.array([3, 1, 1, 0, 4]), np.array([0, 3, 3, 5, 5]))
    nothing = np.zeros(3)

    expected = [(table[3] + 2 * table[1]) / 3, nothing, (table[0] + table[4]) / 2, nothing]

    assert_close(ops.bag_mean(table, bags), np.stack(expected))


def test_without_training_nothing_is_dropped(ops: Ops) -> None:
    array = draw(0, 4, 3)

    assert_close(ops.dropout(array), array, tolerance=0)


def test_a_quantized_table_is_read_like_the_full_one() -> None:
    chance = np.random.default_rng(0)
    steps = chance.integers(-127, 128, (6, 3)).astype(np.int8)
    table = QuantizedTable(steps, chance.random((6, 1)).astype(np.float32))
    full = table[:]
    bags, index = Groups(np.array([3, 1, 1, 0]), np.array([0, 3, 4])), np.array([5, 0, 5])

    assert full.dtype == np.float32
    assert (len(table), table.shape) == (6, (6, 3))
    assert_close(NUMPY.gather_rows(table, index), full[index], tolerance=0)
    assert_close(NUMPY.bag_mean(table, bags), NUMPY.bag_mean(full, bags), tolerance=0)


def test_a_sigmoid_does_not_overflow() -> None:
    x = np.array([-1e30, -2.0, 0.0, 2.0, 1e30], dtype=np.float32)

    assert_close(sigmoid(x, np), [0, 1 / (1 + np.exp(2)), 0.5, 1 / (1 + np.exp(-2)), 1])


def test_a_product_keeps_the_leading_axes() -> None:
    x = draw(0, 2, 3, 4)
    weights = {"a.weight": draw(1, 5, 4), "a.bias": draw(2, 5), "b.weight": draw(3, 5, 4)}

    assert_close(linear(weights, "a", x), x @ weights["a.weight"].T + weights["a.bias"])
    assert_close(linear(weights, "b", x), x @ weights["b.weight"].T)


@pytest.mark.parametrize("outputs", [1, 2, 32, 64, 320, 960])
def test_a_row_has_the_same_product_whatever_rows_are_beside_it(outputs: int) -> None:
    rows, matrix = draw(0, 150, 320), draw(1, outputs, 320)

    together = product(rows, matrix)

    assert_close(together, rows @ matrix.T, tolerance=1e-3)
    for count in (1, 2, 3, 4, 7, 40, 100):
        assert_same_bits(product(rows[:count], matrix), together[:count])
        assert_same_bits(product(rows[-count:], matrix), together[-count:])
    bounds = np.array([0, 7, 60, 150])
    together = product(rows, matrix, bounds)
    assert_close(together, rows @ matrix.T, tolerance=1e-3)
    for start, end in pairwise(bounds.tolist()):
        alone = product(rows[start:end], matrix, np.array([0, end - start]))
        assert_same_bits(alone, together[start:end])
    one_by_one = product(rows, matrix, by_row=True)
    assert_same_bits(product(rows[3:4], matrix, by_row=True), one_by_one[3:4])


@pytest.mark.parametrize("slots", [3, 16, 90])
@pytest.mark.parametrize("hypotheses", [1, 4, 10])
def test_a_document_is_attended_to_alike_beside_larger_ones(slots: int, hypotheses: int) -> None:
    queries, keys = draw(0, 3, 12, 320), draw(1, 3, 100, 320)
    keys[1, slots:] = 0

    together = attend(queries, keys, 100, np)

    assert_close(together, queries @ keys.transpose(0, 2, 1), tolerance=1e-3)
    alone = attend(queries[1:2, :hypotheses], keys[1:2, :slots], slots, np)
    assert_same_bits(alone[0], together[1, :hypotheses, :slots])


@pytest.mark.parametrize("size", [1, 7, 8, 40, 200])
def test_a_softmax_does_not_see_how_much_is_masked_after_it(size: int) -> None:
    scores = draw(0, 4, 400)
    mask = np.broadcast_to(np.arange(400) < size, (4, 400))

    together = masked_log_softmax(scores, mask, np)

    alone = masked_log_softmax(scores[:1, :size], mask[:1, :size], np)
    assert_same_bits(alone, together[:1, :size])


def test_a_scan_of_one_document_is_its_scan_among_others() -> None:
    lengths = [9, 8, 8, 8, 7, 6, 6, 5, 1]
    inputs, weights, biases = draw(0, sum(lengths), 960), draw(1, 2, 480, 160), draw(2, 2, 480)

    together = NUMPY.gru_scan(
        inputs, weights, biases, schedule_steps(offsets_of(np.array(lengths)))
    )

    alone = NUMPY.gru_scan(inputs[:9], weights, biases, schedule_steps(offsets_of(np.array([9]))))
    assert_same_bits(alone, together[:9])


def assert_same_bits(one: Floats, other: Floats) -> None:
    assert one.shape == other.shape
    assert (one == other).all()


MASK = np.array([[1, 0, 1, 1, 0], [0, 1, 0, 0, 0]], dtype=bool)


def test_a_masked_softmax_is_the_softmax_of_what_is_real() -> None:
    scores = draw(0, 2, 5)

    log_probs = masked_log_softmax(scores, MASK, np)

    for row in range(2):
        real = scores[row, MASK[row]]
        assert_close(log_probs[row, MASK[row]], real - np.log(np.exp(real).sum()))
        assert np.isneginf(log_probs[row, ~MASK[row]]).all()


def test_what_is_masked_does_not_matter_however_large() -> None:
    scores = draw(0, 2, 5)

    spoilt = np.where(MASK, scores, np.float32(1e30))

    assert_close(
        masked_log_softmax(spoilt, MASK, np), masked_log_softmax(scores, MASK, np), tolerance=0
    )
