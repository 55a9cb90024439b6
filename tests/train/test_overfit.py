"""A network that is large enough learns a few documents by heart, and writes them again."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from phraseloom.network.graph import collate
from phraseloom.network.model import KeyphraseModel
from phraseloom.train.corpus.loader import TrainingBatch
from phraseloom.train.corpus.targets import collate_targets
from phraseloom.train.ops import as_arrays
from phraseloom.train.setup import open_run
from phraseloom.train.validate import judge_pool
from tests.train.runs import make_rows, tiny_config, write_corpus

VARIANTS: dict[str, dict[str, Any]] = {
    "gru": {"variant": "gru"},
    "gcn": {"variant": "gcn", "attention": "bilinear", "residual": True},
    "dgcn": {},
    "last": {"dynamic_layers": "last", "residual": True},
    "told-by-the-graph": {"history_coverage": False, "numbered": False},
    "merged": {"dynamic_layers": "merged", "edge_scorer": "interaction", "residual": True},
    "no-merge": {"merge": False, "attention": "bilinear"},
    "default-like": {
        "edge_scorer": "interaction",
        "scaled_edges": True,
        "attention": "bilinear",
        "residual": True,
        "node_features": True,
    },
}


@pytest.mark.slow
@pytest.mark.parametrize("settings", VARIANTS.values(), ids=VARIANTS.keys())
def test_eight_documents_are_learned_and_decoded_back_exactly(
    settings: dict[str, Any], tmp_path: Path
) -> None:
    corpus = write_corpus(tmp_path / "corpus", make_rows(8))
    config = tiny_config(
        corpus,
        corpus,
        model={"width": 32, "word_width": 16, "dropout": 0.0, "layers": 2, **settings},
        search={
            **{"mode": "free", "order": "decoding", "beam_width": 1},
            **{"alpha": 0.0, "lambda1": 0.0, "lambda2": 0.0},
        },
        train={"learning_rate": 0.02, "max_grad_norm": 1.0, "ema_decay": None},
    )
    trainer = open_run(config, tmp_path / "run")
    pool, learner = trainer.loader.pool, trainer.learner
    examples = [pool[i] for i in range(8)]
    batch = collate(examples, trainer.lexicon)
    batch_to_learn = TrainingBatch(batch, collate_targets(batch, examples))
    for _ in range(200):
        totals = learner.learn(batch_to_learn)
        if totals.sequence / totals.tokens < 0.005:
            break

    assert totals.sequence / totals.tokens < 0.01
    model = KeyphraseModel(config.model, trainer.lexicon, as_arrays(learner.weights))
    judged = judge_pool(model, pool, np.arange(8), config.search)
    assert [document.predictions for document in judged] == [
        document.targets for document in judged
    ]
