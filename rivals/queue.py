"""Every run of the table, one after the other: trained, then measured. Stopped, it goes on.

A run that has all its rows is neither trained nor measured again, even if its directory is gone.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from experiments.results import read_rows
from phraseloom.config import Config, load_config
from phraseloom.errors import PhraseloomError
from phraseloom.io.records import corpus_name
from phraseloom.train import setup
from phraseloom.train.display import show_run
from phraseloom.train.trainer import Trainer
from rivals import RIVALS
from rivals.measure import measure_run
from rivals.run import open_run

CONFIGS = Path("configs")
OURS = {
    "ours": ("DGCN, the paper's inputs", "rivals-ours.toml"),
    "ours-paper": ("Div-DGCN, as in the paper", "rivals-paper.toml"),
    "ours-features": ("DGCN with features and glossary", "rivals-ours-features.toml"),
}
"""Ours, with the title of its rows and its configuration."""
NEAREST = ("catseqd", "catseqtg", "exhird", "divgraphpointer", "ours", "ours-features")
"""They have three seeds."""
REWARDED = {"catseqd-2rf1": "catseqd", "catseqtg-2rf1": "catseqtg"}
"""They go on from another run, for a quarter of its steps at a tenth of its rate."""


@dataclass(frozen=True, slots=True)
class Job:
    """One run."""

    name: str
    seed: int

    def place(self, out: Path) -> Path:
        """Its directory."""
        return out / f"{self.name}-{self.seed}"


def plan(names: Sequence[str] = ()) -> list[Job]:
    """All runs, or those of some systems: first one seed of each, then the further seeds."""
    systems = [*RIVALS, *OURS]
    jobs = [Job(name, 0) for name in systems]
    jobs += [Job(name, seed) for seed in (1, 2) for name in systems if name in NEAREST]
    # what goes on from another run comes after it
    jobs.sort(key=lambda job: (job.seed, job.name in REWARDED))
    return [job for job in jobs if not names or job.name in names]


def run_queue(
    names: Sequence[str],
    corpora: Sequence[Path],
    out: Path,
    results: Path,
    valid: Path,
    settings: Sequence[str],
) -> str:
    """Do what is left; say why it ended.

    Args:
        names: of systems; none: all.
        corpora: prepared, to measure on.
        out: folder of the runs.
        results: file of rows.
        valid: on which settings of search are chosen.
        settings: over those of every configuration.
    """
    failed = []
    for job in plan(names):
        place = job.place(out)
        left = unmeasured(place, corpora, results)
        if not left:
            continue
        try:
            reason = train_job(job, out, settings)
            if reason in ("asked to stop", "the time is up"):
                return f"{reason} in {place}; the same command goes on"
            title = OURS[job.name][0] if job.name in OURS else ""
            measure_run(place, left, valid, None, 300, title, results)
        except PhraseloomError as error:  # such as weights that are not installed
            reason = str(error)
            failed.append(str(place))
        sys.stderr.write(f"{place}: {reason}\n")
    return f"not done: {', '.join(failed)}" if failed else "all is done"


def train_job(job: Job, out: Path, settings: Sequence[str]) -> str:
    """Train, or go on; why it ended."""
    trainer = open_job(job, out, settings)
    with show_run(f"{job.name}, seed {job.seed}") as report:
        return trainer.fit(report)


def unmeasured(place: Path, corpora: Sequence[Path], results: Path) -> list[Path]:
    """The corpora that have no row of this run yet."""
    done = {(row["run"], row["corpus"]) for row in read_rows(results)}
    return [path for path in corpora if (str(place), corpus_name(path)) not in done]


def open_job(job: Job, out: Path, settings: Sequence[str] = ()) -> Trainer:
    """The run of a job, new or to go on."""
    config, place = configure(job, out, settings), job.place(out)
    return setup.open_run(config, place) if job.name in OURS else open_run(job.name, config, place)


def configure(job: Job, out: Path, settings: Sequence[str] = ()) -> Config:
    """The configuration of a job: the same budget for each."""
    file = OURS[job.name][1] if job.name in OURS else "rivals.toml"
    config = load_config(CONFIGS / file, [*settings, f"train.seed={job.seed}"])
    if job.name not in REWARDED:
        return config
    train = config.train.model_copy(
        update={
            "init": Job(REWARDED[job.name], job.seed).place(out),
            "steps": max(1, (config.train.steps or 4) // 4),
            "learning_rate": config.train.learning_rate / 10,
        }
    )
    return config.model_copy(update={"train": train})
