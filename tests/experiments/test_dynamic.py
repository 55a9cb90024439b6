"""Networks told less of what was decoded: what is switched off is off, and only that."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments.dynamic import SWITCHES, compare_lists, difference, without_edges, without_history
from experiments.sample import open_sample
from phraseloom.network.model import KeyphraseModel, ModelDecoder
from phraseloom.search.beam import Hypothesis


def edge_weights(decoder: ModelDecoder, history: list[tuple[int, ...]]) -> np.ndarray:
    return decoder.edge_weights(decoder.begin([0], [history]))[0]


def test_edges_are_held_still_or_gone(model_directory: Path, prepared: Path) -> None:
    sample = open_sample(model_directory, prepared, documents=2)
    assert isinstance(sample.model, KeyphraseModel)
    decoders = [
        switch(sample.model).decoder(sample.examples)
        for switch in (SWITCHES["as it is"], without_history, without_edges)
    ]
    before = [edge_weights(decoder, []) for decoder in decoders]
    after = [edge_weights(decoder, [(2, 3)]) for decoder in decoders]

    assert np.abs(after[0] - before[0]).max() > 1e-3, "a dynamic graph moves"
    np.testing.assert_array_equal(after[1], before[1])
    assert after[2].max() == before[2].max() == 0


def test_lists_are_compared_phrase_by_phrase_and_whole() -> None:
    def phrases(*slots: tuple[int, ...]) -> list[Hypothesis]:
        return [Hypothesis(1, one, -1.0, 0.5, 1.0, 0, 0.5, 0.5) for one in slots]

    shares = compare_lists(
        [phrases((2,), (3,)), phrases((4,), (5,))], [phrases((3,), (2,)), phrases((4,), (5,))]
    )

    assert shares == {"unmoved": 1.0, "same": 0.5}


def test_the_interval_of_a_difference_is_over_documents_and_seeds() -> None:
    def row(scores: list[float]) -> dict[str, Any]:
        return {"corpora": {"own": {"documents": {"F1@5": scores}}}}

    same = difference([row([0.1, 0.9])], [row([0.1, 0.9])], "own", "F1@5")
    apart = difference([row([0.1, 0.9])], [row([0.2, 1.0]), row([0.4, 1.2])], "own", "F1@5")

    assert same == "+0.0000 (+0.0000 to +0.0000)"
    assert apart == "+0.2000 (+0.1000 to +0.3000)"


@pytest.mark.slow
def test_the_command_measures_what_is_missing_and_draws_again(
    experiment: Callable[..., Any],
    result: Callable[..., Any],
    model_directory: Path,
    prepared: Path,
) -> None:
    arguments = ("dynamic", model_directory, "--corpus", prepared, "--switched", "--documents", 3)
    outcome = experiment(*arguments)

    assert outcome.status == 0, outcome.err
    rows = result("dynamic")["rows"]
    assert [row["run"].partition("-")[0] for row in rows] == list(SWITCHES)
    assert rows[0]["corpora"]["own"]["perplexity"] > 1
    assert experiment(*arguments).out == outcome.out
    assert result("dynamic")["rows"] == rows, "nothing is measured twice"
    assert experiment("draw", "dynamic").out == outcome.out
