"""Model directories that agree with their manifest but are absurd: refused in one line, at once."""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from phraseloom.config import Config, StyleRanking
from phraseloom.errors import CheckpointError
from phraseloom.extractor import Extractor
from phraseloom.network.model import KeyphraseModel
from phraseloom.network.weights import (
    CONFIG,
    LEXICON,
    MANIFEST,
    WEIGHTS,
    checksum,
    load_arrays,
    load_model,
    read_notes,
    save_arrays,
    save_model,
)
from tests.builders import make_lexicon, make_model

LIMIT = 2.0
"""CPU seconds."""
DEEP = "[" * 100_000 + "]" * 100_000


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    model = make_model(make_lexicon(styles=("author", "indexer")))
    config = Config(model=model.config, ranking={"author": StyleRanking(weights={"bias": 1.0})})
    save_model(tmp_path / "model", model, config, is_quantized=True)
    return tmp_path / "model"


def sign(directory: Path) -> None:
    """Make the manifest agree with what the files are now."""
    manifest = json.loads((directory / MANIFEST).read_text(encoding="utf-8"))
    manifest["files"] = {name: checksum(directory / name) for name in manifest["files"]}
    (directory / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")


def assert_refused(directory: Path) -> str:
    """Whoever loads it is told so by one line that names the directory, in little time."""
    start = time.process_time()
    with pytest.raises(CheckpointError) as caught:
        Extractor.load(directory)
    assert time.process_time() - start < LIMIT
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 1000
    assert str(directory) in message
    return message


def change_json(path: Path, place: str, value: Any) -> None:
    """Put a value at a dotted place of a JSON file."""
    values = part = json.loads(path.read_text(encoding="utf-8"))
    *parts, last = place.split(".")
    for name in parts:
        part = part[name]
    part[last] = value
    path.write_text(json.dumps(values), encoding="utf-8")


def test_the_directory_is_a_model_before_anything_is_changed(directory: Path) -> None:
    sign(directory)
    assert isinstance(load_model(directory)[0], KeyphraseModel)


SETTINGS: list[tuple[str, Any]] = [
    *((f"model.{name}", 10**12) for name in ("word_width", "pos_width", "position_width", "width")),
    *((f"model.{name}", 10**12) for name in ("edge_width", "layers", "decoder_layers")),
    ("model.interaction_rank", 10**12),
    ("model.layers", -1),
    ("model.width", 7),
    ("model.width", 8.5),
    ("model.variant", "transformer"),
    ("model.styles", ["author"]),
    ("model.styles", "author"),
    ("model.dropout", float("nan")),
    ("model.unknown", 1),
    ("model", None),
    ("search.beam_width", 10**12),
    ("search.max_words", 10**12),
    ("search.max_phrases", 10**12),
    ("search.window_tokens", 10**12),
    ("search.alpha", float("inf")),
    ("search.lambda1", 1e300),
    ("search.min_score", float("nan")),
    ("search.mode", ["extractive"]),
    ("data.vocabulary", 10**12),
    ("train.seed", 2**70),
    ("ranking.author.weights", {"bias": float("nan")}),
    ("ranking.author.weights", {"bias": float("-inf")}),
    ("ranking.author.weights", {"bias": 1e300}),
    ("ranking.author.weights", {"shininess": 1.0}),
    ("ranking.author.weights_of", {"poem": {}}),
    ("ranking.author.taste_of", {"author": {"poem": 1.0}}),
    ("ranking.author.taste_of", {"author": {"author": -1.0}}),
    ("ranking.author.lambda1_of", {"poem": -1.0}),
    ("ranking.author.network_style", "poet"),
    ("ranking.author.unknown", 1),
    ("ranking.author", [1]),
    ("ranking", {"author": {"min_phrases": 10**12}}),
    ("kinds", {"poem": [1.0, 2.0]}),
    ("kinds", {"poem": [float("nan")] * 8}),
    ("kinds", {"poem": [1e300] * 8}),
    ("unknown" * 1000, 1),
]


@pytest.mark.parametrize(("place", "value"), SETTINGS, ids=str)
def test_settings_out_of_bounds_are_refused(directory: Path, place: str, value: Any) -> None:
    change_json(directory / CONFIG, place, value)
    sign(directory)

    assert_refused(directory)


LEXICONS: list[tuple[str, Any]] = [
    ("words", [1, 2, 3]),
    ("words", "words"),
    ("words", None),
    ("words", {"word": 1}),
    ("words", ["twice", "twice"]),
    ("words", ["fewer"]),
    ("words", [["deep"]]),
    ("pos_tags", []),
    ("pos_tags", ["NOUN"]),
    ("relations", ["<unknown>", 3]),
    ("styles", ["author"]),
    ("styles", [None, None]),
    ("subwords", 3),
    ("subwords.min_n", 0),
    ("subwords.min_n", 9),
    ("subwords.min_n", "3"),
    ("subwords.max_n", 10**12),
    ("subwords.max_n", float("inf")),
    ("subwords.max_n", None),
    ("subwords.buckets", 10**12),
    ("subwords.buckets", -1),
    ("subwords.buckets", True),
    ("glossary", []),
    ("glossary.phrases", ["one too many"]),
    ("glossary", {"phrases": ["a"], "listed": ["3"], "standing": [3], "corpora": []}),
    ("glossary", {"phrases": ["a"], "listed": [-3], "standing": [3], "corpora": []}),
    ("glossary", {"phrases": [1], "listed": [3], "standing": [3], "corpora": []}),
    ("glossary", {"phrases": ["a"], "listed": [3], "standing": [10**300], "corpora": []}),
    ("glossary", {"phrases": ["a"], "listed": 3, "standing": 3, "corpora": []}),
]


@pytest.mark.parametrize(("place", "value"), LEXICONS, ids=str)
def test_a_lexicon_of_something_else_is_refused(directory: Path, place: str, value: Any) -> None:
    change_json(directory / LEXICON, place, value)
    sign(directory)

    assert_refused(directory)


@pytest.mark.parametrize("part", [CONFIG, LEXICON, MANIFEST])
@pytest.mark.parametrize(
    "content",
    [
        DEEP,
        "",
        "null",
        "3",
        '"text"',
        "[]",
        "{}",
        "{" * 1000,
        '{"a": 1' + "0" * 10_000 + "}",
        "\ud800",
        "\x00" * 1000,
        '{"files": [], "notes": 3}',
        '{"files": {}, "notes": {}, "format": "phraseloom-model-1"}',
        '{"files": [[1, 2]], "notes": {}, "format": "phraseloom-model-1"}',
    ],
    ids=lambda content: repr(content)[:30],
)
def test_json_of_something_else_is_refused(directory: Path, part: str, content: str) -> None:
    (directory / part).write_bytes(content.encode("utf-8", errors="surrogatepass"))
    if part != MANIFEST:
        sign(directory)

    assert_refused(directory)


@pytest.mark.parametrize(
    "name",
    ["../secret", "/etc/passwd", "..", ".", "", "a/b", "a\\b", "a\nb", "a\x00b", "x" * 5000, "é"],
    ids=lambda name: repr(name)[:20],
)
def test_a_name_that_leads_out_of_the_directory_is_refused(directory: Path, name: str) -> None:
    (directory.parent / "secret").write_text("secret", encoding="utf-8")
    change_json(directory / MANIFEST, "files", {**_files(directory), name: "0" * 64})

    assert "secret" not in assert_refused(directory).replace("../secret", "")


def _files(directory: Path) -> dict[str, str]:
    manifest = json.loads((directory / MANIFEST).read_text(encoding="utf-8"))
    files: dict[str, str] = manifest["files"]
    return files


@pytest.mark.parametrize("part", [WEIGHTS, CONFIG, LEXICON])
def test_a_manifest_without_a_part_is_refused(directory: Path, part: str) -> None:
    files = {name: value for name, value in _files(directory).items() if name != part}
    change_json(directory / MANIFEST, "files", files)

    assert f"does not name {part}" in assert_refused(directory)


@pytest.mark.parametrize("part", [WEIGHTS, CONFIG, LEXICON])
def test_a_part_that_is_no_file_is_refused_without_waiting(directory: Path, part: str) -> None:
    (directory / part).unlink()
    os.mkfifo(directory / part)

    assert part in assert_refused(directory)


@pytest.mark.parametrize("part", [WEIGHTS, CONFIG, LEXICON, MANIFEST])
def test_a_part_that_is_far_too_long_is_not_read(
    directory: Path, part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(path: Path) -> str:
        assert path.name != part
        return checksum(path)

    monkeypatch.setattr("phraseloom.network.weights.checksum", read)
    os.truncate(directory / part, 1 << 40)  # of which the disk holds nothing

    assert f"{part} is damaged" in assert_refused(directory)


def test_other_files_of_a_manifest_are_not_read(directory: Path) -> None:
    with (directory / "other").open("wb") as file:
        file.truncate(1 << 40)
    change_json(directory / MANIFEST, "files", {**_files(directory), "other": "0" * 64})

    assert isinstance(load_model(directory)[0], KeyphraseModel)


Arrays = dict[str, NDArray[Any]]
TABLE, START = "encoder.words.table", "decoder.start"


def change(name: str, work: Callable[[NDArray[Any]], NDArray[Any]]) -> Callable[[Arrays], Arrays]:
    return lambda arrays: {**arrays, name: work(arrays[name])}


def fill(value: float) -> Callable[[NDArray[Any]], NDArray[Any]]:
    return lambda array: np.full_like(array, value)


def without(name: str) -> Callable[[Arrays], Arrays]:
    return lambda arrays: {other: array for other, array in arrays.items() if other != name}


def spoil_one(array: NDArray[Any]) -> NDArray[Any]:
    spoilt = array.copy()
    spoilt.flat[3] = np.nan
    return spoilt


WEIGHT_CHANGES: dict[str, Callable[[Arrays], Arrays]] = {
    "not a number": change(START, fill(float("nan"))),
    "infinite": change("decoder.ends", fill(float("inf"))),
    "one of many": change("decoder.ends", spoil_one),
    "far too large": change(START, lambda a: np.full(a.shape, 3e38, np.float32)),
    "an infinite scale": change(f"{TABLE}.scale", fill(float("inf"))),
    "whole numbers": change(START, lambda a: a.astype(np.int32)),
    "truth values": change(START, lambda a: a.astype(np.bool_)),
    "a table without a scale": without(f"{TABLE}.scale"),
    "a scale too short": change(f"{TABLE}.scale", lambda a: a[:-1]),
    "a table too short": change(TABLE, lambda a: a[:-1]),
    "another shape": change(START, lambda a: a[:, None]),
    "nothing": lambda arrays: {},
    "one missing": without(START),
    "one too many": lambda arrays: {**arrays, "decoder.more": np.zeros(3, np.float32)},
}


@pytest.mark.parametrize("work", WEIGHT_CHANGES.values(), ids=WEIGHT_CHANGES.keys())
def test_weights_that_no_training_gives_are_refused(
    directory: Path, work: Callable[[Arrays], Arrays]
) -> None:
    save_arrays(directory / WEIGHTS, work(load_arrays(directory / WEIGHTS)))
    sign(directory)

    assert_refused(directory)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff" * 8,
        b"\xff" * 1000,
        (2**62).to_bytes(8, "little") + b"{}",
        (100).to_bytes(8, "little") + b"{" * 100,
        (2).to_bytes(8, "little") + b"{}",
        *(
            len(header).to_bytes(8, "little") + header
            for header in (
                b'{"a":{"dtype":"F32","shape":[1000000000000],"data_offsets":[0,4000000000000]}}',
                b'{"a":{"dtype":"BF16","shape":[1],"data_offsets":[0,2]}}  ',
                b'{"a":' + b"[" * 10_000 + b"]" * 10_000 + b"}",
            )
        ),
    ],
    ids=range(9),
)
def test_a_file_of_weights_that_is_something_else_is_refused(
    directory: Path, content: bytes
) -> None:
    (directory / WEIGHTS).write_bytes(content)
    sign(directory)

    assert WEIGHTS in assert_refused(directory)


@pytest.mark.parametrize("content", ["", "[]", '{"notes": 3}', '{"notes": "abc"}', DEEP])
def test_notes_that_cannot_be_read_are_none(directory: Path, content: str) -> None:
    (directory / MANIFEST).write_text(content, encoding="utf-8")

    assert read_notes(directory) is None
