"""What must hold of the scores of edges."""

import torch

from phraseloom.nn.edge_scorer import EdgeScorer, SaidInteraction, SaidShift
from tests.nn.graphs import idle_parameters

SOURCES = torch.tensor([0, 1, 2, 2])
TARGETS = torch.tensor([1, 0, 1, 2])
TYPES = torch.tensor([3, 1, 0, 2])
COPY_OF = torch.tensor([0, 0, 0, 1, 1])
NODES = torch.tensor([0, 1, 2, 1, 2])
"""Two copies: one of nodes 0 to 2, one of nodes 1 and 2."""


def make_scorer() -> EdgeScorer:
    torch.manual_seed(0)
    return EdgeScorer(5, edge_types=4, edge_width=3)


def make_interaction() -> SaidInteraction:
    torch.manual_seed(0)
    return SaidInteraction(4, 5, rank=3)


def answers(layer: SaidInteraction, said: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
    return layer(said, layer.listen(tokens), COPY_OF, NODES)


def test_matches_one_product_with_the_joined_vector() -> None:
    scorer, tokens = make_scorer(), torch.randn(3, 5)
    matrix = torch.cat([scorer.ends.weight[0], scorer.ends.weight[1], scorer.type_score.weight[0]])
    expected = []
    for i, j, kind in zip(TARGETS, SOURCES, TYPES, strict=True):
        joined = torch.cat([tokens[i], tokens[j], scorer.types.weight[kind]])
        expected.append(matrix @ joined + scorer.ends.bias.sum())

    torch.testing.assert_close(scorer(tokens, SOURCES, TARGETS, TYPES), torch.stack(expected))


def test_scaled_scores_are_the_same_over_the_root_of_their_width() -> None:
    scorer, tokens, said = make_scorer(), torch.randn(3, 5), torch.randn(2, 4)
    scaled = EdgeScorer(5, edge_types=4, edge_width=3, is_scaled=True)
    scaled.load_state_dict(scorer.state_dict())
    shift, scaled_shift = SaidShift(4), SaidShift(4, is_scaled=True)
    scaled_shift.load_state_dict(shift.state_dict())
    pair, scaled_pair = make_interaction(), SaidInteraction(4, 5, rank=3, is_scaled=True)
    scaled_pair.load_state_dict(pair.state_dict())

    edges = (SOURCES, TARGETS, TYPES)
    torch.testing.assert_close(scaled(tokens, *edges), scorer(tokens, *edges) / 13**0.5)
    torch.testing.assert_close(scaled_shift(said), shift(said) / 2)
    expected = answers(pair, said, tokens) / 2
    torch.testing.assert_close(answers(scaled_pair, said, tokens), expected)


def test_renumbering_nodes_and_edges_renumbers_the_scores() -> None:
    scorer, tokens = make_scorer(), torch.randn(3, 5)
    nodes, edges = torch.tensor([2, 0, 1]), torch.tensor([3, 1, 0, 2])
    place = nodes.argsort()

    found = scorer(tokens[nodes], place[SOURCES[edges]], place[TARGETS[edges]], TYPES[edges])

    torch.testing.assert_close(found, scorer(tokens, SOURCES, TARGETS, TYPES)[edges])


def test_other_documents_change_no_score() -> None:
    scorer, tokens = make_scorer(), torch.randn(6, 5)
    both = [torch.cat([SOURCES, SOURCES + 3]), torch.cat([TARGETS, TARGETS + 3]), TYPES.repeat(2)]

    torch.testing.assert_close(
        scorer(tokens, *both)[:4], scorer(tokens[:3], SOURCES, TARGETS, TYPES)
    )


def test_the_linear_shift_is_one_product_a_phrase() -> None:
    torch.manual_seed(0)
    shift, said = SaidShift(4), torch.randn(3, 4)

    expected = torch.stack([shift.score.weight[0] @ words for words in said])

    torch.testing.assert_close(shift(said), expected)


def test_nothing_said_moves_nothing() -> None:
    tokens, nothing = torch.randn(3, 5), torch.zeros(2, 4)

    assert SaidShift(4)(nothing).eq(0).all()
    assert answers(make_interaction(), nothing, tokens).eq(0).all()


def test_the_interaction_matches_the_equation_written_as_loops() -> None:
    layer, said, tokens = make_interaction(), torch.randn(2, 4), torch.randn(3, 5)
    expected = torch.empty(5, 2)
    for row, (copy, node) in enumerate(zip(COPY_OF, NODES, strict=True)):
        spoken = layer.said.weight @ said[copy] / 3**0.5
        expected[row, 0] = spoken @ (layer.target.weight @ tokens[node])
        expected[row, 1] = spoken @ (layer.source.weight @ tokens[node])

    torch.testing.assert_close(answers(layer, said, tokens), expected)


def test_the_interaction_of_one_copy_ignores_the_other() -> None:
    layer, said, tokens = make_interaction(), torch.randn(2, 4), torch.randn(3, 5)

    alone = layer(said[1:], layer.listen(tokens), torch.zeros(2, dtype=torch.long), NODES[3:])

    torch.testing.assert_close(answers(layer, said, tokens)[3:], alone)


def test_every_weight_learns() -> None:
    scorer, shift, layer = make_scorer(), SaidShift(4), make_interaction()
    tokens, said = torch.randn(3, 5), torch.randn(2, 4)
    scores = [scorer(tokens, SOURCES, TARGETS, TYPES), shift(said)]
    scores.append(answers(layer, said, tokens))
    torch.cat([each.flatten() for each in scores]).square().sum().backward()

    assert [idle_parameters(each) for each in (scorer, shift, layer)] == [[], [], []]
