"""The network learns from the rest of a collection, and goes on when it was stopped."""

from pathlib import Path

import pytest

from phraseloom.extractor import Extractor
from phraseloom.io.tagged import tag_rows
from phraseloom.network.weights import read_notes
from phraseloom.train.fit import network, pipeline, work
from phraseloom.train.fit.pipeline import FitOptions, fit_collection
from tests.train.fit.conftest import make_documents


def test_a_stopped_network_leaves_the_lists_and_the_same_call_goes_on(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "_FEWEST_APART", 12)
    monkeypatch.setattr(network, "FEWEST", 10)
    monkeypatch.setattr(network, "_plan_steps", lambda config, work, minutes: 12)
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
    assert (read_notes(out) or {})["fit"]["is_done"]
    weights = [
        Extractor.load(path).model.weights["encoder.gate.value.weight"] for path in (out, base)
    ]
    assert (weights[0] != weights[1]).any()
    assert not out.with_name("mine.unfinished").exists()
