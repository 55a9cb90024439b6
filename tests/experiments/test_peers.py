"""Peers run behind a door of files; a made-up one stands in for them here."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from experiments import peers
from experiments.corpora import score_lists
from experiments.peers import PEERS
from experiments.peers.predict import PEERS as LOADERS
from phraseloom.evaluate.files import read_documents
from phraseloom.evaluate.phrases import Split

FAKE = """
class Rake:
    def __init__(self, language_code):
        assert language_code == "en"

    def apply(self, text):
        words = [word for word in text.split() if word.isalpha()]
        return [(" ".join(words[i : i + 2]), 1.0) for i in range(len(words) - 1)]
"""


@pytest.fixture
def environments(tmp_path: Path) -> Path:
    """An environment that has a ``multi_rake`` of our own, and one that has nothing."""
    for name, source in (("rake", FAKE), ("yake", None)):
        place = tmp_path / "environments" / name
        (place / "bin").mkdir(parents=True)
        python = place / "bin" / "python"
        python.write_text(f'#!/bin/sh\nPYTHONPATH={place} exec {sys.executable} -S "$@"\n')
        python.chmod(0o755)
        if source is not None:
            (place / "multi_rake.py").write_text(source)
            info = place / "multi_rake-0.0.2.dist-info"
            info.mkdir()
            (info / "METADATA").write_text("Metadata-Version: 2.1\nName: multi-rake\nVersion: 9\n")
    return tmp_path / "environments"


@pytest.fixture
def compare(
    experiment: Callable[..., Any], environments: Path, corpus_file: Path, tmp_path: Path
) -> Callable[..., Any]:
    def compare_them(*more: object) -> Any:
        places = ("--environments", environments, "--predictions", tmp_path / "predictions")
        return experiment("peers", corpus_file, *places, *more)

    return compare_them


def test_a_peer_is_scored_like_any_predictions(
    compare: Callable[..., Any],
    experiment: Callable[..., Any],
    result: Callable[..., Any],
    corpus_file: Path,
    tmp_path: Path,
) -> None:
    outcome = compare("--peer", "rake", "--peer", "keybert", "--top", 3)

    assert outcome.status == 0, outcome.err
    assert "KeyBERT, MiniLM is not installed; run: python -m venv" in outcome.err
    assert "-r experiments/peers/requirements-keybert.txt" in outcome.err
    (row,) = result("peers")["rows"]
    assert (row["peer"], row["documents"], row["versions"]) == ("rake", 5, {"multi-rake": "9"})
    assert row["seconds"] > 0
    kept = tmp_path / "predictions" / "rake" / "own.predictions.jsonl"
    phrases = [json.loads(line)["phrases"] for line in kept.read_text().splitlines()]
    assert phrases[0] == ["kites over", "over the", "the harbour"]
    documents = read_documents(corpus_file)
    assert score_lists(documents, phrases, Split.spaces, row["values"]) == row["values"]
    assert experiment("draw", "peers").out == outcome.out
    assert (tmp_path / "pictures" / "result-peers.svg").stat().st_size
    means = experiment("draw", "peers-means").out
    assert "RAKE" in means
    assert f"{row['values']['present.macro.f1@M']:.3f}" in means


def test_an_environment_without_the_peer_says_what_to_run(compare: Callable[..., Any]) -> None:
    outcome = compare("--peer", "yake")
    assert outcome.status == 2
    assert "YAKE is not installed; run: python -m venv" in outcome.err
    assert "(yake is not installed)" in outcome.err


def test_our_own_row_may_give_as_many_phrases_as_the_peers(
    compare: Callable[..., Any], model_directory: Path, tmp_path: Path
) -> None:
    outcome = compare("--peer", "phraseloom-top", "--top", 2, "--model", model_directory)

    assert outcome.status == 0, outcome.err
    kept = tmp_path / "predictions" / "phraseloom-top" / "own.predictions.jsonl"
    phrases = [json.loads(line)["phrases"] for line in kept.read_text().splitlines()]
    assert [len(of_document) for of_document in phrases] == [2] * 5


def test_mistakes_are_named(compare: Callable[..., Any]) -> None:
    assert "no peer 'abacus'" in compare("--peer", "abacus").err
    assert "needs --model" in compare("--peer", "phraseloom").err


def test_every_peer_can_be_loaded_and_installed() -> None:
    assert PEERS.keys() == LOADERS.keys()
    folder = Path(str(peers.__file__)).parent
    needed = {peer.environment for peer in PEERS.values() if peer.environment}
    files = {path.stem.removeprefix("requirements-") for path in folder.glob("requirements-*.txt")}
    assert files == needed
