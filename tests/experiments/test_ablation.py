"""The ablation: measured once, drawn from its file, published rows never mistaken for ours."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from experiments import published
from experiments.ablation import KEPT, draw, inference_settings
from experiments.corpora import score_lists
from experiments.runs import VARIANTS, find_runs
from experiments.tables import to_markdown
from phraseloom.config import SearchConfig
from phraseloom.errors import PhraseloomError
from phraseloom.evaluate.files import read_documents
from phraseloom.evaluate.phrases import Split

MEASURED = {"gcn": [1, 2], "dgcn-linear": [1]}


@pytest.fixture(scope="module")
def runs(
    make_model_directory: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory
) -> str:
    place = tmp_path_factory.mktemp("runs")
    for variant in VARIANTS:
        for seed in MEASURED.get(variant.name, []):
            directory = place / f"{variant.name}-seed{seed}" / "best"
            make_model_directory(directory, seed=seed, **variant.model)
    return str(place / "{variant}-seed{seed}")


def test_the_command_measures_what_is_there_and_says_what_is_not(
    experiment: Callable[..., Any],
    result: Callable[..., Any],
    runs: str,
    corpus_file: Path,
    tmp_path: Path,
) -> None:
    places = ("--runs", runs, "--predictions", tmp_path / "predictions")
    arguments = ("ablation", corpus_file, *places, "--seed", 1, "--seed", 2)
    outcome = experiment(*arguments)

    assert outcome.status == 0, outcome.err
    assert outcome.err.count("missing: phraseloom train configs/default.toml") == 5
    assert "--set model.variant=gru --set train.seed=2 --out" in outcome.err
    rows = result("ablation")["rows"]
    assert [(row["variant"], row["seed"], row["inference"]) for row in rows] == [
        *(("gcn", seed, inference) for seed in (1, 2) for inference in ("plain", "div")),
        *(("dgcn-linear", 1, inference) for inference in ("plain", "div")),
    ]
    _check_against_predictions(rows, corpus_file, tmp_path)
    _check_drawings(experiment)
    written = sorted(tmp_path.rglob("*.predictions.jsonl"))
    for path in written:
        path.unlink()
    assert experiment(*arguments).out == outcome.out
    assert not any(path.exists() for path in written), "nothing is measured twice"
    experiment(*arguments, "--set", "max_phrases=2")
    assert all(path.exists() for path in written)
    assert len(result("ablation")["rows"]) == 6


def _check_against_predictions(rows: list[Any], corpus_file: Path, tmp_path: Path) -> None:
    """What was kept can be scored again, with the same values."""
    documents = read_documents(corpus_file)
    for row in rows:
        name = f"{row['variant']}-seed{row['seed']}-{row['inference']}"
        path = tmp_path / "predictions" / name / "own.predictions.jsonl"
        lists = [json.loads(line)["phrases"] for line in path.read_text().splitlines()]
        assert score_lists(documents, lists, Split.spaces, KEPT) == row["values"]


def _check_drawings(experiment: Callable[..., Any]) -> None:
    """They come from the files alone, and tell our rows from the paper's."""
    for name in ("ablation", "diversity"):
        outcome = experiment("draw", name)
        assert outcome.status == 0, outcome.err
        origins = [line.split(" | ")[1] for line in outcome.out.splitlines() if " | " in line]
        assert {*origins} <= {"origin", "run here", "corpus", published.MARK}


def test_a_table_shows_mean_and_deviation_over_seeds(tmp_path: Path) -> None:
    rows = [_row("gcn", seed, f1) for seed, f1 in ((1, 0.30), (2, 0.32), (3, 0.34))]

    lines = to_markdown(*draw({"rows": rows}, tmp_path)).splitlines()

    assert lines[2] == "| model | origin | seeds | Inspec F1@M | Inspec F1@5 |"
    assert lines[4] == "| GCN | run here | 3 | 0.320 ± 0.020 | 0.320 ± 0.020 |"
    assert f"| GCN | {published.MARK} | 3 | 0.312 ± 0.007 | 0.261 ± 0.004 |" in lines


def _row(variant: str, seed: int, f1: float) -> dict[str, Any]:
    about = {"variant": variant, "seed": seed, "inference": "plain", "corpus": "inspec"}
    return {**about, "documents": 5, "search": {}, "values": dict.fromkeys(KEPT, f1)}


def test_plain_inference_differs_in_the_factors_alone() -> None:
    search = SearchConfig(lambda1=2.0, lambda2=0.3, alpha=0.7)
    settings = inference_settings(search)
    assert settings["div"] == search
    assert (settings["plain"].lambda1, settings["plain"].lambda2) == (0, 0)
    assert settings["plain"].model_copy(update={"lambda1": 2.0, "lambda2": 0.3}) == search
    with pytest.raises(PhraseloomError, match="factor above 0"):
        inference_settings(settings["plain"])


def test_a_run_that_is_not_what_its_name_says_is_refused(
    make_model_directory: Callable[..., Path], tmp_path: Path
) -> None:
    make_model_directory(tmp_path / "gcn-seed1" / "best", seed=1, variant="dgcn")
    with pytest.raises(PhraseloomError, match="trained with variant dgcn, not gcn"):
        find_runs(str(tmp_path / "{variant}-seed{seed}"), [1])
    with pytest.raises(PhraseloomError, match="write {variant} and {seed}"):
        find_runs("runs/{variant}", [1])


def test_published_rows_cover_the_papers_sets() -> None:
    assert published.F1["Div-DGCN"]["inspec"] == (0.376, 0.348)
    assert published.F1["Transformer"].keys() == published.SETS.keys() - {"nus"}
    assert published.NDCG["DGCN"]["kp20k"] == (0.616,)
    assert published.UNFILLED["Div-DGCN"]["semeval"] == (0.344, 0.325)


def test_a_corpus_without_reference_phrases_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bare.jsonl"
    path.write_text(json.dumps({"abstract": "a text", "keywords": []}) + "\n")
    with pytest.raises(PhraseloomError, match="no reference phrases"):
        read_documents(path)
