"""The learning rate, what it applies to, and the average of the weights."""

import pytest
import torch

from phraseloom.config import TrainConfig
from phraseloom.data.batch import collate, collate_targets
from phraseloom.data.loader import Work
from phraseloom.train.average import WeightAverage
from phraseloom.train.learner import Learner, step_seed
from phraseloom.train.optim import rate_at
from phraseloom.train.state import TrainState
from tests.builders import make_example, make_lexicon, make_model

LEXICON = make_lexicon()


def make_work() -> Work:
    examples = [make_example(seed) for seed in range(3)]
    return Work(collate(examples, LEXICON), collate_targets(examples))


def make_learner(**train: float) -> Learner:
    model = make_model(LEXICON)
    return Learner(model, TrainState(data=""), TrainConfig.model_validate(train))


def test_the_rate_rises_then_only_halves() -> None:
    config = TrainConfig(learning_rate=0.8, warmup=4)
    assert [rate_at(step, 0, config) for step in range(6)] == [0.2, 0.4, pytest.approx(0.6)] + [
        0.8
    ] * 3
    assert rate_at(10, 3, config) == 0.1
    assert rate_at(0, 0, TrainConfig(learning_rate=0.8)) == 0.8


def test_the_rate_falls_to_zero_over_the_steps_of_a_run() -> None:
    config = TrainConfig(learning_rate=0.8, steps=4)
    assert [rate_at(step, 0, config) for step in range(6)] == pytest.approx(
        [0.8, 0.6, 0.4, 0.2, 0, 0]
    )


@pytest.mark.parametrize(("factor", "moved"), [(0.0, 0.0), (0.1, 0.001), (1.0, 0.01)])
def test_word_vectors_have_a_rate_of_their_own(factor: float, moved: float) -> None:
    learner = make_learner(learning_rate=0.01, vectors_rate=factor)
    before = {name: each.detach().clone() for name, each in learner.model.named_parameters()}
    learner.learn(make_work())

    def largest(name: str) -> float:
        return float((learner.model.get_parameter(name).detach() - before[name]).abs().max())

    # Adam's first step is as long as the rate wherever there is a gradient
    assert largest("encoder.words.table") == pytest.approx(moved, rel=1e-2)
    assert largest("decoder.start") == pytest.approx(0.01, rel=1e-2)


def test_gradients_are_clipped_before_the_update() -> None:
    learner = make_learner(clip=1e-3)
    learner.learn(make_work())
    gradients = [each.grad for each in learner.model.parameters() if each.grad is not None]
    norm = torch.stack([gradient.norm() for gradient in gradients]).norm()
    assert float(norm) == pytest.approx(1e-3, rel=1e-3)
    assert learner.state.sums.norm > 1e-3


def test_the_loss_is_per_token_whatever_the_batch() -> None:
    one, two = make_learner(), make_learner()
    examples = [make_example(0), make_example(1)]
    twice = [*examples, *examples]
    one.find_gradient(Work(collate(examples, LEXICON), collate_targets(examples)))
    two.find_gradient(Work(collate(twice, LEXICON), collate_targets(twice)))
    for ours, theirs in zip(one.model.parameters(), two.model.parameters(), strict=True):
        assert ours.grad is not None and theirs.grad is not None
        torch.testing.assert_close(ours.grad, theirs.grad, rtol=1e-4, atol=1e-5)


def test_the_average_is_a_moving_mean_of_the_weights() -> None:
    model = make_model(LEXICON)
    average = WeightAverage(model, 0.5)
    expected = model.decoder.start.detach().clone()
    for number in range(8):
        with torch.no_grad():
            model.decoder.start.fill_(number)
        average.update(model, number)
        decay = min(0.5, (1 + number) / (10 + number))
        expected = decay * expected + (1 - decay) * number
    torch.testing.assert_close(average.weights["decoder.start"], expected)


def test_an_applied_average_is_taken_back() -> None:
    model = make_model(LEXICON)
    average = WeightAverage(model, 0.5)
    averaged = model.decoder.start.detach().clone()
    with torch.no_grad():
        model.decoder.start.fill_(3.0)
    with pytest.raises(RuntimeError, match="stop"), average.applied(model):
        assert torch.equal(model.decoder.start, averaged)
        raise RuntimeError("stop")
    assert model.decoder.start.unique().tolist() == [3.0]
    assert torch.equal(average.weights["decoder.start"], averaged)


def test_every_step_and_process_drops_out_by_a_seed_of_its_own() -> None:
    seeds = {step_seed(seed, step, rank) for seed in (0, 1) for step in (0, 1) for rank in (0, 1)}
    assert len(seeds) == 8
