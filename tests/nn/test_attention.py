"""What must hold of both kinds of attention."""

import pytest
import torch
from torch import Tensor

from phraseloom.nn.attention import AdditiveAttention, Attention, BilinearAttention
from tests.nn.graphs import idle_parameters

WIDTH = 4


@pytest.fixture(params=[BilinearAttention, AdditiveAttention])
def attention(request: pytest.FixtureRequest) -> Attention:
    torch.manual_seed(0)
    layer: Attention = request.param(WIDTH)
    return layer


def score_pair(attention: Attention, query: Tensor, entry: Tensor, coverage: Tensor) -> Tensor:
    """The equation for one query and one entry."""
    asked = attention.query.weight @ query + attention.query.bias
    if isinstance(attention, BilinearAttention):
        return asked @ (entry + attention.coverage * coverage) / WIDTH**0.5
    inner = asked + attention.key.weight @ entry + attention.coverage * coverage
    return attention.value @ inner.tanh()


def score_all(attention: Attention, queries: Tensor, memory: Tensor, coverage: Tensor) -> Tensor:
    return attention.scores(queries, attention.prepare(memory)).all(coverage)


def test_matches_the_equation_written_as_loops(attention: Attention) -> None:
    queries, memory = torch.randn(2, 3, WIDTH), torch.randn(2, 5, WIDTH)
    coverage = torch.rand(2, 3, 5)
    expected = torch.empty(2, 3, 5)
    for g in range(2):
        for q in range(3):
            for s in range(5):
                pair = (queries[g, q], memory[g, s], coverage[g, q, s])
                expected[g, q, s] = score_pair(attention, *pair)

    torch.testing.assert_close(score_all(attention, queries, memory, coverage), expected)


def test_one_step_at_a_time_equals_all_at_once(attention: Attention) -> None:
    queries, memory = torch.randn(2, 3, WIDTH), torch.randn(2, 5, WIDTH)
    coverage = torch.rand(2, 3, 5)
    scores = attention.scores(queries, attention.prepare(memory))

    steps = torch.stack([scores.at(step, coverage[:, step]) for step in range(3)], 1)

    torch.testing.assert_close(steps, scores.all(coverage))


def test_padding_and_other_graphs_change_no_score(attention: Attention) -> None:
    queries, memory = torch.randn(2, 3, WIDTH), torch.randn(2, 5, WIDTH)
    coverage = torch.rand(2, 3, 5)

    alone = score_all(attention, queries[:1], memory[:1, :4], coverage[:1, :, :4])

    found = score_all(attention, queries, memory, coverage)
    torch.testing.assert_close(found[:1, :, :4], alone)


def test_renumbering_entries_renumbers_scores(attention: Attention) -> None:
    queries, memory = torch.randn(1, 2, WIDTH), torch.randn(1, 4, WIDTH)
    coverage, order = torch.rand(1, 2, 4), torch.tensor([2, 0, 3, 1])

    moved = score_all(attention, queries, memory[:, order], coverage[..., order])

    torch.testing.assert_close(moved, score_all(attention, queries, memory, coverage)[..., order])


def test_every_weight_learns(attention: Attention) -> None:
    queries, memory = torch.randn(1, 2, WIDTH), torch.randn(1, 4, WIDTH)
    score_all(attention, queries, memory, torch.rand(1, 2, 4)).square().sum().backward()

    assert idle_parameters(attention) == []
