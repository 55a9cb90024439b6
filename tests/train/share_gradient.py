"""One of several processes: finds the gradient of the first batch, and writes it down.

Run by torchrun; the argument is a directory with a ``config.json``.
"""

import sys
from pathlib import Path

from phraseloom.data.loader import plan_epoch
from phraseloom.model.checkpoint import load_config_file, save_tensors
from phraseloom.train.distributed import process_group
from phraseloom.train.loop import open_run


def main(directory: Path) -> None:
    config = load_config_file(directory / "config.json")
    with process_group() as share:
        trainer = open_run(config, directory / "two", share)
        plan = plan_epoch(trainer.loader.pool, config.train, 0)
        trainer.learner.find_gradient(trainer.loader.make(0, 0, plan[0]))
        named = trainer.learner.model.named_parameters()
        gradients = {name: each.grad for name, each in named if each.grad is not None}
        save_tensors(directory / f"gradient{share.rank}.safetensors", gradients)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
