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
from experiments.results import read_result, write_result
from experiments.sample import Sample, cut_list, open_sample
from experiments.tables import Table, to_markdown, write_tables
from phraseloom.cli.progress import document_progress
from phraseloom.config import SearchConfig
from phraseloom.errors import PhraseloomError
from phraseloom.search.found import Found

GRIDS: dict[str, tuple[float, ...]] = {
    "alpha": (0.0, 0.5, 1.0, 1.5, 2.0, 3.0),
    "lambda1": (0.0, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0),
    "lambda2": (0.0, 0.01, 0.05, 0.1, 0.2, 0.5),
    "width": (5, 10, 20, 50),
}
"""What is tried, in this order."""
STOPS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
FLOORS = (0.04, 0.06, 0.08, 0.1, 0.12, 0.14, 0.16, 0.18, 0.2, 0.25, 0.3)
ORDERS = ("decoding", "score", "expected")

AT_5, AT_M = "present.filled.macro.f1@5", "present.macro.f1@M"
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
        key = search.model_dump_json(exclude={"stop", "floor"})
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
            values = self._sample.score([cut_list(found, ended) for found in lists])
            scores = {name: round(values[key], 5) for name, key in _KEPT.items()}
            objective = (values[AT_5] + values[AT_M]) / 2
            trials.append(Trial(ended.model_dump(), scores, objective, round(seconds, 2)))
        return trials

    def _lists(self, search: SearchConfig) -> tuple[list[list[Found]], float]:
        order = "expected" if search.order == "expected" else "decoding"
        unended = search.model_copy(update={"stop": 1.0, "floor": 0.0, "order": order})
        start = time.process_time()
        with document_progress("decoding") as on_progress:
            lists = self._sample.decode(unended, on_progress=on_progress)
        return lists, time.process_time() - start


def _thresholds(search: SearchConfig) -> list[SearchConfig]:
    """The settings with each threshold that ends lists of their kind."""
    if search.order == "expected":
        return [search.model_copy(update={"floor": floor}) for floor in FLOORS]
    return [search.model_copy(update={"stop": stop}) for stop in STOPS]


def _with(best: Trial, name: str, value: float) -> SearchConfig:
    return SearchConfig.model_validate(best.search | {name: value})


def run(
    model: Annotated[Path | None, typer.Argument(help="model directory")] = None,
    corpus: Annotated[Path, typer.Option(help="prepared corpus")] = Path("runs/data/valid"),
    documents: Annotated[int, typer.Option(min=1, help="drawn from it")] = 300,
    sets: Annotated[list[str] | None, typer.Option("--from", help="only from this set")] = None,
    over: Annotated[list[str] | None, typer.Option(help="vary only this setting")] = None,
    rounds: Annotated[int, typer.Option(min=1, help="through the settings, at most")] = 1,
    gain: Annotated[float, typer.Option(min=0, help="smaller gains are noise")] = 0.0005,
    seed: Annotated[int, typer.Option(min=0, help="of the draw")] = 0,
    settings: options.Settings = None,
    label: Annotated[str, typer.Option(help="result file: tune-LABEL.json")] = "",
    results: options.Results = options.DEFAULT_RESULTS,
    draw_only: options.DrawOnly = False,
) -> None:
    """Find search settings by the mean of F1@5 and F1@M on validation documents."""
    name = f"tune-{label}" if label else "tune"
    if not draw_only:
        if model is None:
            raise PhraseloomError("name a model directory, or give --draw-only")
        draw = {"documents": documents, "seed": seed, "sets": sets or []}
        sample, config = open_sample(model, corpus, documents=documents, seed=seed, sets=sets or [])
        start = options.change_search(config.search, settings)
        content = {"model": str(model), "corpus": str(corpus), **draw, "start": start.model_dump()}
        content["documents"] = len(sample)
        measure(sample, start, _grids(over), results / f"{name}.json", content, rounds, gain)
    typer.echo(draw_tables(results, name))


def measure(
    sample: Sample,
    start: SearchConfig,
    grids: Mapping[str, Sequence[float]],
    path: Path,
    content: dict[str, Any],
    rounds: int = 1,
    gain: float = 0.0,
) -> None:
    """Climb, and keep every trial as soon as it is made; the choice comes with the last."""

    def keep(trial: Trial) -> None:
        typer.echo(_describe(trial), err=True)
        write_result(path, {**content, "trials": [asdict(each) for each in tuner.trials]})

    tuner = Tuner(sample, on_trial=keep)
    best = tuner.climb(start, grids, rounds=rounds, gain=gain)
    ends = tuner.endings(SearchConfig.model_validate(best.search))
    trials = [asdict(each) for each in tuner.trials]
    endings = [asdict(each) for each in ends]
    write_result(path, {**content, "trials": trials, "endings": endings, "chosen": best.search})


def draw_tables(results: Path, name: str) -> str:
    """Write the table of trials and the figure of thresholds; give what people read first."""
    content = read_result(results / f"{name}.json")
    if "chosen" not in content:
        raise PhraseloomError(f"{results / name}.json is unfinished; run tune again")
    chosen = content["chosen"]
    trials = sorted(content["trials"], key=lambda trial: -trial["objective"])
    columns = [*GRIDS, "order", "stop", "floor"]
    rows = [
        [
            *(f"{trial['search'][column]}" for column in columns),
            *(f"{trial['scores'][key]:.3f}" for key in _KEPT),
            f"{trial['seconds']:.0f}",
        ]
        for trial in trials
    ]
    title = f"Trials on {content['documents']} documents of {content['corpus']}"
    table = Table(title, [*columns, *_KEPT, "CPU s"], rows, [_as_toml(chosen)])
    write_tables(results / name, [table])
    _draw_endings(results / f"{name}-endings", content["endings"])
    return to_markdown(table)


def _draw_endings(path: Path, endings: Sequence[dict[str, Any]]) -> None:
    """F1 against the length of the list, for each kind of list."""
    titles = {"f1@5": "F1@5", "f1@M": "F1@M"}
    names = {
        "decoding": "as said, until EOS (S6)",
        "score": "the same, by score",
        "expected": "all that finished, by chance (S8)",
    }
    rules = {
        name: [each for each in endings if each["search"]["order"] == order]
        for order, name in names.items()
    }
    with figure(path, panels=2) as axes:
        for axis, (score, title) in zip(axes, titles.items(), strict=True):
            for i, (rule, line) in enumerate(rules.items()):
                axis.plot(
                    [each["scores"]["predicted"] for each in line],
                    [each["scores"][score] for each in line],
                    color=COLOURS[i],
                    marker=MARKERS[i],
                    label=rule,
                )
            axis.set(title=title, xlabel="phrases per document")
        legend_below(axes, columns=3)


def _as_toml(search: dict[str, Any]) -> str:
    lines = [f"{name} = {_toml(value)}" for name, value in search.items()]
    return "\n".join(["Chosen, for a configuration:", "", "```toml", "[search]", *lines, "```"])


def _toml(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


def _describe(trial: Trial) -> str:
    shown = ", ".join(f"{name} {trial.search[name]}" for name in [*GRIDS, "order", "stop", "floor"])
    scores = ", ".join(f"{name} {value:.3f}" for name, value in trial.scores.items())
    return f"{shown}: {scores} ({trial.seconds:.0f} s)"


def _grids(over: Sequence[str] | None) -> Mapping[str, Sequence[float]]:
    unknown = sorted(set(over or []) - set(GRIDS))
    if unknown:
        raise PhraseloomError(f"--over {unknown[0]}: give one of {', '.join(GRIDS)}")
    return {name: GRIDS[name] for name in over or GRIDS}
