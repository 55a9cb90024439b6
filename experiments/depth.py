"""Whether a network can begin to learn: what its convolutions pass on, and what gradient they get.

Untrained weights and one batch: how far the nodes of a document differ after each convolution, and
the gradient that reaches its weights. Biases of the convolutions begin at zero here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import torch
import typer
from torch.nn import Parameter

from experiments import options
from experiments.figures import COLOURS, figure, legend_below
from experiments.results import Result, Row, read_rows, write_result
from experiments.tables import Table, to_markdown
from phraseloom.config import Config, load_config
from phraseloom.network.encoder import convolve, encode_tokens
from phraseloom.network.graph import Batch
from phraseloom.network.ops import Array, sigmoid
from phraseloom.train.corpus.loader import BatchLoader, plan_epoch
from phraseloom.train.initial import CONVOLUTION_GAIN, widen_convolutions
from phraseloom.train.learner import Learner, TrainState
from phraseloom.train.ops import TorchOps, to_torch
from phraseloom.train.setup import begin_weights, make_pool, open_corpora


@dataclass(frozen=True)
class Start:
    """A network to begin with."""

    settings: tuple[str, ...] = ()
    gain: float = 1.0
    """What the convolutions' weights are multiplied with."""


STARTS: Mapping[str, Start] = {
    "usual initial weights": Start(gain=1 / CONVOLUTION_GAIN),
    "wide initial weights": Start(),
    "residual, usual weights": Start(("model.residual=true",)),
    "usual weights, two convolutions": Start(("model.layers=2",), 1 / CONVOLUTION_GAIN),
}


def run(
    config: Annotated[Path, typer.Argument(help="a TOML file, such as configs/paper.toml")],
    settings: Annotated[list[str] | None, typer.Option("--set", metavar="KEY=VALUE")] = None,
    steps: Annotated[int, typer.Option(min=1, help="to learn, for the curve")] = 100,
    label: options.Label = "",
    results: options.Results = options.DEFAULT_RESULTS,
    pictures: options.Pictures = options.DEFAULT_PICTURES,
) -> None:
    """Measure a network before its first step, and its loss in the first ones."""
    drawing = options.labelled("depth", label)
    path = results / f"{drawing}.json"
    rows = read_rows(path)
    for name, start in STARTS.items():
        if all(row["name"] != name for row in rows):
            changed = load_config(config, [*(settings or []), *start.settings])
            rows.append({"name": name, **measure(changed, start.gain, steps)})
            write_result(path, {"config": str(config), "rows": rows})
    written = write_result(path, {"config": str(config), "rows": rows})
    typer.echo(to_markdown(*draw(written, pictures, drawing)))


def measure(config: Config, gain: float, steps: int) -> Row:
    """What is passed on and what gradients come back before the first step; the loss of each."""
    corpora = open_corpora(config.data)
    weights, lexicon = begin_weights(corpora.train, config)
    with torch.no_grad():
        widen_convolutions(weights, gain)
    pool = make_pool(corpora.train, lexicon, config.data, is_repeated=True)
    loader = BatchLoader(pool, lexicon, config.train)
    learner = Learner(weights, TrainState(""), config)
    plan = plan_epoch(pool, config.train, 0)
    first = loader.make(0, 0, plan[0])
    assert first is not None, "a batch has documents"
    row = _pass_on(config, weights, first.batch)
    learner.find_gradient(first)
    gradients = {n: w.grad.norm().item() for n, w in weights.items() if w.grad is not None}
    layers = range(config.model.layers)
    row["gradients"] = [gradients[f"encoder.convolutions.{k}.message.weight"] for k in layers]
    row["gradient"] = float(np.linalg.norm(list(gradients.values())))
    row["losses"] = []
    for number in range(min(steps, len(plan))):
        totals = learner.learn(loader.make(0, number, plan[number]))
        row["losses"].append(round(totals.sequence / totals.tokens, 4))
    return row


@torch.no_grad()
def _pass_on(config: Config, weights: Mapping[str, Parameter], batch: Batch) -> Row:
    ops = TorchOps()
    static = config.model.model_copy(update={"dynamic_layers": "all"})
    encoded = encode_tokens(weights, static, to_torch(batch), ops)
    assert encoded.edge_scores is not None, "without a graph there is nothing to pass on"
    edges = sigmoid(encoded.edge_scores.static, ops.xp)  # (E,)
    row: Row = {"edge_mean": edges.mean().item(), "edge_deviation": edges.std().item()}
    row["differences"] = []
    for depth in range(config.model.layers + 1):
        nodes = convolve(
            weights,
            config.model,
            to_torch(batch.edges),
            edges,
            encoded.nodes,
            encoded.messages,
            range(depth),
            ops,
        )  # (N, D)
        row["differences"].append(_difference(nodes, batch))
    return row


def _difference(nodes: Array, batch: Batch) -> float:
    """Mean distance of a document's nodes from their mean."""
    documents = np.split(nodes.numpy(), batch.node_offsets[1:-1])
    distances = [np.linalg.norm(one - one.mean(axis=0), axis=1).mean() for one in documents]
    return float(np.mean(distances))


def draw(content: Result, pictures: Path, name: str = "depth") -> list[Table]:
    """A table of what is passed on, one of gradients; curves of the loss."""
    rows = content["rows"]
    deepest = max(len(row["gradients"]) for row in rows)
    differences = [[row["name"], *_cells(row["differences"], deepest + 1)] for row in rows]
    gradients = [
        [row["name"], *_cells(row["gradients"], deepest), f"{row['gradient']:.2g}"] for row in rows
    ]
    _draw_losses(name, pictures, rows)
    after = [f"after {k + 1}" for k in range(deepest)]
    note = "Mean distance of a document's nodes from their mean: what attention sees."
    return [
        Table(
            "How far nodes differ before training",
            ["network", "BiGRU", *after],
            differences,
            [note],
        ),
        Table(
            "Gradient of the first batch, by convolution",
            ["network", *(str(k + 1) for k in range(deepest)), "all weights"],
            gradients,
        ),
    ]


def _cells(values: Sequence[float], count: int) -> list[str]:
    return [*(f"{value:.2g}" for value in values), *[""] * (count - len(values))]


def _draw_losses(name: str, pictures: Path, rows: Sequence[Row]) -> None:
    with figure(name, pictures, width=4.6) as (axis,):
        for i, row in enumerate(rows):
            losses = np.array(row["losses"])
            window = max(1, len(losses) // 12)
            smooth = np.convolve(losses, np.full(window, 1 / window), mode="valid")
            axis.plot(np.arange(len(smooth)) + window, smooth, color=COLOURS[i], label=row["name"])
        axis.set(xlabel="steps", ylabel="loss per token, running mean")
        legend_below([axis], columns=2)
