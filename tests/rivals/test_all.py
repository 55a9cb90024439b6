"""What every rival owes: it learns, its steps are its training, its neighbours change nothing."""

from pathlib import Path

import numpy as np
import pytest
import torch

from phraseloom.network.weights import load_arrays, save_arrays
from phraseloom.slots import EOS, SEP
from phraseloom.train.ops import as_arrays
from rivals import RIVALS
from rivals.documents import title_tokens
from rivals.model import RivalModel
from tests.rivals.runs import Bench

NAMES = list(RIVALS)


@pytest.mark.parametrize("name", NAMES)
def test_eight_documents_are_learned_by_heart(name: str, bench: Bench) -> None:
    model = bench.make(name)

    steps = 150 if model.network.one_phrase else 250
    loss = bench.learn(model, steps=steps, below=0.01)

    # a network that writes single phrases cannot know which of three comes first
    if model.network.one_phrase:
        lists = bench.lists(model, order="expected", beam_width=20, min_score=0.1)
        assert [set(found) for found, _ in lists] == [set(gold) for _, gold in lists]
    else:
        assert loss < 0.02
        assert all(found == gold for found, gold in bench.lists(model))


@pytest.mark.parametrize("name", NAMES)
def test_a_step_after_the_other_is_what_training_computes_at_once(name: str, bench: Bench) -> None:
    model = bench.make(name)
    model.network.eval()
    targets = bench.targets(model)
    with torch.no_grad():
        memory = model.network.encode(bench.source(model))
        memory = {key: part[targets.rows] for key, part in memory.items()}
        at_once = model.network.predict(memory, model.network.follow(memory, targets.inputs))
        state, steps = model.network.start(memory), []
        for words in targets.inputs.split(1, dim=1):
            state = model.network.read(memory, state, words)
            steps.append(model.network.predict(memory, state))

    torch.testing.assert_close(torch.cat(steps, 1)[targets.mask], at_once[targets.mask])
    assert not at_once[targets.mask].isnan().any()


@pytest.mark.parametrize("name", NAMES)
def test_what_was_saved_is_the_same_network(name: str, bench: Bench, tmp_path: Path) -> None:
    model = bench.make(name)
    save_arrays(tmp_path / "weights", as_arrays(model.weights()))

    same = RivalModel.of(name, model.config, model.lexicon, load_arrays(tmp_path / "weights"))

    for key, weight in model.weights().items():
        assert torch.equal(same.weights()[key], weight), key


@pytest.mark.parametrize("name", NAMES)
def test_neighbours_in_the_batch_change_nothing(name: str, bench: Bench) -> None:
    model = bench.make(name)
    model.network.eval()
    short = bench.examples[:3]
    decoder, alone = model.decoder(short), model.decoder(short[1:2])
    phrase = (3, 5)
    for document, one in ((1, 0),):
        history: list[list[tuple[int, ...]]] = [[], [phrase], [phrase, (4,)]]
        together = decoder.begin([0, 1, 2], history)
        single = alone.begin([one], [[phrase]])
        start = np.full((3, 1), SEP)
        log_probs, together = decoder.advance(start, together)
        own, single = alone.advance(start[:1], single)
        np.testing.assert_allclose(log_probs[document, :, : own.shape[2]], own[0], atol=1e-5)
        words = np.array([[2], [4], [3]])
        log_probs, _ = decoder.advance(words, together)
        own, _ = alone.advance(words[1:2], single)
        np.testing.assert_allclose(log_probs[document, :, : own.shape[2]], own[0], atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_every_weight_gets_a_gradient(name: str, bench: Bench) -> None:
    model = bench.make(name)
    losses = model.network.likelihood(bench.source(model), bench.targets(model))

    (losses.sequence + losses.importance).backward()

    still = [key for key, w in model.network.named_parameters() if w.grad is None]
    assert not still


def test_the_title_is_found_again(bench: Bench) -> None:
    assert [title_tokens(example) for example in bench.examples] == [3] * 8


def test_a_list_is_one_sequence_or_each_phrase_is_one(bench: Bench) -> None:
    lists = bench.targets(bench.make("catseq"))
    phrases = bench.targets(bench.make("copyrnn"))

    assert (lists.slots == EOS).sum(1).tolist() == [1] * 8
    assert ((lists.slots == SEP) & lists.mask).sum(1).tolist() == [2] * 8
    assert lists.inputs[:, 1:].tolist() == lists.slots[:, :-1].tolist()
    assert len(phrases.slots) == sum(map(len, phrases.gold)) == 24
    assert (phrases.slots == EOS).sum(1).tolist() == [1] * 24
