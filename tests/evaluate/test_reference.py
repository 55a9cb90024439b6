"""Agreement with what the literature's script prints for 500 documents, to its five decimals."""

import json
from pathlib import Path

import pytest

from phraseloom.evaluate.files import read_judged
from phraseloom.evaluate.report import score_documents

REFERENCE = Path(__file__).parents[2].parent / "shared" / "evaluation"
OURS = {
    "macro_avg_p": "macro.precision",
    "macro_avg_r": "macro.recall",
    "macro_avg_f1": "macro.f1",
    "MAP": "map",
    "avg_NDCG": "ndcg",
    "AlphaNDCG": "alpha_ndcg",
}


def our_key(theirs: str) -> str:
    """``filled:macro_avg_p@5_present`` is our ``present.filled.macro.precision@5``."""
    counting, rest = theirs.split(":")
    measure, cutoff = rest.removesuffix("_present").split("@")
    counted = f"{counting}." if measure.startswith("macro") else ""
    return f"present.{counted}{OURS[measure]}@{cutoff}"


@pytest.mark.skipif(not REFERENCE.is_dir(), reason="the reference files are not beside the project")
def test_every_number_of_the_reference_agrees() -> None:
    files = [REFERENCE / f"inspec.{kind}.txt" for kind in ("src", "trg", "pred")]
    expected = json.loads((REFERENCE / "inspec.expected.json").read_text(encoding="utf-8"))

    found = score_documents(read_judged(*files)).values

    assert {key: round(found[our_key(key)], 5) for key in expected} == expected
