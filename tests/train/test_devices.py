"""Every tensor is made where the weights are: a step on a device that only knows shapes.

Tensors of the device ``meta`` refuse to be computed with those of the CPU, as those of a GPU would.
Losses are found with fake tensors of ``cuda``, too. A torch that was built without CUDA has no
guard of that device, and refuses as much as an index ("PyTorch is not linked with support for cuda
devices", 2.13), so two lines of C++ give it one that does nothing. Gradients are out of reach all
the same: autograd asks for the build's accelerator, and there is none. Lists are decoded by NumPy
on the CPU, wherever the weights are, so there is no tensor of another device in a decode.
"""

import ctypes
import shutil
import subprocess
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.nn import Parameter

from phraseloom.config import TrainConfig
from phraseloom.errors import ConfigError
from phraseloom.network.shapes import weight_shapes
from phraseloom.train import loss, ops
from phraseloom.train.corpus.loader import plan_epoch
from phraseloom.train.distributed import find_device
from phraseloom.train.initial import FIXED
from phraseloom.train.learner import BatchTotals, Learner, TrainState
from phraseloom.train.loss import Losses, sequence_losses
from phraseloom.train.ops import TorchOps
from phraseloom.train.setup import open_run
from tests.train.runs import tiny_config

GUARD = """
#include <c10/core/impl/DeviceGuardImplInterface.h>
C10_REGISTER_GUARD_IMPL(CUDA, c10::impl::NoOpDeviceGuardImpl<c10::DeviceType::CUDA>);
"""
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


@pytest.fixture(scope="module")
def gpu_guard(tmp_path_factory: pytest.TempPathFactory) -> None:
    """A guard of the device ``cuda``, for a torch that has none."""
    if torch.version.cuda is not None:
        return
    if (compiler := shutil.which("g++")) is None:
        pytest.skip("no g++ to compile the guard with")
    folder, installed = tmp_path_factory.mktemp("guard"), Path(torch.__file__).parent
    (folder / "guard.cpp").write_text(GUARD)
    paths = [f"-I{installed / 'include'}", f"-L{installed / 'lib'}", "-lc10"]
    command = [compiler, "-std=c++20", "-shared", "-fPIC", "guard.cpp", *paths, "-o", "guard.so"]
    subprocess.run(command, cwd=folder, check=True)
    ctypes.CDLL(str(folder / "guard.so"))


@pytest.mark.slow
@pytest.mark.usefixtures("gpu_guard")
@pytest.mark.parametrize("shape", [{}, DYNAMIC, {"variant": "gcn", "merge": False}])
def test_losses_are_found_on_a_fake_gpu(
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
    copied: list[torch.device] = []

    def copy(array: NDArray[np.generic], device: torch.device) -> Tensor:
        copied.append(device)  # which needs a real GPU
        return torch.empty(array.shape, dtype=torch.from_numpy(array).dtype, device=device)

    monkeypatch.setattr(ops, "as_tensor", copy)
    monkeypatch.setattr(loss, "as_tensor", copy)
    with FakeTensorMode(), torch.no_grad():
        weights = {
            name: torch.empty(size, device="cuda")
            for name, size in weight_shapes(config.model, trainer.lexicon).items()
        }
        losses = sequence_losses(
            config.model, weights, batch.batch, batch.targets, TorchOps(dropout=0.2)
        )

    found = losses.sequence.device, losses.importance.device, *copied
    assert {device.type for device in found} == {"cuda"}


def test_a_device_that_is_not_there_is_refused_in_one_line() -> None:
    if torch.cuda.is_available():
        pytest.skip("there is one")
    with pytest.raises(ConfigError, match=r"sees no cuda device; set train\.device=cpu"):
        find_device("cuda")
    assert find_device("cpu").type == "cpu"
    assert find_device(TrainConfig().device).type in ("cpu", "mps")


@pytest.mark.parametrize(
    ("seen", "wanted", "found"),
    [
        (("cuda", "mps"), "auto", "cuda:1"),
        (("mps",), "auto", "mps"),
        ((), "auto", "cpu"),
        (("cuda", "mps"), "mps", "mps"),
        (("cuda",), "cpu", "cpu"),
    ],
)
def test_what_torch_sees_decides_the_device(
    monkeypatch: pytest.MonkeyPatch, seen: tuple[str, ...], wanted: str, found: str
) -> None:
    taken: list[torch.device] = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: "cuda" in seen)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: "mps" in seen)
    monkeypatch.setattr(torch.cuda, "set_device", taken.append)
    monkeypatch.setenv("LOCAL_RANK", "1")  # the second of a machine's processes has the second GPU

    assert find_device(wanted) == torch.device(found)
    assert taken == ([torch.device("cuda:1")] if found == "cuda:1" else [])


def test_arrays_go_to_a_gpu_from_pinned_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[object] = []

    def pin(tensor: Tensor) -> Tensor:
        done.append("pinned")
        return tensor

    def to(tensor: Tensor, device: torch.device, *, non_blocking: bool) -> Tensor:
        done.append((device.type, non_blocking))
        return tensor

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(Tensor, "pin_memory", pin)
    monkeypatch.setattr(Tensor, "to", to)
    ops.as_tensor(np.zeros(3), torch.device("cuda"))

    assert done == ["pinned", ("cuda", True)]
