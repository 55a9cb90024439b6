"""What makes each rival itself: a law of its file, not a number."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from phraseloom.slots import EOS, FIRST_WORD, SEP
from phraseloom.train.reward import reward
from rivals import reward as rewards
from rivals.catseqd import CatSeqD, orthogonality
from rivals.divgraphpointer import DivGraphPointer, proximity
from rivals.exhird import WINDOW, exclude
from rivals.model import RivalModel
from rivals.paranet import ParaNet
from rivals.reward import split
from rivals.seq2seq import Memory, Seq2Seq, Source, State
from rivals.titleguided import CatSeqTG
from tests.rivals.runs import Bench


def read_all(model: RivalModel, source: Source, words: list[int]) -> tuple[Memory, State]:
    """The state after some slots, the same in every document."""
    network = model.network.eval()
    memory = network.encode(source)
    state = network.start(memory)
    for word in words:
        state = network.read(memory, state, torch.full((len(memory["mask"]), 1), word))
    return memory, state


def probabilities(model: RivalModel, source: Source, words: list[int]) -> Tensor:
    memory, state = read_all(model, source, words)
    return model.network.predict(memory, state).exp()[:, 0]


@torch.no_grad()
def test_catseq_generates_or_copies(bench: Bench) -> None:
    model = bench.make("catseq")
    source, network = bench.source(model), model.network
    probs = probabilities(model, source, [SEP])
    assert (probs.sum(1) <= 1 + 1e-5).all()  # the rest is for words that no document has

    network.switch.bias.data.fill_(-1e9)  # only copies: all of it is on words of the text
    copied = probabilities(model, source, [SEP])
    torch.testing.assert_close(copied.sum(1), torch.ones(len(copied)))
    assert (copied[:, :FIRST_WORD] < 1e-6).all()


def test_copyrnn_ranks_a_phrase_by_itself_whatever_came_before(bench: Bench) -> None:
    model = bench.make("copyrnn")
    model.network.eval()
    decoder = model.decoder(bench.examples[:1])
    start = np.full((1, 1), SEP)

    first, _ = decoder.advance(start, decoder.begin([0], [[]]))
    second, _ = decoder.advance(start, decoder.begin([0], [[(3, 4)]]))

    np.testing.assert_array_equal(first, second)


def test_catseqd_wants_states_at_separators_at_right_angles() -> None:
    states = torch.eye(4)[None, [0, 0, 1, 2]] * 3  # (1, 4, 4)
    apart = torch.tensor([[False, True, True, True]])

    assert orthogonality(states, apart) < 1e-5
    assert orthogonality(states, torch.tensor([[True, True, True, True]])) > 1


def test_catseqd_cuts_the_gradient_from_words_to_the_target_encoder(bench: Bench) -> None:
    model = bench.make("catseqd")
    network = model.network
    assert isinstance(network, CatSeqD)
    losses = network.likelihood(bench.source(model), bench.targets(model))

    [of_words] = torch.autograd.grad(
        losses.sequence, [network.target_cell.weight_ih], retain_graph=True, allow_unused=True
    )
    [of_contrast] = torch.autograd.grad(losses.importance, [network.target_cell.weight_ih])

    assert of_words is None
    assert of_contrast.abs().sum() > 0


@torch.no_grad()
def test_catseqcorr_covers_every_attention_and_reviews_every_state(bench: Bench) -> None:
    model = bench.make("catseqcorr")
    source = bench.source(model)
    _, state = read_all(model, source, [SEP, 2, 3, SEP])

    total = state["coverage"] + state["attention"]
    torch.testing.assert_close(total.sum(2), torch.full((8, 1), 4.0))
    assert state["past"].shape[2] == 4
    # zeros put before the past, as the decoder does to make documents equally long, are not read
    memory, padded = read_all(model, source, [SEP, 2])
    after = model.network.read(memory, padded, torch.full((8, 1), 3))
    longer = {
        **padded,
        "past": torch.nn.functional.pad(padded["past"], [0, 0, 2, 0], value=5.0),
        "is_past": torch.nn.functional.pad(padded["is_past"], [2, 0]),
    }
    same = model.network.read(memory, longer, torch.full((8, 1), 3))
    torch.testing.assert_close(same["hidden"], after["hidden"])


@torch.no_grad()
def test_the_pointer_generator_is_fined_for_looking_twice_and_only_then(bench: Bench) -> None:
    model = bench.make("pointergenerator")
    network, targets = model.network, bench.targets(model)
    apart = torch.eye(4).repeat(8, 1, 1)[:, :, None]  # a different token each time
    shape = targets.mask.shape
    attention = apart[:, torch.arange(shape[1]) % 2].flatten(2)  # the same two in turn
    once = {"attention": attention, "coverage": torch.zeros_like(attention)}
    twice = {**once, "coverage": attention}

    assert network.further_loss({}, once, targets) == 0
    torch.testing.assert_close(network.further_loss({}, twice, targets), torch.ones(()))


@torch.no_grad()
@pytest.mark.parametrize("name", ["catseqtg", "tgnet"])
def test_every_word_sees_the_title_and_nothing_but_the_title(name: str, bench: Bench) -> None:
    model = bench.make(name)
    network = model.network.eval()
    assert isinstance(network, CatSeqTG)
    network.merge = Last()  # a word's own context, not its neighbours'
    source = bench.source(model)
    before = network.guide(source)
    source.tokens[:, 5] += 1.0  # a token of the body; the states that were read stay
    torch.testing.assert_close(network.guide(source), before)
    source.tokens[:, 1] += 1.0  # a token of the title
    assert (network.guide(source) - before).abs().sum(2).gt(1e-6).all()


class Last(torch.nn.GRU):
    """Stands for the merging BiGRU: passes on the second half of what it reads."""

    def __init__(self) -> None:
        super().__init__(1, 1)

    def forward(self, packed: Any, *_: Any) -> Any:
        half = packed.data.shape[1] // 2
        return packed._replace(data=packed.data[:, half:]), None


@torch.no_grad()
def test_the_transformer_sees_no_word_ahead(bench: Bench) -> None:
    model = bench.make("transformer")
    network, targets = model.network.eval(), bench.targets(model)
    memory = network.encode(bench.source(model))
    changed = targets.inputs.clone()
    changed[:, 3] = 4

    states = network.follow(memory, targets.inputs)["hidden"]
    others = network.follow(memory, changed)["hidden"]

    torch.testing.assert_close(states[:, :3], others[:, :3])
    assert not torch.allclose(states[:, 3:], others[:, 3:])


@torch.no_grad()
def test_exhird_does_not_begin_with_a_word_that_began_a_recent_phrase(bench: Bench) -> None:
    model = bench.make("exhird")
    source = bench.source(model)
    firsts = list(range(2, 2 + WINDOW + 1))
    words = [SEP, *(word for first in firsts for word in (first, 8, SEP))]

    probs = probabilities(model, source, words)
    inside = probabilities(model, source, [*words, 9])

    assert (probs[:, firsts[1:]] == 0).all()
    assert (probs[:, [firsts[0], 8]] > 0).all()  # too long ago; second in its phrase
    assert (inside[:, firsts] > 0).all()


def test_exhird_can_be_told_of_phrases_that_begin_alike(bench: Bench) -> None:
    model = bench.make("exhird")
    network, source, targets = model.network.eval(), bench.source(model), bench.targets(model)
    first = targets.slots[:, :1]
    alike = torch.cat([first, torch.full_like(first, SEP), first, torch.ones_like(first)], dim=1)
    inputs = torch.cat([torch.full_like(first, SEP), alike[:, :-1]], dim=1)
    same = replace(targets, slots=alike, inputs=inputs, mask=torch.ones_like(alike).bool())

    with torch.no_grad():
        loss = network.likelihood(source, same)

    assert 0 < loss.sequence.item() / loss.tokens < 20


def test_exhird_excludes_words_but_no_separators() -> None:
    log_probs = torch.zeros(1, 1, 6)
    state = {
        "excluded": torch.tensor([[[SEP, SEP, 3, 4]]]),
        "at_start": torch.tensor([[True]]),
    }
    assert exclude(log_probs, state)[0, 0].tolist() == [0, 0, 0, -1e4, -1e4, 0]
    state["at_start"] = torch.tensor([[False]])
    assert not exclude(log_probs, state).any()


@torch.no_grad()
@pytest.mark.parametrize("part", ["tags", "relations"])
def test_paranet_reads_tags_and_relations(part: str, bench: Bench) -> None:
    model = bench.make("paranet")
    network = model.network.eval()
    assert isinstance(network, ParaNet)
    source = bench.source(model)
    before = probabilities(model, source, [SEP])

    getattr(network, part).weight.data += 1.0

    assert not torch.allclose(probabilities(model, source, [SEP]), before)


def test_paranet_learns_tags_beside_words(bench: Bench) -> None:
    model = bench.make("paranet")
    network = model.network
    assert isinstance(network, ParaNet)
    losses = network.likelihood(bench.source(model), bench.targets(model))
    [of_tags] = torch.autograd.grad(losses.importance, [network.tag_output.weight])

    learned = of_tags.abs().sum(1) > 0
    assert learned[network.tag_count + EOS]  # the end of a phrase is a tag of its own


def test_proximity_is_the_equation_as_loops() -> None:
    slots = [2, 3, 2, 4, 3]
    one_hot = torch.zeros(1, 5, 5)
    one_hot[0, range(5), slots] = 1
    wanted = torch.zeros(5, 5)
    for p, first in enumerate(slots):
        for q, second in enumerate(slots):
            if q > p:
                wanted[first, second] += 1 / (q - p)

    forwards, backwards = proximity(one_hot)

    sums = wanted.sum(1, keepdim=True).clamp(min=1e-9)
    torch.testing.assert_close(forwards[0], wanted / sums)
    back = wanted.T
    torch.testing.assert_close(backwards[0], back / back.sum(1, keepdim=True).clamp(min=1e-9))


@torch.no_grad()
def test_divgraphpointer_starts_each_phrase_from_what_was_written(bench: Bench) -> None:
    model = bench.make("divgraphpointer")
    network = model.network
    assert isinstance(network, DivGraphPointer)
    network.covered.fill_(0.0)
    source = bench.source(model)
    # the order of what was written does not matter, only which words: the state starts anew
    one, other = (probabilities(model, source, [SEP, *p, SEP]) for p in ([2, 5], [5, 2]))
    torch.testing.assert_close(one, other)
    assert not torch.allclose(one, probabilities(model, source, [SEP, 2, 6, SEP]))
    torch.testing.assert_close(one.sum(1), torch.ones(8))

    network.covered.fill_(-50.0)
    memory, state = read_all(model, source, [SEP])
    looked_at = torch.zeros_like(state["coverage"])
    looked_at[:, :, 5] = 1
    words = torch.full((8, 1), 2)
    state = {**state, "attention": torch.zeros_like(looked_at)}
    unseen = network.predict(memory, network.read(memory, state, words))[:, 0]
    seen = network.predict(memory, network.read(memory, {**state, "coverage": looked_at}, words))
    assert (seen[:, 0, 5] < unseen[:, 5] - 1).all()


@pytest.mark.parametrize("name", ["catseqd-2rf1", "catseqtg-2rf1"])
@pytest.mark.parametrize("is_better", [True, False])
def test_a_list_that_beats_the_greedy_one_becomes_more_probable(
    name: str, is_better: bool, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = bench.make(name)
    network, source, targets = model.network, bench.source(model), bench.targets(model)
    gold, nothing = targets.slots.masked_fill(~targets.mask, EOS), torch.full((8, 1), EOS)
    bad = torch.tensor([[9, SEP, 10, EOS]] * 8)
    drawn, greedy = (gold, nothing) if is_better else (bad, gold)
    monkeypatch.setattr(rewards, "write", fixed(drawn, greedy))

    before = log_likelihood(network, source, drawn)
    network.losses(source, targets).sequence.backward()
    for weight in network.parameters():
        if weight.grad is not None:
            weight.data -= 1e-4 * weight.grad
    assert (log_likelihood(network, source, drawn) > before) == is_better


def fixed(drawn: Tensor, greedy: Tensor) -> Callable[..., Tensor]:
    return lambda network, memory, is_drawn: drawn if is_drawn else greedy


@torch.no_grad()
def log_likelihood(network: Seq2Seq, source: Source, slots: Tensor) -> float:
    memory = network.encode(source)
    inputs = torch.cat([torch.full_like(slots[:, :1], SEP), slots[:, :-1]], dim=1)
    log_probs = network.predict(memory, network.follow(memory, inputs))
    picked = log_probs.gather(2, slots[..., None])[..., 0]
    is_end = slots == EOS
    return float((picked * ((is_end.cumsum(1) - is_end.long()) == 0)).sum())


def test_the_reward_is_recall_until_the_list_is_long_enough() -> None:
    gold = [(2,), (3, 4), (5,)]
    assert reward([], gold) == reward([(9,)], gold) == 0
    assert reward(gold[:2], gold) == pytest.approx(2 / 3)  # recall: precision does not count yet
    assert reward(gold, gold) == 1
    assert reward([*gold, (9,), (8,), (7,)], gold) == pytest.approx(6 / 9)  # F1
    assert split([2, SEP, SEP, 2, SEP, 3, 4]) == [(2,), (2,), (3, 4)]


@torch.no_grad()
def test_a_greedy_list_takes_the_best_slot_each_time_and_ends(bench: Bench) -> None:
    network = bench.make("catseqd-2rf1").network.eval()
    memory = network.encode(bench.source(bench.make("catseqd-2rf1")))

    lists = rewards.write(network, memory, is_drawn=False)

    inputs = torch.cat([torch.full((8, 1), SEP), lists[:, :-1]], dim=1)
    best = network.predict(memory, network.follow(memory, inputs)).argmax(2)
    is_end = lists == EOS
    mask = (is_end.cumsum(1) - is_end.long()) == 0
    assert best[mask].tolist() == lists[mask].tolist()
