"""One of several processes: finds the gradient of the first batch, and writes it down.

Run by torchrun; the argument is a directory with a ``config.json``.
"""

import sys
from pathlib import Path

from phraseloom.network.weights import load_config_file, save_arrays
from phraseloom.train.distributed import process_group
from phraseloom.train.ops import as_arrays
from phraseloom.train.setup import open_run
from tests.train.runs import first_gradient


def main(directory: Path) -> None:
    config = load_config_file(directory / "config.json")
    with process_group() as process:
        trainer = open_run(config, directory / "two", process)
        gradient = first_gradient(trainer)
        save_arrays(directory / f"gradient{process.rank}.safetensors", as_arrays(gradient))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
