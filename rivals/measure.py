"""A run's row: search settings chosen on validation documents, then scores of one list.

Ours is measured by the same function, so that a table compares like with like.
"""

import shlex
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from experiments.results import Row, provenance, read_rows, write_result
from experiments.sample import Sample, choose_rows
from experiments.tune import Tuner
from phraseloom.config import Config, SearchConfig
from phraseloom.evaluate.phrases import Judged
from phraseloom.evaluate.report import score_documents
from phraseloom.io.records import corpus_name
from phraseloom.network.weights import BEST, load_model, read_notes
from phraseloom.parallel import in_batches, limit_threads
from phraseloom.train.corpus.prepared import PreparedCorpus
from phraseloom.train.metrics_log import METRICS, read_entries
from phraseloom.train.validate import Model
from rivals import RIVALS
from rivals.model import RivalModel, read_name

KEYS = {
    "f1@M": "present.macro.f1@M",
    "f1@5": "present.filled.macro.f1@5",
    "unfilled f1@5": "present.unfilled.macro.f1@5",
    "unfilled f1@10": "present.unfilled.macro.f1@10",
    "ndcg@10": "present.ndcg@10",
    "predicted": "present.predicted",
    "correct": "present.correct",
    "nested": "present.nested_rate",
}
"""Values of a row, all of them of one list, under their names in docs/metrics.md."""

_TOGETHER = 256  # documents encoded at once
_PLAIN: dict[str, Any] = {"alpha": 0.0, "lambda1": 0.0, "lambda2": 0.0}
LISTS: list[dict[str, Any]] = [
    {**_PLAIN, "mode": "free", "order": "decoding", "beam_width": 1},
    {**_PLAIN, "mode": "extractive", "order": "decoding", "beam_width": 10},
    {**_PLAIN, "mode": "extractive", "order": "expected", "beam_width": 10},
]
"""Searches that are tried for a network that writes lists; the first is greedy."""
PHRASES: list[dict[str, Any]] = [
    {**_PLAIN, "mode": "free", "order": "expected", "beam_width": 200},
    {**_PLAIN, "mode": "extractive", "order": "expected", "beam_width": 200},
    {**_PLAIN, "mode": "extractive", "order": "expected", "beam_width": 50, "alpha": 1.0},
]
"""Searches for a network that writes single phrases: a wide beam, cut off by ``min_score``."""


def measure_run(
    run: Path,
    corpora: Sequence[Path],
    valid: Path,
    documents: int | None,
    choose_on: int,
    ours: str,
    results: Path,
) -> list[Row]:
    """Measure a run on prepared corpora; a row that was measured before is replaced.

    Args:
        run: of a rival, or of ours.
        corpora: to measure on.
        valid: on which the settings of search are chosen, and nothing else is.
        documents: of each corpus; none: all.
        choose_on: how many of the validation documents.
        ours: title of a run of ours; empty: it is a rival's.
        results: file with all rows.
    """
    model: Model
    if ours:
        model, config = load_model(run)
        size = sum(w.size for k, w in model.weights.items() if not k.startswith("encoder.words."))
        about: Row = {"rival": "ours", "title": ours, "parameters": int(size)}
        searches = LISTS if config.search.order == "expected" else [config.search.model_dump()]
    else:
        rival, config = RivalModel.load(run)
        model, searches = rival, PHRASES if rival.network.one_phrase else LISTS
        name = read_name(run)
        about = {"rival": name, "title": RIVALS[name].title, "parameters": rival.size}
    about |= {"run": str(run), "training": describe_training(run, config)}
    chosen = choose_search(model, config, valid, choose_on, searches)
    about |= {"search": chosen.model_dump(), "chosen_on": f"{corpus_name(valid)}, {choose_on}"}
    command = shlex.join(["python", "-m", "rivals", *sys.argv[1:]])
    about["commit"] = provenance()["commit"]
    rows = []
    for path in corpora:
        corpus = PreparedCorpus.open(path)
        drawn = choose_rows(corpus, documents=documents, seed=0)
        values, seconds = score(model, config, corpus, drawn, chosen)
        row = {**about, "corpus": corpus_name(path), "documents": len(drawn)}
        rows.append({**row, "seconds": round(seconds, 2), "command": command, "values": values})
    kept = [row for row in read_rows(results) if not any(is_same(row, new) for new in rows)]
    write_result(results, {"command": command, "rows": [*kept, *rows]})
    return rows


def is_same(old: Row, new: Row) -> bool:
    """Whether two rows are of one run on one corpus."""
    return all(old[key] == new[key] for key in ("run", "corpus"))


def choose_search(
    model: Model, config: Config, valid: Path, documents: int, searches: Sequence[dict[str, Any]]
) -> SearchConfig:
    """The search with the best mean of F1@5 and F1@M on validation documents."""
    corpus = PreparedCorpus.open(valid)
    sample = Sample(model, config, corpus, choose_rows(corpus, documents=documents, seed=0))
    tuner = Tuner(sample, on_trial=lambda trial: None)
    single = {"max_phrases": 10}
    tried = [
        tuner.attempt(config.search.model_copy(update={**single, **search})) for search in searches
    ]
    best = max(tried, key=lambda trial: trial.objective)
    return SearchConfig.model_validate(best.search)


def score(
    model: Model,
    config: Config,
    corpus: PreparedCorpus,
    rows: Sequence[int],
    search: SearchConfig,
) -> tuple[dict[str, float], float]:
    """Values of the lists of some documents, and the processor's seconds for them."""
    judged, seconds = list[Judged](), 0.0
    for together in in_batches(rows, _TOGETHER):  # what encoders leave takes room
        start = time.process_time()
        with limit_threads(1):
            sample = Sample(model, config, corpus, together)
            lists = sample.decode(search)
        seconds += time.process_time() - start
        judged += sample.judge(lists)
    values = score_documents(judged, parts=("present",)).values
    return {name: round(values[key], 5) for name, key in KEYS.items()}, seconds


def describe_training(run: Path, config: Config) -> dict[str, Any]:
    """Documents seen, speed, seed and perplexity of a run."""
    entries = read_entries(run / METRICS)
    steps = [entry for entry in entries if entry["kind"] == "train"]
    speeds = sorted(entry["documents_per_second"] for entry in steps)
    notes = read_notes(run / BEST) or {}
    return {
        "documents": steps[-1]["documents"] if steps else 0,
        "documents_per_second": speeds[len(speeds) // 2] if speeds else None,
        "seed": config.train.seed,
        "corpora": [corpus_name(path) for path in config.data.train],
        "perplexity": notes.get("perplexity"),
    }
