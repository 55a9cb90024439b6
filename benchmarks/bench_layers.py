"""The operations that we wrote ourselves for torch, beside what torch offers, with gradients.

    python benchmarks/bench_layers.py --out benchmarks/results/layers.json

CPU seconds of one thread; every row is measured in the same run, and ratios are to ours. NumPy's
row is the forward pass alone, beside torch's forward pass of ours.
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # `python …` sees only the script's folder

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from benchmarks.documents import make_examples, make_lexicon
from benchmarks.reporting import make_parser, report
from phraseloom.network.encoder import bigru
from phraseloom.network.graph import Batch, collate
from phraseloom.network.ops import NUMPY
from phraseloom.parallel import limit_threads
from phraseloom.train.ops import TorchOps, as_arrays, to_torch


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--documents", type=int, default=32)
    parser.add_argument("--width", type=int, default=320)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    lexicon = make_lexicon(1000)
    batch = collate(make_examples(args.documents, lexicon), lexicon)
    with limit_threads(1):
        report(
            {
                "graph product": compare(graph_products(batch, args.width)),
                "BiGRU": compare(recurrences(batch, args.width)),
            },
            args.out,
        )


def graph_products(batch: Batch, width: int) -> dict[str, Callable[[], Any]]:
    """A sparse matrix, whose values are learned, times the nodes."""
    edges, ops = to_torch(batch.edges), TorchOps()
    size, targets, sources = len(batch.word_ids), edges.targets, edges.sources
    nodes = torch.randn(size, width, requires_grad=True)
    values = torch.rand(len(sources), requires_grad=True)
    arrays = as_arrays({"nodes": nodes, "values": values})

    def add_up() -> Tensor:
        return torch.zeros_like(nodes).index_add(0, targets, values[:, None] * nodes[sources])

    def multiply() -> Tensor:
        matrix = torch.sparse_coo_tensor(torch.stack([targets, sources]), values, (size, size))
        return torch.sparse.mm(matrix, nodes)

    return {
        "ours": lambda: ops.graph_product(edges, values, nodes),
        "index_add": add_up,
        "torch.sparse": multiply,
        "NumPy": lambda: NUMPY.graph_product(batch.edges, arrays["values"], arrays["nodes"]),
    }


def recurrences(batch: Batch, width: int) -> dict[str, Callable[[], Any]]:
    """A bidirectional GRU over documents of different lengths."""
    gru = nn.GRU(width, width // 2, bidirectional=True)
    weights = {f"encoder.context.{name}": weight for name, weight in gru.named_parameters()}
    tokens = torch.randn(len(batch.word_ids), width, requires_grad=True)
    packed, ops, arrays = to_torch(batch), TorchOps(), as_arrays({**weights, "tokens": tokens})
    sizes = torch.tensor(batch.schedule.sizes)

    def run_packed() -> Tensor:
        states, _ = gru(PackedSequence(tokens[packed.schedule.orders[0]], sizes))
        return states.data

    return {
        "ours": lambda: bigru(weights, tokens, packed, ops),
        "torch, packed": run_packed,
        "NumPy": lambda: bigru(arrays, arrays["tokens"], batch, NUMPY),
    }


def compare(ways: dict[str, Callable[[], Any]], *, times: int = 5) -> dict[str, float]:
    """Seconds of ours, and how many times that the others take."""
    numpy = ways.pop("NumPy")
    rounds = [{name: _time(way) for name, way in ways.items()} for _ in range(times)]
    seconds = {name: min(taken[name] for taken in rounds) for name in ways}
    ratios = {f"{name} / ours": round(s / seconds["ours"], 2) for name, s in seconds.items()}
    with torch.no_grad():
        forward = min(_time(ways["ours"]) for _ in range(times))
    ratios["NumPy / ours, forward"] = round(min(_time(numpy) for _ in range(times)) / forward, 2)
    return {"seconds": round(seconds["ours"], 4), **ratios}


def _time(way: Callable[[], Any]) -> float:
    start = time.process_time()
    result = way()
    if isinstance(result, Tensor) and result.requires_grad:
        result.square().sum().backward()
    return time.process_time() - start


if __name__ == "__main__":
    main()
