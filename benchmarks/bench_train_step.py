"""A training step beside a padded dense one, its memory, and what it costs as documents grow.

    python benchmarks/bench_train_step.py --out benchmarks/results/train_step.json

A step is forward, backward, clipping and Adam; weights are not averaged. Both networks share their
weights, documents and batches; steps of the two take turns, so that a busy machine slows both, and
the median counts. Times are of two threads unless ``--threads`` says otherwise; ratios of CPU time
are given too, which other processes hardly disturb. ``--quick`` takes small batches.
"""

import json
import resource
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # `python …` sees only the script's folder

import torch

from benchmarks.documents import make_examples, make_lexicon
from benchmarks.reference import Network, pad, reference_losses
from benchmarks.reporting import ROOT, make_parser, report, timed
from phraseloom.config import Config, load_config
from phraseloom.network.example import Example
from phraseloom.network.graph import collate
from phraseloom.train.corpus.loader import TrainingBatch
from phraseloom.train.corpus.targets import collate_targets
from phraseloom.train.initial import initial_weights
from phraseloom.train.learner import Learner, TrainState
from phraseloom.train.loss import Losses

PRESETS = ("paper", "recipe/base")
LENGTHS = (60, 120, 240, 480)
PHRASES = (1, 2, 4, 8)


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="small batches, few steps")
    parser.add_argument("--peak", type=int, help="only measure the memory of such a batch")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    report({"peak GB": measure_peak(args.peak)} if args.peak else measure(args.quick), args.out)


def measure(quick: bool) -> dict[str, Any]:
    """Everything, as one JSON object."""
    result: dict[str, Any] = {
        name: compare(load(name), documents=8 if quick else 32, steps=3 if quick else 7)
        for name in PRESETS
    }
    peak = 16 if quick else 128
    command = [sys.executable, __file__, "--threads", str(torch.get_num_threads())]
    peaked = subprocess.run([*command, "--peak", str(peak)], capture_output=True, check=True)
    result["paper"][f"peak GB at batch {peak}"] = json.loads(peaked.stdout)["peak GB"]
    result["cost of default"] = cost_table(load("recipe/base"), documents=4 if quick else 16)
    result["threads"] = torch.get_num_threads()
    return result


def load(name: str) -> Config:
    """A preset as it is shipped, without the moving average."""
    config = load_config(ROOT / "configs" / f"{name}.toml")
    return config.model_copy(update={"train": config.train.model_copy(update={"ema_decay": None})})


class Trained:
    """A model that learns from documents, by the package's network or by the reference."""

    def __init__(self, config: Config) -> None:
        self.lexicon = make_lexicon(config.data.vocabulary, styles=config.model.styles)
        self.config = config
        weights = initial_weights(config.model, self.lexicon, seed=0)
        self.learner = Learner(weights, TrainState(data=""), config)
        self._all = [weight for weight in weights.values() if weight.requires_grad]
        self._dense = torch.optim.Adam(self._all, lr=config.train.learning_rate, fused=True)

    def step(self, examples: list[Example]) -> Callable[[], None]:
        """A step of the package's network on a packed batch."""
        batch = self.pack(examples)

        def learn() -> None:
            self.learner.learn(batch)

        return learn

    def pack(self, examples: list[Example]) -> TrainingBatch:
        """What the loader makes of documents."""
        batch = collate(examples, self.lexicon)
        return TrainingBatch(batch, collate_targets(batch, examples))

    def reference_step(self, examples: list[Example]) -> Callable[[], None]:
        """A step of the reference on a padded batch."""
        config = self.config.model
        network = Network(config, self.lexicon, self.learner.weights, config.dropout)
        padded = pad(examples, network)
        return lambda: self._learn(reference_losses(network, padded))

    def _learn(self, losses: Losses) -> None:
        """The rest of a step of the reference: Adam goes over the whole table of words."""
        self._dense.zero_grad(set_to_none=True)
        loss = losses.sequence / losses.tokens + losses.importance / losses.entries
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self._all, self.config.train.max_grad_norm)
        self._dense.step()


def compare(config: Config, *, documents: int, steps: int) -> dict[str, float]:
    """Documents a second of both networks, and how many are packed meanwhile."""
    trained = Trained(config)
    ours, theirs, packing = [], [], []
    for number in range(steps + 1):
        examples = make_examples(documents, trained.lexicon, seed=number)
        ours.append(timed(trained.step(examples)))
        theirs.append(timed(trained.reference_step(examples)))
        packing.append(timed(lambda examples=examples: trained.pack(examples)))  # type: ignore[misc]
    wall, cpu = _medians(ours[1:])
    reference_wall, reference_cpu = _medians(theirs[1:])
    return {
        "batch": documents,
        "documents/s": round(documents / wall, 2),
        "documents/s of the reference": round(documents / reference_wall, 2),
        "ratio": round(reference_wall / wall, 2),
        "documents/s of CPU time": round(documents / cpu, 2),
        "ratio of CPU time": round(reference_cpu / cpu, 2),
        "learning, times the CPU time of packing": round(cpu / _medians(packing[1:])[1], 1),
    }


def _medians(times: list[tuple[float, float]]) -> tuple[float, float]:
    wall, cpu = zip(*times, strict=True)
    return statistics.median(wall), statistics.median(cpu)


def cost_table(config: Config, *, documents: int) -> dict[str, dict[int, float]]:
    """CPU time of a step, and how it grows, less the time that no document costs."""
    trained = Trained(config)
    empty = best(trained, make_examples(1, trained.lexicon, tokens=4, phrases=1))
    by_length = {
        tokens: best(trained, make_examples(documents, trained.lexicon, tokens=tokens, phrases=3))
        for tokens in LENGTHS
    }
    by_phrases = {
        phrases: best(
            trained, make_examples(documents, trained.lexicon, tokens=190, phrases=phrases)
        )
        for phrases in PHRASES
    }
    return {
        "seconds by tokens": {key: round(value, 3) for key, value in by_length.items()},
        "seconds by phrases": {key: round(value, 3) for key, value in by_phrases.items()},
        "times the cost, by times the tokens": relative(by_length, empty),
        "times the cost, by times the phrases": relative(by_phrases, empty),
    }


def relative(times: dict[int, float], empty: float) -> dict[int, float]:
    """Cost over the smallest's, without what a step costs anyway."""
    first = min(times)
    return {
        key // first: round((value - empty) / (times[first] - empty), 2)
        for key, value in times.items()
    }


def best(trained: Trained, examples: list[Example], *, times: int = 3) -> float:
    """Least CPU time of some runs of the same step."""
    step = trained.step(examples)
    step()
    return min(timed(step)[1] for _ in range(times))


def measure_peak(documents: int) -> float:
    """Gigabytes of this process after two steps of the ``paper`` preset."""
    trained = Trained(load("paper"))
    for seed in range(2):
        trained.step(make_examples(documents, trained.lexicon, seed=seed))()
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, 2)


if __name__ == "__main__":
    main()
