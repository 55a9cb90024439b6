"""The two layers that we wrote ourselves, beside what torch offers, forward and backward.

    python benchmarks/bench_layers.py --out benchmarks/results/layers.json

CPU seconds of one thread; every row is measured in the same run, and ratios are to ours.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # `python …` sees only the script's folder

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from benchmarks.documents import make_examples, make_lexicon
from phraseloom.data.batch import Batch, collate
from phraseloom.nn.recurrent import run_bidirectional, schedule_steps
from phraseloom.nn.sparse import Pattern, matrix_product


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=32)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--out", type=Path, help="JSON file to write")
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    lexicon = make_lexicon(1000)
    batch = collate(make_examples(args.documents, lexicon), lexicon)
    result = {
        "graph product": compare(graph_products(batch, args.width)),
        "BiGRU": compare(recurrences(batch, args.width)),
        "command": " ".join(["python", *sys.argv]),
    }
    text = json.dumps(result, indent=1)
    print(text)
    if args.out is not None:
        args.out.parent.mkdir(parents=True, exist_ok=True)
        args.out.write_text(text + "\n", encoding="utf-8")


def graph_products(batch: Batch, width: int) -> dict[str, Callable[[], Tensor]]:
    """A sparse matrix, whose values are learned, times the nodes."""
    size = len(batch.word_ids)
    nodes = torch.randn(size, width, requires_grad=True)
    values = torch.rand(len(batch.edge_sources), requires_grad=True)
    rows, columns = batch.edge_targets, batch.edge_sources
    pattern = Pattern(batch.edge_offsets, columns, rows, batch.edge_reverse)

    def add_up() -> Tensor:
        return torch.zeros_like(nodes).index_add(0, rows, values[:, None] * nodes[columns])

    def multiply() -> Tensor:
        matrix = torch.sparse_coo_tensor(torch.stack([rows, columns]), values, (size, size))
        return torch.sparse.mm(matrix, nodes)

    return {
        "ours": lambda: matrix_product(pattern, values, nodes),
        "index_add": add_up,
        "torch.sparse": multiply,
    }


def recurrences(batch: Batch, width: int) -> dict[str, Callable[[], Tensor]]:
    """A bidirectional GRU over documents of different lengths."""
    gru = nn.GRU(width, width // 2, bidirectional=True)
    tokens = torch.randn(len(batch.word_ids), width, requires_grad=True)
    schedule = schedule_steps(batch.node_offsets)
    sizes = torch.tensor(schedule.sizes)

    def run_packed() -> Tensor:
        states, _ = gru(PackedSequence(tokens[schedule.orders[0]], sizes))
        found: Tensor = states.data
        return found

    return {
        "ours": lambda: run_bidirectional(gru, tokens, schedule),
        "torch, packed": run_packed,
    }


def compare(ways: dict[str, Callable[[], Tensor]], *, times: int = 3) -> dict[str, float]:
    """Seconds of ours, and how many times that the others take."""
    seconds = {name: min(_time(way) for _ in range(times)) for name, way in ways.items()}
    ratios = {f"{name} / ours": round(s / seconds["ours"], 2) for name, s in seconds.items()}
    return {"seconds": round(seconds["ours"], 4), **ratios}


def _time(way: Callable[[], Tensor]) -> float:
    start = time.process_time()
    way().square().sum().backward()
    return time.process_time() - start


if __name__ == "__main__":
    main()
