"""A network that is large enough learns a few documents by heart, and says them again."""

from pathlib import Path

import numpy as np
import pytest

from phraseloom.data.batch import collate, collate_targets
from phraseloom.data.loader import Work
from phraseloom.train.loop import open_run
from phraseloom.train.validate import judge_pool
from tests.train.runs import make_rows, tiny_config, write_corpus


@pytest.mark.slow
def test_eight_documents_are_learned_and_decoded_back_exactly(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "corpus", make_rows(8))
    config = tiny_config(
        corpus,
        corpus,
        model={"width": 32, "word_width": 16, "dropout": 0.0, "layers": 2},
        search={"mode": "free", "width": 1, "alpha": 0.0, "lambda1": 0.0, "lambda2": 0.0},
        train={"learning_rate": 0.02, "clip": 1.0, "average": None},
    )
    trainer = open_run(config, tmp_path / "run")
    pool, learner = trainer.loader.pool, trainer.learner
    examples = [pool[i] for i in range(8)]
    work = Work(collate(examples, trainer.lexicon), collate_targets(examples))
    for _ in range(150):
        totals = learner.learn(work)
        if totals.sequence / totals.tokens < 0.005:
            break

    assert totals.sequence / totals.tokens < 0.01
    learner.model.eval()
    judged = judge_pool(learner.model, trainer.lexicon, pool, np.arange(8), config.search)
    assert [one.predictions for one in judged] == [one.targets for one in judged]
