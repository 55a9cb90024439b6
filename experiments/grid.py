"""Train the networks that `experiments.dynamic` compares: each kind with each seed, one by one.

A run that is stopped or killed goes on with the same command; one that has been measured is not
trained again, even if its directory is gone.
Seeds come last, so a row of every kind is there first.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from experiments import dynamic, options
from experiments.results import read_rows
from phraseloom.config import load_config
from phraseloom.errors import PhraseloomError
from phraseloom.train.display import show_run
from phraseloom.train.setup import open_run

NO_COVERAGE, NO_NUMBER = "model.history_coverage=false", "model.numbered=false"
STATIC, MERGED = "model.variant=gcn", "model.dynamic_layers=merged"

KINDS: Mapping[str, tuple[str, ...]] = {
    "dynamic": (),
    "static": (STATIC,),
    "no graph": ("model.variant=gru",),
    "dynamic, last convolution only": ("model.dynamic_layers=last",),
    "dynamic, linear": ("model.edge_scorer=linear",),
    "dynamic, no coverage": (NO_COVERAGE,),
    "static, no coverage": (STATIC, NO_COVERAGE),
    "dynamic, one factor a stem": (MERGED,),
    "dynamic, rank 8": ("model.interaction_rank=8",),
    "dynamic, rank 128": ("model.interaction_rank=128",),
    "dynamic, shuffled phrases": ("train.shuffled_phrases=1.0",),
    "dynamic, no number": (NO_NUMBER,),
    "static, no number": (STATIC, NO_NUMBER),
    "dynamic, neither": (NO_COVERAGE, NO_NUMBER),
    "static, neither": (STATIC, NO_COVERAGE, NO_NUMBER),
}
"""Each kind of network, with what it has other than the configuration says."""


def run(
    config: Annotated[Path, typer.Argument(help="a TOML file")] = Path("configs/rivals-ours.toml"),
    kinds: Annotated[list[str] | None, typer.Option("--kind", help="default: all")] = None,
    seeds: Annotated[list[int] | None, typer.Option("--seed", help="default: 0, 1 and 2")] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="for every run")
    ] = None,
    corpora: Annotated[
        list[Path] | None, typer.Option("--corpus", help="prepared, to measure on")
    ] = None,
    documents: options.Documents = 1000,
    out: Annotated[Path, typer.Option(help="folder of the runs")] = Path("runs/dynamic"),
    results: options.Results = options.DEFAULT_RESULTS,
    pictures: options.Pictures = options.DEFAULT_PICTURES,
) -> None:
    """Train what is missing, and measure each run when it has ended."""
    for seed in seeds or [0, 1, 2]:
        for kind in kinds or KINDS:
            if kind not in KINDS:
                raise PhraseloomError(f"no kind {kind!r}; there are: {', '.join(KINDS)}")
            place = out / f"{kind}-{seed}"
            if place.name in {row["run"] for row in read_rows(results / "dynamic.json")}:
                continue
            reason = _train(config, [*KINDS[kind], *(settings or [])], seed, place)
            if reason in ("asked to stop", "the time is up"):
                typer.echo(f"{place}: {reason}; the same command goes on")
                return
            dynamic.run(
                [place],
                corpora or [options.DEFAULT_CORPUS],
                documents=documents,
                results=results,
                pictures=pictures,
            )


def _train(config: Path, settings: list[str], seed: int, place: Path) -> str:
    trainer = open_run(load_config(config, [*settings, f"train.seed={seed}"]), place)
    with show_run(place.name) as report:
        return trainer.fit(report)
