"""A training step beside a padded dense one, its memory, and what it costs as documents grow.

    python benchmarks/bench_train_step.py --out benchmarks/results/train_step.json

A step is forward, backward, clipping and Adam. Both networks share their weights, documents and
batches; steps of the two take turns, so that a busy machine slows both, and the median counts.
Times are of two threads unless ``--threads`` says otherwise; ratios of CPU time are given too,
which other processes hardly disturb. ``--quick`` takes small batches.
"""

import argparse
import json
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # `python …` sees only the script's folder

import torch

from benchmarks.documents import make_examples, make_lexicon
from benchmarks.reference import pad, reference_losses
from phraseloom.config import Config, load_config
from phraseloom.data.batch import collate, collate_targets
from phraseloom.data.example import Example
from phraseloom.model.network import KeyphraseModel, Losses
from phraseloom.train.optim import build_optimizer

ROOT = Path(__file__).parents[1]
PRESETS = ("paper", "base")
LENGTHS = (60, 120, 240, 480)
PHRASES = (1, 2, 4, 8)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="small batches, few steps")
    parser.add_argument("--out", type=Path, help="JSON file to write")
    parser.add_argument("--peak", type=int, help="only measure the memory of such a batch")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    result = {"peak GB": measure_peak(args.peak)} if args.peak else measure(args.quick)
    text = json.dumps(result, indent=1)
    print(text)
    if args.out is not None:
        args.out.parent.mkdir(parents=True, exist_ok=True)
        args.out.write_text(text + "\n", encoding="utf-8")


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
    result["cost of base"] = cost_table(load("base"), documents=4 if quick else 16)
    result["threads"] = torch.get_num_threads()
    result["machine"] = f"{platform.machine()}, torch {torch.__version__}"
    result["command"] = " ".join(["python", *sys.argv])
    return result


def load(name: str) -> Config:
    """A preset as it is shipped."""
    return load_config(ROOT / "configs" / f"{name}.toml")


class Trained:
    """A model that learns from whatever losses it is given."""

    def __init__(self, config: Config) -> None:
        torch.manual_seed(0)
        self.config = config
        self.lexicon = make_lexicon(config.data.vocabulary, styles=config.model.styles)
        self.model = KeyphraseModel(config.model, self.lexicon)
        self.model.train()
        self.optimizer = build_optimizer(self.model, config.train)

    def learn(self, losses: Losses) -> None:
        """The rest of a step."""
        self.optimizer.zero_grad(set_to_none=True)
        loss = losses.sequence / losses.tokens + losses.importance / losses.entries
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.config.train.clip)
        self.optimizer.step()

    def step(self, examples: list[Example]) -> Callable[[], None]:
        """A step of the package's network on a packed batch."""
        batch, targets = collate(examples, self.lexicon), collate_targets(examples)
        return lambda: self.learn(self.model(batch, targets))

    def reference_step(self, examples: list[Example]) -> Callable[[], None]:
        """A step of the reference on a padded batch."""
        padded = pad(examples, self.model, self.lexicon)
        return lambda: self.learn(reference_losses(self.model, padded))


def compare(config: Config, *, documents: int, steps: int) -> dict[str, float]:
    """Documents a second of both networks."""
    trained = Trained(config)
    ours, theirs = [], []
    for number in range(steps + 1):
        examples = make_examples(documents, trained.lexicon, seed=number)
        ours.append(timed(trained.step(examples)))
        theirs.append(timed(trained.reference_step(examples)))
    wall, cpu = _medians(ours[1:])
    reference_wall, reference_cpu = _medians(theirs[1:])
    return {
        "batch": documents,
        "documents/s": round(documents / wall, 2),
        "documents/s of the reference": round(documents / reference_wall, 2),
        "ratio": round(reference_wall / wall, 2),
        "documents/s of CPU time": round(documents / cpu, 2),
        "ratio of CPU time": round(reference_cpu / cpu, 2),
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


def timed(work: Callable[[], None]) -> tuple[float, float]:
    """Seconds that something takes, by the clock and of CPU time."""
    start, cpu_start = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - start, time.process_time() - cpu_start


def measure_peak(documents: int) -> float:
    """Gigabytes of this process after two steps of the ``paper`` preset."""
    trained = Trained(load("paper"))
    for seed in range(2):
        trained.step(make_examples(documents, trained.lexicon, seed=seed))()
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, 2)


if __name__ == "__main__":
    main()
