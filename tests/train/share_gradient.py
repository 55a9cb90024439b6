"""One of several processes: finds the gradient of the first batch, and writes it down.

Run by torchrun; the argument is a directory with a ``config.json``.
"""

import sys
from pathlib import Path

from phraseloom.model.checkpoint import load_config_file, save_tensors
from phraseloom.train.distributed import process_group
from phraseloom.train.loop import open_run
from tests.train.runs import first_gradient


def main(directory: Path) -> None:
    config = load_config_file(directory / "config.json")
    with process_group() as share:
        trainer = open_run(config, directory / "two", share)
        gradient = first_gradient(trainer)
        save_tensors(directory / f"gradient{share.rank}.safetensors", gradient)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
