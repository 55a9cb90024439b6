"""``python -m rivals train|measure|queue``: train rivals, and measure what was trained."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from phraseloom.config import load_config
from phraseloom.errors import PhraseloomError
from rivals import RIVALS

app = typer.Typer(
    add_completion=False, pretty_exceptions_enable=False, help="The paper's rivals, run here."
)
CONFIG = Path("configs/rivals.toml")
VALID = Path("runs/data/valid")
RESULTS = Path("experiments/results/rivals.json")


@app.command("list")
def list_rivals() -> None:
    """Name the rivals."""
    for name, rival in RIVALS.items():
        typer.echo(f"{name:18}{rival.title}")


@app.command()
def train(
    name: Annotated[str, typer.Argument(help="of a rival")],
    corpus: Annotated[list[Path] | None, typer.Option(help="prepared corpus to learn from")] = None,
    valid: Annotated[Path, typer.Option(help="prepared corpus to validate on")] = VALID,
    out: Annotated[Path | None, typer.Option(help="directory; default: runs/rivals/NAME")] = None,
    config: Annotated[Path, typer.Option(help="a TOML file")] = CONFIG,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="as phraseloom train")
    ] = None,
    restart: Annotated[bool, typer.Option("--restart", help="throw away the run there")] = False,
) -> None:
    """Train a rival; the same command again goes on where it was stopped or killed."""
    from phraseloom.train.display import show_run
    from rivals.run import open_run

    paths = [f'"{path}"' for path in corpus or []]
    given = [f"data.train=[{', '.join(paths)}]"] if paths else []
    resolved = load_config(config, [*given, f'data.valid=["{valid}"]', *(settings or [])])
    place = out if out is not None else Path("runs/rivals") / name
    with show_run(f"rivals train {name}") as report:
        trainer = open_run(name, resolved, place, is_restarted=restart)
        reason = trainer.fit(report)
    typer.echo(f"{place}: {reason} after step {trainer.state.step:,}")


@app.command()
def measure(
    run: Annotated[Path, typer.Argument(help="directory of a rival's run")],
    corpora: Annotated[list[Path], typer.Argument(help="prepared corpora to measure on")],
    valid: Annotated[Path, typer.Option(help="prepared corpus to choose settings on")] = VALID,
    documents: Annotated[int | None, typer.Option(min=1, help="of each; default: all")] = None,
    choose_on: Annotated[int, typer.Option(min=1, help="documents that settings are chosen on")] = (
        300
    ),
    ours: Annotated[
        str, typer.Option(help="the run is not a rival's but ours: its title in tables")
    ] = "",
    results: Annotated[Path, typer.Option(help="file of rows")] = RESULTS,
) -> None:
    """Choose search settings on validation documents, measure, and keep one row a corpus."""
    from rivals.measure import measure_run

    for row in measure_run(run, corpora, valid, documents, choose_on, ours, results):
        values = row["values"]
        typer.echo(
            f"{row['title']}, {row['corpus']}: F1@M {values['f1@M']:.3f}, F1@5 {values['f1@5']:.3f}"
        )


@app.command()
def queue(
    corpora: Annotated[list[Path], typer.Argument(help="prepared corpora to measure on")],
    names: Annotated[list[str] | None, typer.Option("--rival", help="default: all")] = None,
    valid: Annotated[Path, typer.Option(help="prepared corpus to choose settings on")] = VALID,
    out: Annotated[Path, typer.Option(help="folder of the runs")] = Path("runs/rivals"),
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="for every run")
    ] = None,
    results: Annotated[Path, typer.Option(help="file of rows")] = RESULTS,
) -> None:
    """Train and measure every run of the table; stopped or killed, the same command goes on."""
    from rivals.queue import run_queue

    typer.echo(run_queue(names or [], corpora, out, results, valid, settings or []))


def main() -> None:
    """Run a command; a caller's mistake is one line on stderr and exit status 2."""
    try:
        app(prog_name="python -m rivals")
    except PhraseloomError as error:
        typer.echo(f"rivals: {error}", err=True)
        sys.exit(2)


if __name__ == "__main__":
    main()
