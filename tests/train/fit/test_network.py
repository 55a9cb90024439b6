"""The network learns from the rest of a collection, and goes on when it was stopped."""

from pathlib import Path

import pytest

from phraseloom.extractor import Extractor
from phraseloom.io.tagged import tag_rows
from phraseloom.network.weights import read_notes
from phraseloom.train.fit import network, pipeline, work
from phraseloom.train.fit.pipeline import FitOptions, fit_collection
from phraseloom.train.trainer import Trainer
from tests.train.fit.conftest import make_documents


@pytest.fixture(autouse=True)
def _few_documents_teach_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "_FEWEST_APART", 12)
    monkeypatch.setattr(network, "FEWEST", 10)


def test_a_stopped_network_leaves_the_lists_and_the_same_call_goes_on(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(network, "_plan", lambda *_: {"steps": 12, "minutes": 60})
    monkeypatch.setattr(pipeline, "is_better", lambda difference: True)
    documents, out = tag_rows(make_documents(24)).documents, tmp_path / "mine"
    stages: list[str] = []

    def stop_at_the_end(what: str, done: int, total: int) -> None:
        stages.append(what)
        if what == "training" and done == total:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit_collection(documents, out, FitOptions(base), on_stage=stop_at_the_end)
    assert Extractor.load(out).styles == ("own",)
    assert "parsing" in stages
    stages.clear()

    report = fit_collection(
        documents, out, FitOptions(base), on_stage=lambda what, done, total: stages.append(what)
    )

    assert "training" in stages
    assert report.documents == 24
    assert report.network
    assert "what the network learned is kept" in str(report)
    assert (read_notes(out) or {})["fit"]["is_done"]
    weights = [
        Extractor.load(path).model.weights["encoder.gate.value.weight"] for path in (out, base)
    ]
    assert (weights[0] != weights[1]).any()
    assert not out.with_name("mine.unfinished").exists()


def test_steps_are_planned_by_the_usual_time_of_one_on_one_thread(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = iter([9.0, 1.0, 4.0, 0.1, 1.0, 4.0])  # the first is slower, and the middle one 1 s
    threads = []

    def time_gradient(trainer: Trainer, documents: object) -> float:
        threads.append(trainer.config.train.threads)
        return next(seconds)

    monkeypatch.setattr(network, "_time_gradient", time_gradient)
    monkeypatch.setattr(network, "_time_validation", lambda trainer: 0.5)
    monkeypatch.setattr(Trainer, "_is_late", lambda trainer: False)
    totals = {}

    fit_collection(
        tag_rows(make_documents(24)).documents,
        tmp_path / "mine",
        FitOptions(base, minutes=(6 * 0.5 + 3 * 1.3) / 60, jobs=2),
        on_stage=lambda what, done, total: totals.update({what: total}),
    )

    assert totals["training"] == 3
    assert set(threads) == {1}


def test_training_ends_when_its_time_is_up_and_it_is_told_whether_it_was_worth_it(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(network, "_time_gradient", lambda *_: 1e-9)  # planned for a faster machine
    monkeypatch.setattr(network, "_time_validation", lambda trainer: 0.0)
    monkeypatch.setattr(network, "EPOCHS", 1_000)
    done = {}

    report = fit_collection(
        tag_rows(make_documents(24)).documents,
        tmp_path / "mine",
        FitOptions(base, minutes=0.001),
        on_stage=lambda what, finished, total: done.update({what: (finished, total)}),
    )

    assert done["training"][0] < done["training"][1]
    assert report.network is False
    assert "lists were not better for it" in str(report)
