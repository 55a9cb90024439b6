"""Learning from what lists are worth: what is drawn, what it is paid, and that lists get better."""

from pathlib import Path

import numpy as np
import pytest
import torch

from phraseloom.network.graph import collate
from phraseloom.network.model import KeyphraseModel, ModelDecoder
from phraseloom.slots import EOS, FIRST_WORD, SEP, Phrase
from phraseloom.train import learner as learners
from phraseloom.train import reward as rewards
from phraseloom.train.corpus.loader import TrainingBatch
from phraseloom.train.corpus.targets import collate_targets, gold_slots
from phraseloom.train.initial import as_parameters
from phraseloom.train.loss import sequence_losses
from phraseloom.train.ops import TorchOps, as_arrays
from phraseloom.train.reward import (
    DRAWN,
    MAX_PHRASES,
    MAX_WORDS,
    GoldLists,
    WrittenList,
    collate_gold,
    draw_by,
    reward,
    reward_losses,
    write_lists,
)
from phraseloom.train.setup import open_run
from tests.builders import make_example, make_lexicon, make_model
from tests.train.runs import make_rows, tiny_config, write_corpus

LEXICON = make_lexicon()
EXAMPLES = [make_example(seed) for seed in range(3)]


def make_decoder() -> ModelDecoder:
    return make_model(LEXICON).decoder(EXAMPLES)


@pytest.mark.parametrize(
    ("written", "worth"),
    [
        ([], 0.0),
        ([(2,)], 0.5),  # too short: recall
        ([(2,), (3,), (2,), (3,)], 2 * 2 / 6),  # the same once more is only longer
        ([(2,), (3,)], 1.0),
        ([(2,), (4,)], 0.5),
        ([(2,), (3,), (4,), (5,)], 2 * 2 / 6),  # long enough: F1
    ],
)
def test_a_short_list_is_paid_for_recall_and_a_long_one_for_f1(
    written: list[Phrase], worth: float
) -> None:
    assert reward(written, [(2,), (3,)]) == pytest.approx(worth)


def test_lists_that_are_drawn_are_lists() -> None:
    decoder = make_decoder()
    for seed in range(20):
        documents = [0, 1, 1, 2]  # as often as one likes
        lists = write_lists(decoder, documents, draw_by(np.random.default_rng(seed)))
        for written, document in zip(lists, documents, strict=True):
            slots = decoder.slots[document]
            assert 1 <= len(written.phrases) <= MAX_PHRASES
            assert written.has_ended or len(written.phrases) == MAX_PHRASES
            for phrase in written.phrases:
                assert 1 <= len(phrase) <= MAX_WORDS
                assert all(FIRST_WORD <= slot < slots for slot in phrase)


def test_a_slot_is_drawn_as_often_as_it_is_probable() -> None:
    probs = np.array([[0.0, 0.5, 0.125, 0.375]], dtype=np.float32)
    draw = draw_by(np.random.default_rng(0))

    counts = np.bincount([int(draw(probs)[0]) for _ in range(4000)], minlength=4)

    assert counts[0] == 0
    np.testing.assert_allclose(counts / 4000, probs[0], atol=0.03)


def test_the_greedy_list_is_what_the_decoder_finds_most_probable_word_by_word() -> None:
    decoder = make_decoder()
    written = write_lists(decoder, [1], lambda probs: probs.argmax(axis=1))[0].phrases[0]

    state, word = decoder.begin([1], [[]]), SEP
    for number, slot in enumerate((*written, EOS)):
        log_probs, state = decoder.advance(np.array([[word]]), state)
        best = log_probs[0, 0]
        if number == 0:
            best[:FIRST_WORD] = -np.inf
        word = int(best.argmax())
        assert word == slot or (slot == EOS and word in (SEP, EOS)) or number == MAX_WORDS


@pytest.mark.parametrize("is_better", [True, False])
def test_a_list_becomes_more_probable_if_it_is_worth_more_than_others_of_its_document(
    monkeypatch: pytest.MonkeyPatch, is_better: bool
) -> None:
    model = make_model(LEXICON)
    weights = as_parameters({n: torch.from_numpy(a.copy()) for n, a in model.weights.items()})
    batch = collate(EXAMPLES, LEXICON)
    targets = collate_targets(batch, EXAMPLES)
    own = [WrittenList(gold_slots(example), has_ended=True) for example in EXAMPLES]
    other = WrittenList(((FIRST_WORD,) * 5,), has_ended=True)
    lists = [written for mine in own for written in (mine, *[other] * (DRAWN - 1))]
    monkeypatch.setattr(rewards, "write_lists", lambda decoder, documents, choose: lists)
    phrases = tuple(mine.phrases if is_better else other.phrases for mine in own)

    def likelihood() -> float:
        return float(
            sequence_losses(model.config, weights, batch, targets, TorchOps()).sequence.detach()
        )

    before = likelihood()
    losses = reward_losses(LEXICON, model.config, weights, batch, GoldLists(phrases), TorchOps())
    losses.sequence.backward()
    with torch.no_grad():
        for weight in weights.values():
            if weight.grad is not None:
                weight.sub_(1e-3 * weight.grad)

    assert (likelihood() < before) == is_better
    assert losses.tokens == sum(len(phrase) + 1 for one in lists for phrase in one.phrases)


def test_where_no_list_is_worth_more_or_less_nothing_is_learned(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = make_model(LEXICON)
    weights = as_parameters({n: torch.from_numpy(a.copy()) for n, a in model.weights.items()})
    monkeypatch.setattr(rewards, "reward", lambda phrases, gold: 0.5)
    batch = collate(EXAMPLES, LEXICON)

    gold = collate_gold(batch, EXAMPLES, [])
    losses = reward_losses(LEXICON, model.config, weights, batch, gold, TorchOps())
    losses.sequence.backward()

    gradients = [weight.grad for weight in weights.values() if weight.grad is not None]
    assert gradients and not any(gradient.any() for gradient in gradients)


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["gru", "dgcn"])
def test_rewards_improve_lists_that_likelihood_left_half_learned(
    variant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = write_corpus(tmp_path / "corpus", make_rows(8))
    config = tiny_config(
        corpus,
        corpus,
        model={"width": 32, "word_width": 16, "dropout": 0.0, "variant": variant},
        train={
            **{"learning_rate": 0.02, "max_grad_norm": 1.0},
            **{"ema_decay": None, "objective": "reward"},
        },
    )
    trainer = open_run(config, tmp_path / "run")
    pool, learner = trainer.loader.pool, trainer.learner
    examples = [pool[i] for i in range(8)]
    batch = collate(examples, trainer.lexicon)
    gold = collate_gold(batch, examples, [])

    def worth() -> float:
        model = KeyphraseModel(config.model, trainer.lexicon, as_arrays(learner.averaged_weights()))
        greedy = write_lists(model.decoder(examples), range(8), lambda probs: probs.argmax(axis=1))
        pairs = zip(greedy, gold.phrases, strict=True)
        return float(np.mean([reward(written.phrases, wanted) for written, wanted in pairs]))

    by_reward, learner._losses = learner._losses, None
    to_learn = TrainingBatch(batch, collate_targets(batch, examples))
    while worth() < 0.6:
        learner.learn(to_learn)
    before = worth()
    learner._losses = by_reward
    monkeypatch.setattr(learners, "learning_rate_at", lambda *arguments: 0.002)
    for _ in range(20):
        for _ in range(10):
            learner.learn(TrainingBatch(batch, gold))
        if worth() > before + 0.1:
            break

    assert before < 0.8
    assert worth() > before + 0.1
