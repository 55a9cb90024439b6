"""Every tensor is made where the weights are: a step on a device that only knows shapes.

Tensors of the device ``meta`` refuse to be computed with those of the CPU, as those of a GPU would.
"""

from contextlib import nullcontext
from pathlib import Path

import pytest
import torch
from torch import Tensor
from torch.nn import Parameter

from phraseloom.config import TrainConfig
from phraseloom.errors import ConfigError
from phraseloom.network.weights import weight_shapes
from phraseloom.train.corpus.loader import plan_epoch
from phraseloom.train.distributed import find_device
from phraseloom.train.initial import FIXED
from phraseloom.train.learner import BatchTotals, Learner, TrainState
from phraseloom.train.loss import Losses
from phraseloom.train.setup import open_run
from tests.train.runs import tiny_config

DYNAMIC = {"edge_scorer": "interaction", "attention": "bilinear", "node_features": True}


@pytest.mark.parametrize("shape", [{}, DYNAMIC, {"variant": "gcn", "merge": False}])
def test_a_step_runs_on_another_device_without_a_tensor_left_behind(
    corpus_path: Path,
    valid_path: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    shape: dict[str, object],
) -> None:
    config = tiny_config(corpus_path, valid_path, model=shape)
    trainer = open_run(config, tmp_path / "run")
    plan = plan_epoch(trainer.loader.pool, config.train, 0)
    batch = trainer.loader.make(0, 0, plan[0])
    assert batch is not None
    seen: list[Tensor] = []

    def total(self: Learner, losses: Losses | None, documents: int, stops: bool) -> BatchTotals:
        assert losses is not None  # such a number has no value to add up
        seen.extend([losses.sequence, losses.importance])
        return BatchTotals(1.0, losses.tokens, 1.0, losses.entries, documents, 0)

    monkeypatch.setattr(Learner, "_add_up", total)
    monkeypatch.setattr(torch, "autocast", lambda *args, **kwargs: nullcontext())
    weights = {
        name: Parameter(torch.zeros(size, device="meta"), requires_grad=name != FIXED)
        for name, size in weight_shapes(config.model, trainer.lexicon).items()
    }
    learner = Learner(weights, TrainState(data=""), config)
    learner.find_gradient(batch)
    learner._update_words_and_ema(0.1)
    average = learner.averaged_weights()

    for weight in learner.learned:
        assert weight.grad is not None
        assert weight.grad.device.type == "meta"
    assert {tensor.device.type for tensor in (*seen, *average.values())} == {"meta"}


def test_a_device_that_is_not_there_is_refused_in_one_line() -> None:
    if torch.cuda.is_available():
        pytest.skip("there is one")
    with pytest.raises(ConfigError, match=r"sees no cuda device; set train\.device=cpu"):
        find_device("cuda")
    assert find_device("cpu").type == "cpu"
    assert find_device(TrainConfig().device).type in ("cpu", "mps")
