"""``phraseloom evaluate``: what it found can be scored again, and no option is lost in silence."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from phraseloom.config import Config, ModelConfig, SearchConfig
from phraseloom.extractor import Extractor
from phraseloom.network.weights import save_model
from phraseloom.text.parsers import load_parser
from tests.builders import TINY, make_lexicon, make_model

ROWS: list[dict[str, Any]] = [
    {
        "id": "k1",
        "title": "paper kites",
        "abstract": "a paper kite with a long tail flies in a light wind .",
        "keywords": ["paper kite", "light wind", "weather"],
    },
    {
        "id": "k2",
        "title": "salt",
        "abstract": "sea salt dries in shallow ponds , and workers rake the sea salt .",
        "keywords": ["sea salt", "shallow ponds"],
    },
]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("models") / "tiny"
    lexicon = make_lexicon(styles=("author", "indexer"))
    network = make_model(lexicon, seed=3)
    config = Config(
        model=ModelConfig.model_validate({**TINY, "styles": lexicon.styles}),
        search=SearchConfig(beam_width=3, max_words=3, max_phrases=4, min_score=0.0),
    )
    save_model(place, network, config)
    return place


@pytest.fixture(scope="module", autouse=True)
def _one_parser() -> Any:
    """Load the parser once: it takes seconds, and all commands of this file use the same."""
    parser = load_parser()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("phraseloom.extractor.load_parser", lambda name: parser)
        yield


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write(tmp_path / "own.jsonl", ROWS)


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def predictions(path: Path) -> list[list[str]]:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [[phrase["text"] for phrase in row["phrases"]] for row in rows]


def test_predictions_scored_again_give_the_same_values(
    run: Callable[..., Any], model: Path, corpus: Path, tmp_path: Path
) -> None:
    out = tmp_path / "found"
    outcome = run("evaluate", model, corpus, "--out", out, "--json")

    assert outcome.status == 0, outcome.err
    values = json.loads(outcome.out)["own"]
    kept = out / "own.predictions.jsonl"
    again = run("score", "--source", corpus, "--predictions", kept, "--resamples", 0, "--json")
    assert json.loads(again.out) == values
    assert values["documents"] == 2
    assert values["present.predicted"] == 4, "as many as the model was told to give"


def test_several_corpora_stand_in_one_table(
    run: Callable[..., Any], model: Path, corpus: Path, tmp_path: Path
) -> None:
    other = write(tmp_path / "x[b]\u202e.jsonl", ROWS[:1])
    outcome = run("evaluate", model, corpus, other)
    assert outcome.status == 0, outcome.err
    assert outcome.out.index("own") < outcome.out.index("x[b]\ufffd")
    assert "x[b]\ufffd" in outcome.err, "so is the bar called"


@pytest.mark.parametrize(
    "changes",
    [
        {"lambda1": 4.0, "lambda2": 2.0},
        {"mode": "free", "beam_width": 2},
        {"alpha": 0.0, "eos_threshold": 0.01},
        {"order": "score"},
        {"min_score": 0.5},
    ],
)
def test_settings_are_those_of_the_search(
    run: Callable[..., Any], model: Path, corpus: Path, tmp_path: Path, changes: dict[str, Any]
) -> None:
    extractor = Extractor.load(model).with_search(**changes)
    expected = [
        [phrase.text for phrase in extractor.extract(row["abstract"], title=row["title"])]
        for row in ROWS
    ]
    settings = [("--set", f"search.{name}={value}") for name, value in changes.items()]

    outcome = run("evaluate", model, corpus, *sum(settings, ()), "--out", tmp_path)

    assert outcome.status == 0, outcome.err
    assert predictions(tmp_path / "own.predictions.jsonl") == expected


@pytest.mark.parametrize("option", [{"diversity": 1.0}, {"min_score": 0.3}])
def test_options_are_those_of_extract(
    run: Callable[..., Any], model: Path, corpus: Path, tmp_path: Path, option: dict[str, Any]
) -> None:
    [(name, value)] = option.items()
    arguments = (f"--{name.replace('_', '-')}", value, "--top", 4, "--out", tmp_path)
    assert run("evaluate", model, corpus, *arguments).status == 0
    extractor = Extractor.load(model)
    expected = [
        [
            phrase.text
            for phrase in extractor.extract(row["abstract"], title=row["title"], top=4, **option)
        ]
        for row in ROWS
    ]
    assert predictions(tmp_path / "own.predictions.jsonl") == expected


def test_every_heading_can_be_read_on_a_terminal_of_80_columns(
    run: Callable[..., Any], model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("COLUMNS", "80")
    long = write(tmp_path / "a_corpus_of_a_very_long_name.jsonl", ROWS)
    outcome = run("evaluate", model, long)
    lines = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in outcome.out.splitlines()]
    assert max(map(len, lines)) <= 80
    for heading in ("corpus", "docs", "F1@5", "F1@M", "F1@10", "F1@O", "NDCG@10", "Avg. #"):
        assert any(heading in line for line in lines)
    assert any("Corr. #  nested" in line for line in lines)
    assert "…" not in outcome.out


def test_a_number_of_phrases_and_a_style_are_passed_on(
    run: Callable[..., Any], model: Path, corpus: Path, tmp_path: Path
) -> None:
    lists = {}
    for style in ("author", "indexer"):
        arguments = ("--top", 6, "--style", style, "--out", tmp_path / style)
        assert run("evaluate", model, corpus, *arguments).status == 0
        lists[style] = predictions(tmp_path / style / "own.predictions.jsonl")
        assert [len(phrases) for phrases in lists[style]] == [6, 6]
    assert lists["author"] != lists["indexer"]


def test_natural_text_is_split_when_asked(
    run: Callable[..., Any], model: Path, tmp_path: Path
) -> None:
    row = {**ROWS[0], "abstract": "A paper-kite flies.", "keywords": ["paper kite", "flies"]}
    natural = write(tmp_path / "natural.jsonl", [row])
    targets = {
        split: json.loads(run("evaluate", model, natural, "--split", split, "--json").out)
        for split in ("spaces", "words")
    }
    assert targets["spaces"]["natural"]["present.targets"] == 1, "the title's 'paper kites'"
    assert targets["words"]["natural"]["present.targets"] == 2


def test_mistakes_are_one_line(
    run: Callable[..., Any], model: Path, corpus: Path, tmp_path: Path
) -> None:
    bare = write(tmp_path / "bare.jsonl", [{**ROWS[0], "keywords": []}])
    empty = write(tmp_path / "empty.jsonl", [])
    (tmp_path / "twin").mkdir()
    twin = write(tmp_path / "twin" / "own.jsonl", ROWS)
    file = write(tmp_path / "file", [])
    mistakes: list[tuple[list[object], str]] = [
        ([model, tmp_path / "nowhere.jsonl"], "nowhere.jsonl"),
        ([model, bare], "no reference phrases"),
        ([model, empty], "has no documents"),
        ([model, corpus, twin], "two corpora are called own"),
        ([tmp_path / "nothing", corpus], "no model directory"),
        ([model, corpus, "--set", "model.layers=1"], "only search.… can be changed"),
        ([model, corpus, "--set", "search.width=1"], "unknown setting search.width"),
        ([model, corpus, "--style", "poet"], "unknown style 'poet'"),
        ([model, corpus, "--out", file], "cannot make folder"),
    ]
    for arguments, message in mistakes:
        outcome = run("evaluate", *arguments)
        assert outcome.status == 2
        assert message in outcome.err
        assert outcome.err.strip().count("\n") == 0, outcome.err
        assert not outcome.out
