"""What must hold of the weights of edges."""

from typing import Any

import numpy as np
import pytest

from phraseloom.config import ModelConfig
from phraseloom.network.edges import mean_history, score_edges, weigh_edges
from phraseloom.network.example import token_width
from phraseloom.network.graph import Batch, CopiedGraph, collate, copy_graphs, phrase_context
from phraseloom.network.ops import NUMPY
from tests.builders import TINY, make_example, make_lexicon, make_weights
from tests.network.graphs import Floats, assert_close, draw

LEXICON = make_lexicon()
BATCH = collate([make_example(0, tokens=6), make_example(1, tokens=4)], LEXICON)
DOCUMENTS = [1, 0, 1]


def copy_of(batch: Batch, documents: list[int]) -> CopiedGraph:
    """Copies of some documents' graphs."""
    graph = copy_graphs(batch, np.array(documents)).graph
    assert graph is not None
    return graph


COPIES = copy_of(BATCH, DOCUMENTS)
KINDS = [
    {"edge_scorer": scorer, "scaled_edges": scaled}
    for scorer in ("linear", "interaction")
    for scaled in (False, True)
]


def make_config(**settings: Any) -> ModelConfig:
    return ModelConfig.model_validate({**TINY, **settings})


WEIGHTS = make_weights(make_config(edge_scorer="interaction"), LEXICON)
TOKENS = draw(0, len(BATCH.word_ids), token_width(make_config()))
HISTORY = draw(1, len(DOCUMENTS), TINY["word_width"])
every_kind = pytest.mark.parametrize("settings", KINDS, ids=str)


def weigh(
    config: ModelConfig,
    history: Floats,
    *,
    tokens: Floats = TOKENS,
    batch: Batch = BATCH,
    copies: CopiedGraph = COPIES,
) -> Floats:
    scores = score_edges(WEIGHTS, config, tokens, batch, NUMPY)
    return np.asarray(weigh_edges(WEIGHTS, config, scores, history, copies, NUMPY))


def naive_score(config: ModelConfig, target: int, source: int, kind: int, history: Floats) -> float:
    """The argument of the sigmoid for one edge: one product with the joined vector."""
    ends, bias = WEIGHTS["encoder.edges.ends.weight"], WEIGHTS["encoder.edges.ends.bias"]
    matrix = np.concatenate([*ends, WEIGHTS["encoder.edges.type_score.weight"][0]])
    joined = [TOKENS[target], TOKENS[source], WEIGHTS["encoder.edges.types.weight"][kind]]
    score = matrix @ np.concatenate(joined) + bias.sum()
    shift = WEIGHTS["encoder.shift.score.weight"][0] @ history
    pair = 0.0
    if config.edge_scorer == "interaction":
        query = WEIGHTS["encoder.interaction.said.weight"] @ history / 3**0.5
        pair += query @ (WEIGHTS["encoder.interaction.target.weight"] @ TOKENS[target])
        pair += query @ (WEIGHTS["encoder.interaction.source.weight"] @ TOKENS[source])
    if config.scaled_edges:
        score = score / len(matrix) ** 0.5
        shift, pair = shift / len(history) ** 0.5, pair / len(history) ** 0.5
    return float(score + shift + pair)


@every_kind
def test_matches_the_equation_written_as_loops(settings: dict[str, Any]) -> None:
    config = make_config(**settings)

    weights = weigh(config, HISTORY)

    assert len(weights) == len(COPIES.edge_ids)
    for weight, edge, copy in zip(weights, COPIES.edge_ids, COPIES.copy_of_edge, strict=True):
        target, source = BATCH.edges.targets[edge], BATCH.edges.sources[edge]
        score = naive_score(config, target, source, BATCH.edge_types[edge], HISTORY[copy])
        assert_close(weight, 1 / (1 + np.exp(-score)))


@every_kind
def test_nothing_decoded_moves_nothing(settings: dict[str, Any]) -> None:
    config = make_config(**settings)
    still = 1 / (1 + np.exp(-score_edges(WEIGHTS, config, TOKENS, BATCH, NUMPY).static))

    weights = weigh(config, np.zeros_like(HISTORY))

    assert_close(weights, still[COPIES.edge_ids], tolerance=1e-6)


@every_kind
def test_other_copies_change_no_weight(settings: dict[str, Any]) -> None:
    config = make_config(**settings)
    together = weigh(config, HISTORY)
    for copy, document in enumerate(DOCUMENTS):
        alone = copy_of(BATCH, [document])

        weights = weigh(config, HISTORY[[copy]], copies=alone)

        assert_close(together[COPIES.copy_of_edge == copy], weights)


def test_other_documents_change_no_score() -> None:
    config, alone = make_config(), collate([make_example(0, tokens=6)], LEXICON)
    single = copy_of(alone, [0])

    weights = weigh(config, HISTORY[[1]], tokens=TOKENS[:6], batch=alone, copies=single)

    assert_close(weigh(config, HISTORY)[COPIES.copy_of_edge == 1], weights)


def test_linear_moves_all_edges_of_a_document_alike_and_interaction_does_not() -> None:
    spreads = []
    for scorer in ("linear", "interaction"):
        config = make_config(edge_scorer=scorer)
        before, after = (weigh(config, history) for history in (0 * HISTORY, HISTORY))
        moved = np.log(after / (1 - after)) - np.log(before / (1 - before))
        spreads.append([np.ptp(moved[COPIES.copy_of_edge == copy]) for copy in range(3)])

    assert max(spreads[0]) < 1e-4
    assert min(spreads[1]) > 0.1


def test_the_history_is_the_mean_of_all_words_before() -> None:
    words = draw(2, len(BATCH.word_ids), 4)
    context = phrase_context(BATCH, [1, 0, 1], [[(2, 3), (2,)], [], [(3,)]])
    first = BATCH.first_nodes[BATCH.stem_offsets[1] :]

    history = mean_history(words, context, NUMPY)

    both = (2 * words[first[0]] + words[first[1]]) / 3
    assert_close(history, np.stack([both, np.zeros(4), words[first[1]]]))
