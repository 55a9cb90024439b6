"""Sparse products equal dense ones, forwards and backwards."""

from collections.abc import Sequence

import pytest
import torch
from torch import Tensor

from phraseloom.nn import sparse
from phraseloom.nn.sparse import gather_rows, matrix_product, segment_mean
from tests.nn.graphs import dense, make_pattern


def assert_same_backward(
    found: Tensor, expected: Tensor, inputs: Sequence[Tensor], *, seed: int = 0
) -> None:
    """Two expressions of the same inputs have the same value and the same gradients."""
    torch.testing.assert_close(found, expected)
    weights = torch.randn(found.shape, generator=torch.Generator().manual_seed(seed)).to(found)
    pairs = zip(
        torch.autograd.grad((found * weights).sum(), inputs),
        torch.autograd.grad((expected * weights).sum(), inputs),
        strict=True,
    )
    for of_found, of_expected in pairs:
        torch.testing.assert_close(of_found, of_expected)


def leaf(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.randn(*shape, dtype=dtype, requires_grad=True)


@pytest.mark.parametrize(("seed", "nodes"), [(0, 1), (1, 2), (2, 7), (3, 12)])
def test_a_matrix_product_equals_the_dense_one(seed: int, nodes: int) -> None:
    torch.manual_seed(seed)
    pattern = make_pattern(seed, nodes)
    values, states = leaf(len(pattern.columns)), leaf(nodes, 5)

    found = matrix_product(pattern, values, states)

    assert_same_backward(found, dense(pattern, values) @ states, [values, states])


def test_a_matrix_product_has_the_gradient_of_its_differences() -> None:
    pattern = make_pattern(5, 6)
    values, states = leaf(len(pattern.columns), dtype=torch.double), leaf(6, 3, dtype=torch.double)

    assert torch.autograd.gradcheck(
        lambda values, states: matrix_product(pattern, values, states), (values, states)
    )


def test_without_mkl_the_products_at_the_entries_are_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pattern = make_pattern(3, 8)
    left, right = torch.randn(8, 5), torch.randn(8, 5)
    entries = (pattern.offsets, pattern.columns, pattern.rows)
    found = [sparse._entry_products(left, right, *entries)]
    monkeypatch.setattr(torch.backends.mkl, "is_available", lambda: False)
    found.append(sparse._entry_products(left, right, *entries))

    expected = (left @ right.t())[pattern.rows, pattern.columns]
    for products in found:
        torch.testing.assert_close(products, expected)


def test_gradients_reach_only_what_asks_for_them() -> None:
    pattern = make_pattern(3, 5)
    values, states = torch.randn(len(pattern.columns)), torch.randn(5, 4)
    learned_values, learned_states = values.clone(), states.clone()
    matrix_product(pattern, learned_values.requires_grad_(), states).sum().backward()
    matrix_product(pattern, values, learned_states.requires_grad_()).sum().backward()

    assert learned_values.grad is not None
    assert learned_states.grad is not None
    assert values.grad is None
    assert states.grad is None


INDEX = torch.tensor([3, 0, 0, 2, 3, 3])
ORDER = INDEX.argsort(stable=True)
OFFSETS = torch.tensor([0, 2, 2, 3, 6])
"""Of the four rows, row 1 is never copied."""


def test_gathering_rows_equals_indexing() -> None:
    torch.manual_seed(0)
    rows = leaf(4, 3)

    assert_same_backward(gather_rows(rows, INDEX, ORDER, OFFSETS), rows[INDEX], [rows])


def test_gathering_rows_has_the_gradient_of_its_differences() -> None:
    rows = leaf(4, 2, dtype=torch.double)

    assert torch.autograd.gradcheck(lambda rows: gather_rows(rows, INDEX, ORDER, OFFSETS), (rows,))


SEGMENTS = torch.tensor([1, 0, 1, 2, 1, 0])
SEGMENT_ORDER = SEGMENTS.argsort(stable=True)
SEGMENT_OFFSETS = torch.tensor([0, 2, 5, 6])


def test_a_segment_mean_equals_the_mean_of_each_segment() -> None:
    torch.manual_seed(0)
    rows = leaf(6, 3)
    expected = torch.stack([rows[segment == SEGMENTS].mean(0) for segment in range(3)])

    found = segment_mean(rows, SEGMENTS, SEGMENT_ORDER, SEGMENT_OFFSETS)

    assert_same_backward(found, expected, [rows])


def test_a_segment_mean_has_the_gradient_of_its_differences() -> None:
    rows = leaf(6, 2, dtype=torch.double)

    assert torch.autograd.gradcheck(
        lambda rows: segment_mean(rows, SEGMENTS, SEGMENT_ORDER, SEGMENT_OFFSETS), (rows,)
    )


def test_renumbering_the_rows_of_segments_changes_nothing() -> None:
    rows, order = torch.randn(6, 3), torch.tensor([4, 2, 0, 5, 1, 3])
    moved = SEGMENTS[order]

    torch.testing.assert_close(
        segment_mean(rows[order], moved, moved.argsort(stable=True), SEGMENT_OFFSETS),
        segment_mean(rows, SEGMENTS, SEGMENT_ORDER, SEGMENT_OFFSETS),
    )
