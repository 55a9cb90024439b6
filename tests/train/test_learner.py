"""The learning rate, what it applies to, and the average of the weights."""

from collections.abc import Sequence

import pytest
import torch

from phraseloom.config import Config, TrainConfig
from phraseloom.network.example import Example
from phraseloom.network.graph import collate
from phraseloom.train.corpus.loader import TrainingBatch
from phraseloom.train.corpus.targets import collate_targets
from phraseloom.train.initial import as_parameters
from phraseloom.train.learner import Learner, TrainState, learning_rate_at, step_seed
from tests.builders import make_example, make_lexicon, make_model

LEXICON = make_lexicon()
EXAMPLES = [make_example(seed) for seed in range(3)]


def make_batch(examples: Sequence[Example] = EXAMPLES) -> TrainingBatch:
    batch = collate(examples, LEXICON)
    return TrainingBatch(batch, collate_targets(batch, examples))


def make_learner(**train: float) -> Learner:
    model = make_model(LEXICON)
    tensors = {name: torch.from_numpy(array) for name, array in model.weights.items()}
    config = Config(model=model.config, train=TrainConfig.model_validate(train))
    return Learner(as_parameters(tensors), TrainState(data=""), config)


def test_the_rate_rises_then_only_halves() -> None:
    config = TrainConfig(learning_rate=0.8, warmup=4)
    assert [learning_rate_at(step, 0, config) for step in range(6)] == [
        0.2,
        0.4,
        pytest.approx(0.6),
    ] + [0.8] * 3
    assert learning_rate_at(10, 3, config) == 0.1
    assert learning_rate_at(0, 0, TrainConfig(learning_rate=0.8)) == 0.8


def test_the_rate_falls_to_zero_over_the_steps_of_a_run() -> None:
    config = TrainConfig(learning_rate=0.8, steps=4)
    assert [learning_rate_at(step, 0, config) for step in range(6)] == pytest.approx(
        [0.8, 0.6, 0.4, 0.2, 0, 0]
    )


@pytest.mark.parametrize(("factor", "moved"), [(0.0, 0.0), (0.1, 0.001), (1.0, 0.01)])
def test_word_vectors_have_a_rate_of_their_own(factor: float, moved: float) -> None:
    learner = make_learner(learning_rate=0.01, vectors_rate=factor)
    before = {name: weight.detach().clone() for name, weight in learner.weights.items()}
    learner.learn(make_batch())

    def largest(name: str) -> float:
        return float((learner.weights[name].detach() - before[name]).abs().max())

    # Adam's first step is as long as the rate wherever there is a gradient
    assert largest("encoder.words.table") == pytest.approx(moved, rel=1e-2)
    assert largest("decoder.start") == pytest.approx(0.01, rel=1e-2)


def test_gradients_are_clipped_before_the_update() -> None:
    learner = make_learner(max_grad_norm=1e-3)
    learner.learn(make_batch())
    gradients = [weight.grad for weight in learner.learned if weight.grad is not None]
    norm = torch.stack([gradient.norm() for gradient in gradients]).norm()
    assert float(norm) == pytest.approx(1e-3, rel=1e-3)
    assert learner.state.sums.norm > 1e-3


def test_the_loss_is_per_token_whatever_the_batch() -> None:
    one, two = make_learner(), make_learner()
    one.find_gradient(make_batch(EXAMPLES))
    two.find_gradient(make_batch([*EXAMPLES, *EXAMPLES]))
    for ours, theirs in zip(one.learned, two.learned, strict=True):
        assert ours.grad is not None and theirs.grad is not None
        torch.testing.assert_close(ours.grad, theirs.grad, rtol=1e-4, atol=1e-5)


def test_the_average_is_a_moving_mean_of_the_weights() -> None:
    learner = make_learner(ema_decay=0.5)
    expected = learner.weights["decoder.start"].detach().clone()
    for number in range(8):
        learner.learn(make_batch())
        decay = min(0.5, (1 + number) / (10 + number))
        expected = decay * expected + (1 - decay) * learner.weights["decoder.start"].detach()
    torch.testing.assert_close(learner.ema["decoder.start"], expected)


def test_the_average_is_used_where_there_is_one() -> None:
    averaged, plain = make_learner(ema_decay=0.5), make_learner()
    for learner in (averaged, plain):
        learner.learn(make_batch())

    for name, weight in averaged.averaged_weights().items():
        average = averaged.ema.get(name, averaged.weights[name].detach())
        if name == "encoder.words.table":  # also of rows that the batch did not read
            torch.testing.assert_close(weight, average)
        else:
            assert torch.equal(weight, average)
    for name, weight in plain.averaged_weights().items():
        assert torch.equal(weight, plain.weights[name])


def test_fixed_vectors_stay_and_all_others_learn() -> None:
    learner = make_learner()
    before = {name: weight.detach().clone() for name, weight in learner.weights.items()}
    learner.learn(make_batch())

    same = {name for name, weight in learner.weights.items() if torch.equal(weight, before[name])}
    assert same == {"encoder.words.ngrams"}


def test_every_step_and_process_drops_out_by_a_seed_of_its_own() -> None:
    seeds = {step_seed(seed, step, rank) for seed in (0, 1) for step in (0, 1) for rank in (0, 1)}
    assert len(seeds) == 8
