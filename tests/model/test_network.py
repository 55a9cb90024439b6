"""What must hold of the whole network, whatever its weights."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from benchmarks.reference import pad, reference_losses
from phraseloom.data.batch import collate, collate_targets
from phraseloom.data.example import Example
from phraseloom.data.lexicon import Lexicon
from phraseloom.model.network import KeyphraseModel, Losses
from tests.builders import make_example, make_lexicon, make_model

STYLES = ("authors", "readers")
VARIANTS: dict[str, dict[str, Any]] = {
    "gru": {"variant": "gru"},
    "gru-features-no-merge": {"variant": "gru", "merge": False, "node_features": True},
    "gcn": {"variant": "gcn"},
    "gcn-residual-importance": {"variant": "gcn", "residual": True, "importance": True},
    "gcn-ends-bilinear": {"variant": "gcn", "pooling": False, "attention": "bilinear"},
    "dgcn": {},
    "dgcn-bilinear": {"attention": "bilinear"},
    "dgcn-residual": {"residual": True},
    "dgcn-no-merge": {"merge": False, "importance": True},
    "dgcn-no-merge-bilinear": {"merge": False, "attention": "bilinear"},
    "dgcn-no-gate": {"gate": False},
    "dgcn-ends": {"pooling": False},
    "dgcn-features": {"node_features": True},
    "dgcn-known": {"known_phrases": True},
    "dgcn-importance": {"importance": True},
    "dgcn-styles": {"styles": STYLES},
    "dgcn-features-styles": {"node_features": True, "styles": STYLES},
    "interaction": {"edge_scorer": "interaction"},
    "scaled": {"scaled_edges": True},
    "base-like": {
        "edge_scorer": "interaction",
        "scaled_edges": True,
        "attention": "bilinear",
        "residual": True,
        "node_features": True,
        "known_phrases": True,
        "importance": True,
        "styles": STYLES,
    },
}

every_variant = pytest.mark.parametrize("settings", VARIANTS.values(), ids=VARIANTS.keys())


def build(settings: dict[str, Any]) -> tuple[KeyphraseModel, Lexicon, list[Example]]:
    """A model, its lexicon, and documents of different lengths and numbers of phrases."""
    lexicon = make_lexicon(styles=settings.get("styles", ()))
    sizes = [(9, 3), (5, 1), (14, 4), (1, 1)]
    examples = [make_example(i, tokens=t, phrases=p) for i, (t, p) in enumerate(sizes)]
    if lexicon.styles:
        examples = [replace(example, style=i % 2) for i, example in enumerate(examples)]
    return make_model(lexicon, **settings), lexicon, examples


def run(model: KeyphraseModel, lexicon: Lexicon, examples: Sequence[Example]) -> Losses:
    return model(collate(examples, lexicon), collate_targets(examples))


def gradients(model: KeyphraseModel, losses: Losses) -> dict[str, Tensor]:
    """Gradient of both losses together, by parameter; zero where there is none."""
    model.zero_grad(set_to_none=True)
    (losses.sequence + 0.3 * losses.importance).backward()
    return {
        name: torch.zeros_like(each) if each.grad is None else each.grad
        for name, each in model.named_parameters()
    }


def assert_same(found: Losses, expected: Losses) -> None:
    assert (found.tokens, found.entries) == (expected.tokens, expected.entries)
    torch.testing.assert_close(found.sequence, expected.sequence, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(found.importance, expected.importance, rtol=1e-5, atol=1e-5)


@every_variant
def test_losses_and_gradients_equal_the_dense_reference(settings: dict[str, Any]) -> None:
    model, lexicon, examples = build(settings)

    found = run(model, lexicon, examples)
    expected = reference_losses(model, pad(examples, model, lexicon))

    assert_same(found, expected)
    wanted = gradients(model, expected)
    for name, gradient in gradients(model, found).items():
        torch.testing.assert_close(gradient, wanted[name], rtol=1e-4, atol=1e-5, msg=name)


@every_variant
def test_every_parameter_gets_a_gradient(settings: dict[str, Any]) -> None:
    model, lexicon, examples = build(settings)

    found = gradients(model, run(model, lexicon, examples))

    assert [name for name, gradient in found.items() if not gradient.any()] == []


@pytest.mark.parametrize("name", ["gru", "gcn-residual-importance", "dgcn-no-merge", "base-like"])
def test_documents_of_a_batch_do_not_touch(name: str) -> None:
    model, lexicon, examples = build(VARIANTS[name])

    together = run(model, lexicon, examples)
    alone = [run(model, lexicon, [example]) for example in examples]

    assert together.tokens == sum(each.tokens for each in alone)
    for field in ("sequence", "importance"):
        total = torch.stack([getattr(each, field) for each in alone]).sum()
        torch.testing.assert_close(getattr(together, field), total)


@pytest.mark.parametrize("name", ["gru", "gcn-residual-importance", "dgcn-no-merge", "base-like"])
def test_the_order_of_documents_changes_nothing(name: str) -> None:
    model, lexicon, examples = build(VARIANTS[name])

    assert_same(run(model, lexicon, examples[::-1]), run(model, lexicon, examples))


def test_a_document_without_phrases_adds_nothing_to_the_sequence_loss() -> None:
    model, lexicon, examples = build(VARIANTS["dgcn"])
    silent = replace(make_example(7), phrases=())

    assert_same(run(model, lexicon, [silent, *examples]), run(model, lexicon, examples))


@pytest.mark.parametrize("edge_scorer", ["linear", "interaction"])
def test_dgcn_without_its_dynamic_term_is_gcn(edge_scorer: str) -> None:
    dynamic, lexicon, examples = build({"edge_scorer": edge_scorer})
    static, _, _ = build({"variant": "gcn"})
    with torch.no_grad():
        dynamic.encoder.shift.score.weight.zero_()
        if edge_scorer == "interaction":
            dynamic.encoder.interaction.said.weight.zero_()
    missing = static.load_state_dict(dynamic.state_dict(), strict=False)

    assert missing.missing_keys == []
    assert_same(run(dynamic, lexicon, examples), run(static, lexicon, examples))


def test_dgcn_with_its_dynamic_term_is_not_gcn() -> None:
    dynamic, lexicon, examples = build({})
    static, _, _ = build({"variant": "gcn"})
    static.load_state_dict(dynamic.state_dict(), strict=False)

    found, other = run(dynamic, lexicon, examples), run(static, lexicon, examples)

    assert not torch.allclose(found.sequence, other.sequence)


def test_chosen_phrases_are_taught_with_all_that_came_before_them() -> None:
    model, lexicon, examples = build(VARIANTS["base-like"])
    batch = collate(examples, lexicon)
    parts = [
        model(batch, collate_targets(examples, [n[n % 2 == odd] for n in _numbers(examples)]))
        for odd in (0, 1)
    ]

    whole = run(model, lexicon, examples)

    assert whole.tokens == parts[0].tokens + parts[1].tokens
    torch.testing.assert_close(whole.sequence, parts[0].sequence + parts[1].sequence)


def test_losses_divide_by_tokens_of_all_targets() -> None:
    model, lexicon, examples = build(VARIANTS["dgcn"])

    words = sum(len(phrase) for example in examples for phrase in example.phrases)
    ends = sum(len(example.phrases) for example in examples)

    assert run(model, lexicon, examples).tokens == words + ends


def _numbers(examples: Sequence[Example]) -> list[np.ndarray[Any, np.dtype[np.int64]]]:
    return [np.arange(len(example.phrases)) for example in examples]


def test_an_impossible_word_costs_much_but_not_everything_without_a_merge() -> None:
    lexicon = make_lexicon()
    model = make_model(lexicon, merge=False, attention="bilinear")
    with torch.no_grad():
        model.decoder.ends.mul_(1e4)  # all but the two ends underflow
        model.decoder.attention.query.bias.copy_(model.decoder.ends[0])
    examples = [make_example(0)]

    losses = model(collate(examples, lexicon), collate_targets(examples))

    assert losses.sequence.isfinite()
    assert losses.sequence > 50
