"""What must hold of the losses and their gradients, whatever the weights."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import Parameter

from benchmarks.reference import Network, pad, reference_losses
from phraseloom.network.example import Example
from phraseloom.network.graph import collate
from phraseloom.network.lexicon import Ids
from phraseloom.network.model import KeyphraseModel
from phraseloom.slots import EOS, FIRST_WORD, SEP
from phraseloom.train.corpus.targets import collate_targets
from phraseloom.train.initial import FIXED, as_parameters
from phraseloom.train.loss import Losses, sequence_losses
from phraseloom.train.ops import TorchOps
from tests.builders import make_example
from tests.network.variants import VARIANTS, build, every_variant

SOME = ["gru", "gcn-residual-importance", "dgcn-no-merge", "default-like"]
some_variants = pytest.mark.parametrize("settings", [VARIANTS[name] for name in SOME], ids=SOME)


def parameters_of(model: KeyphraseModel) -> dict[str, Parameter]:
    return as_parameters({name: torch.from_numpy(a) for name, a in model.weights.items()})


def run(
    model: KeyphraseModel,
    examples: Sequence[Example],
    *,
    weights: Mapping[str, Tensor] | None = None,
    chosen: Sequence[Ids] | None = None,
) -> Losses:
    batch = collate(examples, model.lexicon)
    targets = collate_targets(batch, examples, chosen)
    return sequence_losses(
        model.config, weights or parameters_of(model), batch, targets, TorchOps()
    )


def gradients(weights: Mapping[str, Parameter], losses: Losses) -> dict[str, Tensor]:
    """Gradient of both losses together, by name; zero where there is none."""
    for weight in weights.values():
        weight.grad = None
    (losses.sequence + 0.3 * losses.importance).backward()
    return {
        name: torch.zeros_like(weight) if weight.grad is None else weight.grad
        for name, weight in weights.items()
    }


def assert_same(losses: Losses, expected: Losses) -> None:
    assert (losses.tokens, losses.entries) == (expected.tokens, expected.entries)
    torch.testing.assert_close(losses.sequence, expected.sequence, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(losses.importance, expected.importance, rtol=1e-5, atol=1e-5)


@every_variant
def test_losses_and_gradients_equal_those_of_a_padded_dense_network(
    settings: dict[str, Any],
) -> None:
    model, examples = build(settings)
    weights = parameters_of(model)
    network = Network(model.config, model.lexicon, weights)

    losses = run(model, examples, weights=weights)
    expected = reference_losses(network, pad(examples, network))

    assert_same(losses, expected)
    of_expected = gradients(weights, expected)
    for name, gradient in gradients(weights, losses).items():
        torch.testing.assert_close(gradient, of_expected[name], rtol=1e-4, atol=1e-5, msg=name)


@every_variant
def test_every_weight_but_the_fixed_ones_gets_a_gradient(settings: dict[str, Any]) -> None:
    model, examples = build(settings)
    weights = parameters_of(model)

    of_weights = gradients(weights, run(model, examples, weights=weights))

    unread = {FIXED}
    if model.config.dynamic_layers == "merged":  # one network can be read in either way
        unread |= {"encoder.interaction.source.weight"} & of_weights.keys()
    assert {name for name, gradient in of_weights.items() if not gradient.any()} == unread


@every_variant
def test_searching_along_a_phrase_equals_teacher_forcing(settings: dict[str, Any]) -> None:
    model, examples = build(settings)
    decoder = model.decoder(examples)
    total = 0.0
    for document, example in enumerate(examples):
        phrases = [tuple((phrase + FIRST_WORD).tolist()) for phrase in example.phrases]
        for number, phrase in enumerate(phrases):
            state = decoder.begin([document], [phrases[:number]])
            end = EOS if number + 1 == len(phrases) else SEP
            for word, following in zip((SEP, *phrase), (*phrase, end), strict=True):
                log_probs, state = decoder.advance(np.array([[word]]), state)
                total -= float(log_probs[0, 0, following])

    assert total == pytest.approx(run(model, examples).sequence.item(), rel=1e-4)


@some_variants
def test_documents_of_a_batch_do_not_touch(settings: dict[str, Any]) -> None:
    model, examples = build(settings)

    together = run(model, examples)

    alone = [run(model, [example]) for example in examples]
    assert together.tokens == sum(losses.tokens for losses in alone)
    for field in ("sequence", "importance"):
        total = torch.stack([getattr(losses, field) for losses in alone]).sum()
        torch.testing.assert_close(getattr(together, field), total)


@some_variants
def test_the_order_of_documents_changes_nothing(settings: dict[str, Any]) -> None:
    model, examples = build(settings)

    assert_same(run(model, examples[::-1]), run(model, examples))


def test_a_document_without_phrases_adds_nothing_to_the_sequence_loss() -> None:
    model, examples = build(VARIANTS["dgcn"])
    without = replace(make_example(7), phrases=())

    assert_same(run(model, [without, *examples]), run(model, examples))


def test_chosen_phrases_are_taught_with_all_that_came_before_them() -> None:
    model, examples = build(VARIANTS["default-like"])
    numbers = [np.arange(len(example.phrases)) for example in examples]

    parts = [
        run(
            model, examples, chosen=[of_document[of_document % 2 == odd] for of_document in numbers]
        )
        for odd in (0, 1)
    ]

    whole = run(model, examples)
    assert whole.tokens == parts[0].tokens + parts[1].tokens
    torch.testing.assert_close(whole.sequence, parts[0].sequence + parts[1].sequence)


def test_every_word_and_every_end_is_a_target() -> None:
    model, examples = build(VARIANTS["dgcn"])
    words = sum(len(phrase) for example in examples for phrase in example.phrases)
    ends = sum(len(example.phrases) for example in examples)

    assert run(model, examples).tokens == words + ends


def test_an_impossible_word_costs_much_but_not_everything_without_a_merge() -> None:
    model, _ = build({"merge": False, "attention": "bilinear"})
    weights = parameters_of(model)
    with torch.no_grad():
        weights["decoder.ends"].mul_(1e4)  # all but the two ends underflow
        weights["decoder.attention.query.bias"].copy_(weights["decoder.ends"][0])

    losses = run(model, [make_example(0)], weights=weights)

    assert losses.sequence.isfinite()
    assert losses.sequence > 50
