"""``phraseloom evaluate``: what it found can be scored again, and no option is lost in silence."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from phraseloom.config import Config, ModelConfig, SearchConfig
from phraseloom.extractor import Extractor
from phraseloom.model.checkpoint import save_model
from phraseloom.text.parse import load_parser
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
        search=SearchConfig(width=3, max_words=3, max_phrases=4, floor=0.0),
    )
    save_model(place, network, lexicon, config)
    return place


@pytest.fixture(scope="module", autouse=True)
def _one_parser() -> Any:
    """Load the parser once: it takes seconds, and all commands of this file use the same."""
    parser = load_parser()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("phraseloom.extractor.extractor.load_parser", lambda name: parser)
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
    other = write(tmp_path / "other.jsonl", ROWS[:1])
    outcome = run("evaluate", model, corpus, other)
    assert outcome.status == 0, outcome.err
    assert outcome.out.index("own") < outcome.out.index("other")


@pytest.mark.parametrize(
    ("arguments", "changes"),
    [
        (["--variant", "plain"], {"lambda1": 0.0, "lambda2": 0.0}),
        (["--lambda1", 4, "--lambda2", 2], {"lambda1": 4.0, "lambda2": 2.0}),
        (["--mode", "free", "--beam", 2], {"mode": "free", "width": 2}),
        (["--alpha", 0, "--stop", 0.01], {"alpha": 0.0, "stop": 0.01}),
        (["--order", "score"], {"order": "score"}),
        (["--floor", "0.5"], {"floor": 0.5}),
    ],
)
def test_options_are_the_settings_of_the_search(
    run: Callable[..., Any],
    model: Path,
    corpus: Path,
    tmp_path: Path,
    arguments: list[object],
    changes: dict[str, Any],
) -> None:
    extractor = Extractor.load(model)
    extractor.search = extractor.search.model_copy(update=changes)
    expected = [
        [phrase.text for phrase in extractor.extract(row["abstract"], title=row["title"])]
        for row in ROWS
    ]

    outcome = run("evaluate", model, corpus, *arguments, "--out", tmp_path)

    assert outcome.status == 0, outcome.err
    assert predictions(tmp_path / "own.predictions.jsonl") == expected


def test_a_number_of_phrases_and_a_style_are_passed_on(
    run: Callable[..., Any], model: Path, corpus: Path, tmp_path: Path
) -> None:
    found = {}
    for style in ("author", "indexer"):
        arguments = ("--top", 6, "--style", style, "--out", tmp_path / style)
        assert run("evaluate", model, corpus, *arguments).status == 0
        found[style] = predictions(tmp_path / style / "own.predictions.jsonl")
        assert [len(phrases) for phrases in found[style]] == [6, 6]
    assert found["author"] != found["indexer"]


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
        ([model, corpus, "--variant", "plain", "--lambda1", 1], "leave out --lambda1"),
        ([model, corpus, "--style", "poet"], "unknown style 'poet'"),
        ([model, corpus, "--out", file], "cannot make folder"),
    ]
    for arguments, said in mistakes:
        outcome = run("evaluate", *arguments)
        assert outcome.status == 2
        assert said in outcome.err
        assert outcome.err.strip().count("\n") == 0, outcome.err
        assert not outcome.out
