"""Search settings that do best on validation documents, one coordinate after the other.

Each trial decodes the sample once and without a threshold for where lists end. That only cuts what
was decoded, so it is chosen anew for each trial at no cost.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from experiments import options
from experiments.figures import COLOURS, MARKERS, figure, legend_below
from experiments.results import Result, Row, write_result
from experiments.sample import AT_5, AT_M, Sample, cut_list, open_sample
from experiments.tables import Table, to_markdown
from phraseloom.config import SearchConfig
from phraseloom.errors import PhraseloomError
from phraseloom.search.beam import Hypothesis

GRIDS: dict[str, tuple[float, ...]] = {
    "alpha": (0.0, 0.5, 1.0, 1.5, 2.0, 3.0),
    "lambda1": (0.0, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0),
    "lambda2": (0.0, 0.01, 0.05, 0.1, 0.2, 0.5),
    "beam_width": (5, 10, 20, 50),
}
"""What is tried, in this order."""
EOS_THRESHOLDS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
MIN_SCORES = (0.04, 0.06, 0.08, 0.1, 0.12, 0.14, 0.16, 0.18, 0.2, 0.25, 0.3)
ORDERS = ("decoding", "score", "expected")
_ENDS = ("order", "eos_threshold", "min_score")
"""Settings that say which phrases of the beams the list holds."""

_KEPT = {"f1@5": AT_5, "f1@M": AT_M, "ndcg@10": "present.ndcg@10", "predicted": "present.predicted"}


@dataclass(frozen=True, slots=True)
class Trial:
    """Settings that were tried, and what came of them."""

    search: dict[str, Any]
    scores: dict[str, float]
    objective: float
    """Mean of F1@5 and F1@M."""
    seconds: float
    """Of the processor, for decoding until no phrase is left to look for."""


class Tuner:
    """Tries settings on one sample; none is tried twice."""

    def __init__(self, sample: Sample, *, on_trial: Callable[[Trial], None]) -> None:
        self.trials: list[Trial] = []
        self._sample = sample
        self._on_trial = on_trial
        self._known: dict[str, Trial] = {}

    def climb(
        self, start: SearchConfig, grids: Mapping[str, Sequence[float]], *, rounds: int, gain: float
    ) -> Trial:
        """Best settings found by varying one at a time.

        Args:
            start: where to begin.
            grids: values of each setting, in the order in which they are varied.
            rounds: how often each is varied, at most.
            gain: a value is left for another only if that is better by more than this.
        """
        best = self.attempt(start)
        for _ in range(rounds):
            before = best
            for name, values in grids.items():
                tried = [self.attempt(_with(best, name, value)) for value in values]
                winner = max(tried, key=lambda trial: trial.objective)
                if winner.objective > best.objective + gain:
                    best = winner
            if best is before:
                break
        return best

    def attempt(self, search: SearchConfig) -> Trial:
        """Decode under these settings, with the best threshold for them."""
        key = search.model_dump_json(exclude={"eos_threshold", "min_score"})
        if key not in self._known:
            trial = self._decode(search)
            self._known[key] = trial
            self.trials.append(trial)
            self._on_trial(trial)
        return self._known[key]

    def endings(self, search: SearchConfig) -> list[Trial]:
        """All thresholds of all kinds of lists, under settings that are otherwise given."""
        kinds = [search.model_copy(update={"order": order}) for order in ORDERS]
        return [trial for kind in kinds for trial in self._cut(kind)]

    def _decode(self, search: SearchConfig) -> Trial:
        return max(self._cut(search), key=lambda trial: trial.objective)

    def _cut(self, search: SearchConfig) -> list[Trial]:
        """One trial for each threshold, from one decoding."""
        lists, seconds = self._lists(search)
        trials = []
        for ended in _thresholds(search):
            values = self._sample.score([cut_list(phrases, ended) for phrases in lists])
            scores = {name: round(values[key], 5) for name, key in _KEPT.items()}
            objective = (values[AT_5] + values[AT_M]) / 2
            trials.append(Trial(ended.model_dump(), scores, objective, round(seconds, 2)))
        return trials

    def _lists(self, search: SearchConfig) -> tuple[list[list[Hypothesis]], float]:
        order = "expected" if search.order == "expected" else "decoding"
        unended = search.model_copy(update={"eos_threshold": 1.0, "min_score": 0.0, "order": order})
        start = time.process_time()
        lists = self._sample.decode(unended)
        return lists, time.process_time() - start


def _thresholds(search: SearchConfig) -> list[SearchConfig]:
    """The settings with each threshold that ends lists of their kind."""
    if search.order == "expected":
        return [search.model_copy(update={"min_score": score}) for score in MIN_SCORES]
    return [search.model_copy(update={"eos_threshold": share}) for share in EOS_THRESHOLDS]


def _with(best: Trial, name: str, value: float) -> SearchConfig:
    return SearchConfig.model_validate(best.search | {name: value})


def run(
    model: options.Model,
    corpus: options.Corpus = options.DEFAULT_CORPUS,
    documents: options.Documents = 300,
    sets: options.Sets = None,
    over: Annotated[list[str] | None, typer.Option(help="vary only this setting")] = None,
    rounds: Annotated[int, typer.Option(min=1, help="through the settings, at most")] = 1,
    gain: Annotated[float, typer.Option(min=0, help="smaller gains are noise")] = 0.0005,
    seed: options.Seed = 0,
    settings: options.Settings = None,
    label: options.Label = "",
    results: options.Results = options.DEFAULT_RESULTS,
    pictures: options.Pictures = options.DEFAULT_PICTURES,
) -> None:
    """Find search settings by the mean of F1@5 and F1@M on validation documents."""
    name = options.labelled("tune", label)
    grids = _grids(over)
    sample = open_sample(model, corpus, documents=documents, seed=seed, sets=sets)
    start = options.change_search(sample.config.search, settings)
    measured = measure(sample, start, grids, results / f"{name}.json", rounds, gain)
    typer.echo(to_markdown(*draw(measured, pictures, name)))


def measure(
    sample: Sample,
    start: SearchConfig,
    grids: Mapping[str, Sequence[float]],
    path: Path,
    rounds: int = 1,
    gain: float = 0.0,
) -> Result:
    """Climb, and keep every trial as soon as it is made; the choice comes with the last."""
    content = {**sample.about, "start": start.model_dump()}

    def keep(trial: Trial) -> None:
        typer.echo(_describe(trial), err=True)
        write_result(path, {**content, "trials": [asdict(trial) for trial in tuner.trials]})

    tuner = Tuner(sample, on_trial=keep)
    best = tuner.climb(start, grids, rounds=rounds, gain=gain)
    endings = tuner.endings(SearchConfig.model_validate(best.search))
    content["trials"] = [asdict(trial) for trial in tuner.trials]
    content["endings"] = [asdict(trial) for trial in endings]
    return write_result(path, {**content, "chosen": best.search})


def draw(content: Result, pictures: Path, name: str = "tune") -> list[Table]:
    """A table of trials, and a figure of thresholds."""
    if "chosen" not in content:
        raise PhraseloomError(f"the result {name} is unfinished; run tune again")
    trials = sorted(content["trials"], key=lambda trial: -trial["objective"])
    columns = [*GRIDS, *_ENDS]
    lines = [
        [
            *(f"{trial['search'][column]}" for column in columns),
            *(f"{trial['scores'][key]:.3f}" for key in _KEPT),
            f"{trial['seconds']:.0f}",
        ]
        for trial in trials
    ]
    _draw_endings(f"{name}-endings", pictures, content["endings"])
    title = f"Trials on {content['documents']} documents of {content['corpus']}"
    notes = [_as_toml(content["chosen"])]
    return [Table(title, [*columns, *_KEPT, "CPU s"], lines, notes)]


def _draw_endings(name: str, pictures: Path, endings: Sequence[Row]) -> None:
    """F1 against the length of the list, for each kind of list."""
    orders = {
        "decoding": "as decoded, until EOS (S6)",
        "score": "the same, by score",
        "expected": "all that finished, by chance (S8)",
    }
    with figure(name, pictures, panels=2) as axes:
        for axis, score in zip(axes, ("f1@5", "f1@M"), strict=True):
            for i, (order, title) in enumerate(orders.items()):
                line = [trial["scores"] for trial in endings if trial["search"]["order"] == order]
                look = {"color": COLOURS[i], "marker": MARKERS[i], "label": title}
                lengths = [scores["predicted"] for scores in line]
                axis.plot(lengths, [scores[score] for scores in line], **look)
            axis.set(title=score.upper(), xlabel="phrases per document")
        legend_below(axes, columns=3)


def _as_toml(search: dict[str, Any]) -> str:
    lines = [f"{name} = {_toml(value)}" for name, value in search.items()]
    return "\n".join(["Chosen, for a configuration:", "", "```toml", "[search]", *lines, "```"])


def _toml(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


def _describe(trial: Trial) -> str:
    shown = ", ".join(f"{name} {trial.search[name]}" for name in [*GRIDS, *_ENDS])
    scores = ", ".join(f"{name} {value:.3f}" for name, value in trial.scores.items())
    return f"{shown}: {scores} ({trial.seconds:.0f} s)"


def _grids(over: Sequence[str] | None) -> Mapping[str, Sequence[float]]:
    unknown = sorted(set(over or []) - set(GRIDS))
    if unknown:
        raise PhraseloomError(f"--over {unknown[0]}: give one of {', '.join(GRIDS)}")
    return {name: GRIDS[name] for name in over or GRIDS}
