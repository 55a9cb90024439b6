"""Fitting where something is already: another model, a stopped fit, a fit at work, counts."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from phraseloom.errors import PhraseloomError
from phraseloom.extractor import Extractor
from phraseloom.io.arrow import Folder
from phraseloom.io.tagged import tag_rows
from phraseloom.network.weights import MANIFEST
from phraseloom.train.fit.pipeline import FitOptions, fit_collection
from phraseloom.train.fit.report import FitReport
from tests.train.fit.conftest import make_documents


def fit(
    documents: Sequence[dict[str, str]], out: Path, base: Path, *, force: bool = False
) -> tuple[FitReport, list[str]]:
    """Fit, and what is remarked meanwhile."""
    remarks: list[str] = []
    options = FitOptions(base, force=force)
    tagged = tag_rows(documents).documents
    return fit_collection(tagged, out, options, on_remark=remarks.append), remarks


@pytest.fixture(scope="module")
def fitted(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that was fitted to forty documents."""
    out = tmp_path_factory.mktemp("again") / "mine"
    fit(make_documents(40), out, base)
    return out


@pytest.fixture
def mine(fitted: Path, tmp_path: Path) -> Path:
    """A copy of it, to try things on."""
    return Path(shutil.copytree(fitted, tmp_path / "mine"))


def test_a_model_of_other_documents_is_not_replaced_unless_told(mine: Path, base: Path) -> None:
    other = make_documents(12, seed=3)
    before = (mine / MANIFEST).read_bytes()

    with pytest.raises(PhraseloomError, match=r"to 40 other documents, which gained 0\.\d+"):
        fit(other, mine, base)
    assert (mine / MANIFEST).read_bytes() == before
    assert not mine.with_name("mine.unfinished").exists()

    fit(other, mine, base, force=True)
    assert (mine / MANIFEST).read_bytes() != before


def test_nor_is_one_from_another_model(mine: Path, fitted: Path) -> None:
    with pytest.raises(PhraseloomError, match="fitted to 40 documents, from another model"):
        fit(make_documents(40), mine, fitted)


def test_of_the_same_documents_the_better_model_stays(mine: Path, base: Path) -> None:
    manifest = json.loads((mine / MANIFEST).read_text())
    notes = manifest["notes"]["fit"]
    notes["signature"]["options"], notes["report"]["after"] = "others", 2.0
    (mine / MANIFEST).write_text(json.dumps(manifest))

    with pytest.raises(PhraseloomError, match="that one stays; --force replaces it"):
        fit(make_documents(40), mine, base)
    assert json.loads((mine / MANIFEST).read_text()) == manifest
    assert not mine.with_name("mine.unfinished").exists()


def test_what_another_fit_has_left_is_thrown_away_if_told(base: Path, tmp_path: Path) -> None:
    out, left = tmp_path / "mine", tmp_path / "mine.unfinished"

    def stop(what: str, done: int, total: int) -> None:
        if what == "searching":
            raise KeyboardInterrupt

    first = tag_rows(make_documents(12)).documents
    with pytest.raises(KeyboardInterrupt):
        fit_collection(first, out, FitOptions(base), on_stage=stop)
    assert left.exists()
    with pytest.raises(PhraseloomError, match="was stopped; --force throws it away"):
        fit(make_documents(14), out, base)

    report, _ = fit(make_documents(14), out, base, force=True)

    assert report.documents == 14
    assert not left.exists()


def test_two_fits_to_one_place_do_not_mix(base: Path, tmp_path: Path) -> None:
    with (
        Folder(tmp_path / "mine.unfinished").claimed("fit"),
        pytest.raises(PhraseloomError, match="another fit is writing into"),
    ):
        fit(make_documents(12), tmp_path / "mine", base)


def test_what_a_model_knows_of_other_documents_goes_on_counting(
    fitted: Path, tmp_path: Path
) -> None:
    documents = make_documents(30, seed=7)
    for document in documents:
        document["note"] += " It shows a kraken."
        document["subjects"] += "; kraken"

    report, remarks = fit(documents, tmp_path / "more", fitted)

    own = Extractor.load(tmp_path / "more").lexicon.collection
    assert any("40 other documents: what they list goes on counting" in line for line in remarks)
    assert 0.4 < report.before < report.after  # it knows two topics of three
    assert len(own.corpora) == 70
    assert sum(of.keyphrase_count for of in own.counts.values()) == 2 * 40 + 3 * 30


def test_a_model_is_not_measured_by_the_votes_of_documents_it_has_counted(
    base: Path, tmp_path: Path
) -> None:
    documents = make_documents(40)
    for number, document in enumerate(documents):  # a word of its own, which counts would tell
        document["note"] += f" It has a kraken{number}."
        document["subjects"] += f"; kraken{number}"
    fit(documents, tmp_path / "odd", base)

    report, remarks = fit(documents, tmp_path / "again", tmp_path / "odd")

    assert any("odd was fitted to 40 of these documents" in line for line in remarks)
    assert abs(report.before - report.after) < 0.05
    counts = Extractor.load(tmp_path / "again").lexicon.collection.counts
    assert counts == Extractor.load(tmp_path / "odd").lexicon.collection.counts
