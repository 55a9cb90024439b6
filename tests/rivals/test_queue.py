"""The queue of all runs."""

from pathlib import Path

import pytest

from experiments.results import read_rows, write_result
from phraseloom.errors import PhraseloomError
from rivals import RIVALS, queue
from rivals.queue import NEAREST, OURS, REWARDED, Job, configure, plan


def test_every_system_has_a_run_and_the_nearest_have_three() -> None:
    jobs = plan()
    counts = {name: sum(job.name == name for job in jobs) for name in (*RIVALS, *OURS)}
    assert counts == {name: 3 if name in NEAREST else 1 for name in counts}
    assert {job.name for job in plan(["catseq"])} == {"catseq"}


def test_what_goes_on_from_another_run_comes_after_it(tmp_path: Path) -> None:
    jobs = plan()
    for name, earlier in REWARDED.items():
        assert jobs.index(Job(earlier, 0)) < jobs.index(Job(name, 0))
        config = configure(Job(name, 0), tmp_path)
        assert config.train.init == Job(earlier, 0).place(tmp_path)


def test_a_stop_ends_the_queue_and_a_failure_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[str] = []
    ends = {"catseq": "all 3 steps are done", "skerank": "", "copyrnn": "asked to stop"}

    def train(job: Job, *_: object) -> str:
        tried.append(job.name)
        if job.name == "skerank":
            raise PhraseloomError("pip install it")
        return ends[job.name]

    monkeypatch.setattr(queue, "train_job", train)
    results = tmp_path / "rows.json"

    def measure(run: Path, *_: object) -> None:
        tried.append("measured")
        row = {"run": str(run), "corpus": "inspec"}
        write_result(results, {"rows": [*read_rows(results), row]})

    monkeypatch.setattr(queue, "measure_run", measure)

    def run(*names: str) -> str:
        return queue.run_queue(names, [Path("inspec")], tmp_path, results, tmp_path, [])

    ended = run("catseq", "skerank", "copyrnn", "paranet")
    assert tried == ["catseq", "measured", "copyrnn"]
    assert ended.startswith("asked to stop in ") and ended.endswith("the same command goes on")
    assert run("catseq", "skerank") == f"not done: {tmp_path}/skerank-0"
    assert tried.count("catseq") == 1, "what has been measured is not trained again"


def test_all_have_one_budget_and_one_width() -> None:
    configs = [configure(job, Path()) for job in plan() if job.name not in REWARDED]
    kept = {(c.train.steps, c.train.batch_documents, c.model.width, c.data.train) for c in configs}
    assert len(kept) == 1
    [(steps, batch, *_)] = kept
    assert (steps or 0) * batch == 60_000
