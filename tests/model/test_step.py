"""The network as search sees it says what it was taught."""

from typing import Any

import pytest
import torch
from torch import Tensor

from phraseloom.data import batch as numbers
from phraseloom.data.batch import EOS, FIRST_WORD, SEP, collate, collate_targets
from phraseloom.data.example import Example
from phraseloom.data.lexicon import Lexicon
from phraseloom.model.encoder import GraphEncoder, Memory
from phraseloom.model.network import KeyphraseModel
from phraseloom.model.step import NeuralStep
from phraseloom.search import step as protocol
from tests.builders import make_example, make_lexicon, make_model

VARIANTS: dict[str, dict[str, Any]] = {
    "gru": {"variant": "gru"},
    "gcn": {"variant": "gcn", "attention": "bilinear"},
    "gcn-no-merge": {"variant": "gcn", "merge": False},
    "dgcn": {},
    "dgcn-no-merge": {"merge": False, "attention": "bilinear"},
    "base-like": {
        "edge_scorer": "interaction",
        "attention": "bilinear",
        "residual": True,
        "node_features": True,
        "styles": ("authors", "readers"),
    },
}
every_variant = pytest.mark.parametrize("settings", VARIANTS.values(), ids=VARIANTS.keys())


def build(settings: dict[str, Any]) -> tuple[KeyphraseModel, Lexicon, list[Example]]:
    lexicon = make_lexicon(styles=settings.get("styles", ()))
    examples = [make_example(i, tokens=t, phrases=3) for i, t in enumerate((9, 5, 14))]
    return make_model(lexicon, **settings), lexicon, examples


def teach(
    model: KeyphraseModel, lexicon: Lexicon, examples: list[Example]
) -> dict[tuple[int, int], Tensor]:
    """Log-probabilities under teacher forcing, ``(L, S)``, by document and phrase number."""
    targets = collate_targets(examples)
    encoded = model.encode(collate(examples, lexicon))
    reading, _ = model.begin(encoded, targets.phrases)
    log_probs = model.decoder(reading, model._inputs(encoded, targets))  # (R, L, S)
    rows = zip(targets.phrases.documents.tolist(), targets.phrases.numbers.tolist(), strict=True)
    return {
        row: steps[: int(mask.sum())]
        for row, steps, mask in zip(rows, log_probs, targets.mask, strict=True)
    }


def slots_of(example: Example) -> list[tuple[int, ...]]:
    return [tuple((phrase + FIRST_WORD).tolist()) for phrase in example.phrases]


def assert_close(found: Tensor, expected: Tensor) -> None:
    """The same over the slots that both have; anything beyond is impossible."""
    shared = min(found.shape[-1], expected.shape[-1])
    torch.testing.assert_close(found[..., :shared], expected[..., :shared])
    assert torch.isinf(found[..., shared:]).all()
    assert torch.isinf(expected[..., shared:]).all()


@every_variant
@torch.no_grad()
def test_stepping_along_a_phrase_equals_teacher_forcing(settings: dict[str, Any]) -> None:
    model, lexicon, examples = build(settings)
    taught = teach(model, lexicon, examples)
    step = NeuralStep(model, collate(examples, lexicon))
    for (document, number), expected in taught.items():
        phrases = slots_of(examples[document])
        state = step.begin([document], [phrases[:number]])
        for place, word in enumerate((SEP, *phrases[number])):
            log_probs, state = step.advance(torch.tensor([[word]]), state)

            assert_close(log_probs[0, 0], expected[place])


@every_variant
@torch.no_grad()
def test_documents_and_hypotheses_step_as_if_alone(settings: dict[str, Any]) -> None:
    model, lexicon, examples = build(settings)
    step = NeuralStep(model, collate(examples, lexicon))
    documents = [2, 0]
    said = [slots_of(examples[document])[:number] for document, number in ((2, 2), (0, 1))]
    paths = torch.tensor([[[SEP, 2], [SEP, 3]], [[SEP, 4], [SEP, 2]]])  # (D, K, steps)

    _, state = step.advance(torch.full((2, 1), SEP), step.begin(documents, said))
    together, _ = step.advance(paths[:, :, 1], state.select(torch.zeros(2, 2, dtype=torch.long)))

    assert together.shape == (2, 2, max(step.slots[document] for document in documents))
    for row, document in enumerate(documents):
        for column in range(2):
            alone = step.begin([document], [said[row]])
            for word in paths[row, column]:
                log_probs, alone = step.advance(word.view(1, 1), alone)
            assert_close(together[row, column], log_probs[0, 0])


@every_variant
@torch.no_grad()
def test_probabilities_sum_to_one_over_the_slots_of_the_document(settings: dict[str, Any]) -> None:
    model, lexicon, examples = build(settings)
    step = NeuralStep(model, collate(examples, lexicon))

    log_probs, _ = step.advance(torch.full((3, 1), SEP), step.begin([0, 1, 2], [[], [], []]))

    torch.testing.assert_close(log_probs.exp().sum(-1), torch.ones(3, 1))
    assert torch.isfinite(log_probs).sum(-1).squeeze(1).tolist() == list(step.slots)


@torch.no_grad()
def test_selecting_swaps_hypotheses() -> None:
    model, lexicon, examples = build({})
    step = NeuralStep(model, collate(examples, lexicon))
    state = step.begin([0, 1], [[], []]).select(torch.zeros(2, 2, dtype=torch.long))
    _, state = step.advance(torch.tensor([[2, 3], [3, 2]]), state)

    plain, _ = step.advance(torch.full((2, 2), 4), state)
    swapped, _ = step.advance(torch.full((2, 2), 4), state.select(torch.tensor([[1, 0], [0, 0]])))

    torch.testing.assert_close(swapped[0], plain[0].flip(0))
    torch.testing.assert_close(swapped[1], plain[1, [0, 0]])


@torch.no_grad()
@pytest.mark.parametrize(("variant", "times"), [("gru", 1), ("gcn", 1), ("dgcn", 3)])
def test_only_a_dynamic_graph_is_read_again(
    variant: str, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, lexicon, examples = build({"variant": variant})
    readings = []
    reread = GraphEncoder.reread

    def count(*args: Any) -> Memory:
        readings.append(args)
        return reread(*args)

    monkeypatch.setattr(GraphEncoder, "reread", count)
    step = NeuralStep(model, collate(examples, lexicon))

    for said in ([], [(2,)], [(2,), (3,)]):
        step.begin([1], [said])

    assert len(readings) == times


@torch.no_grad()
def test_what_was_said_moves_the_edges_of_a_dynamic_graph_only() -> None:
    for variant, moves in (("gcn", False), ("dgcn", True)):
        model, lexicon, examples = build({"variant": variant})
        step = NeuralStep(model, collate(examples, lexicon))
        before, after = (
            step.edge_weights(step.begin([1, 2], [said, said])) for said in ([], [(2,)])
        )

        assert [len(weights) for weights in after] == [_edges(examples[i]) for i in (1, 2)]
        same = [torch.equal(first, second) for first, second in zip(before, after, strict=True)]
        assert same == [not moves] * 2


def _edges(example: Example) -> int:
    arcs = sum(head != token for token, head in enumerate(example.heads.tolist()))
    return len(example) + 2 * arcs


def test_search_and_network_number_slots_alike() -> None:
    assert (SEP, EOS, FIRST_WORD) == (protocol.SEP, protocol.EOS, protocol.FIRST_WORD)
    assert numbers.FIRST_WORD == 2
