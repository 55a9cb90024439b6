"""A network before its first step, and in its first ones."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from experiments.depth import STARTS
from tests.train.runs import make_rows, tiny_values, to_toml, write_corpus


def test_every_start_is_measured_once_and_drawn_again(
    experiment: Callable[..., Any], result: Callable[..., Any], tmp_path: Path
) -> None:
    corpus = write_corpus(tmp_path / "corpus", make_rows(8))
    values = tiny_values(corpus, corpus)
    values["model"] |= {"layers": 3, "residual": False}
    (tmp_path / "run.toml").write_text(to_toml(values), encoding="utf-8")
    arguments = ("depth", tmp_path / "run.toml", "--steps", 2)

    outcome = experiment(*arguments)

    assert outcome.status == 0, outcome.err
    rows = {row["name"]: row for row in result("depth")["rows"]}
    assert list(rows) == list(STARTS)
    assert [len(row["differences"]) for row in rows.values()] == [4, 4, 4, 3]
    usual, wide = rows["usual initial weights"], rows["wide initial weights"]
    assert usual["differences"][0] == wide["differences"][0], "the BiGRU is the same"
    assert usual["differences"][-1] < wide["differences"][-1]
    assert all(len(row["losses"]) == 2 for row in rows.values())
    assert experiment(*arguments).out == outcome.out
    assert experiment("draw", "depth").out == outcome.out
