"""What must hold of every score, whatever the documents; and agreement with a second scorer."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phraseloom.evaluate.phrases import Judged, judge_text
from phraseloom.evaluate.report import score_documents
from tests.evaluate.naive_scoring import Raw, naive_scores

WORDS = ["graph", "graphs", "model", "neural", "networks", "Tree", "mode", "x"]
MARKS = [",", ".", "<unk>", "<digit>"]
COUNTS = ("predicted", "correct", "targets")
RATES = ("duplicate_rate", "nested_rate", "repeated_word_rate")

phrases = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
marked_phrases = st.lists(st.sampled_from(WORDS + MARKS), max_size=3).map(" ".join)
sources = st.lists(st.sampled_from(WORDS + MARKS), max_size=25).map(" ".join)
raw_documents = st.builds(
    Raw,
    sources,
    st.lists(marked_phrases, max_size=8),
    st.lists(marked_phrases, max_size=14),
)
raw_corpora = st.lists(raw_documents, min_size=1, max_size=5)


def judge(documents: list[Raw]) -> list[Judged]:
    return [judge_text(*document) for document in documents]


def values(documents: list[Raw]) -> dict[str, float]:
    return score_documents(judge(documents)).values


def is_quality(key: str) -> bool:
    """Whether higher is better: neither a count nor a rate of repetition."""
    return not key.endswith(COUNTS + RATES)


@given(raw_corpora)
@settings(max_examples=100, deadline=None)
def test_the_naive_second_implementation_agrees(documents: list[Raw]) -> None:
    found, expected = values(documents), naive_scores(documents)

    assert {key for key in found if not key.endswith(RATES)} == expected.keys()
    assert {key: found[key] for key in expected} == pytest.approx(expected, abs=1e-12)


@given(raw_corpora)
@settings(max_examples=30, deadline=None)
def test_every_score_lies_between_zero_and_one(documents: list[Raw]) -> None:
    found = values(documents)

    outside = {k: v for k, v in found.items() if not k.endswith(COUNTS) and not 0 <= v <= 1}
    assert outside == {}


@given(raw_documents, st.randoms(use_true_random=False))
@settings(max_examples=30, deadline=None)
def test_the_order_of_the_targets_is_irrelevant(document: Raw, chance: random.Random) -> None:
    shuffled = chance.sample(document.targets, k=len(document.targets))

    assert values([document._replace(targets=shuffled)]) == values([document])


@given(raw_corpora, st.randoms(use_true_random=False))
@settings(max_examples=30, deadline=None)
def test_the_order_of_the_documents_is_irrelevant(
    documents: list[Raw], chance: random.Random
) -> None:
    shuffled = chance.sample(documents, k=len(documents))

    assert values(shuffled) == pytest.approx(values(documents), abs=1e-12)


@given(raw_documents.filter(lambda document: document.predictions), st.data())
@settings(max_examples=30, deadline=None)
def test_saying_a_phrase_twice_changes_nothing_but_the_duplicate_rate(
    document: Raw, data: st.DataObject
) -> None:
    first = data.draw(st.integers(0, len(document.predictions) - 1))
    place = data.draw(st.integers(first + 1, len(document.predictions)))
    repeated = list(document.predictions)
    repeated.insert(place, document.predictions[first])

    before, after = values([document]), values([document._replace(predictions=repeated)])

    changed = {key for key in before if before[key] != after[key]}
    assert all(key.endswith("duplicate_rate") for key in changed)
    assert all(after[key] >= before[key] for key in changed)


@given(sources, st.lists(phrases, min_size=1, max_size=8, unique=True))
@settings(max_examples=30, deadline=None)
def test_a_perfect_list_scores_one(source: str, targets: list[str]) -> None:
    found = values([Raw(source, targets, targets)])

    at_m = [f"all.{average}.f1@M" for average in ("macro", "mean", "micro")]
    for key in (*at_m, "all.filled.macro.f1@O", "all.map@M", "all.ndcg@10"):
        assert found[key] == pytest.approx(1)


@given(st.lists(phrases, max_size=5), st.lists(phrases, max_size=5))
@settings(max_examples=30, deadline=None)
def test_a_list_without_a_right_phrase_scores_zero(targets: list[str], said: list[str]) -> None:
    wrong = [f"zzz{phrase}" for phrase in said]

    found = values([Raw(" ".join(targets + wrong), targets, wrong)])

    assert {key: value for key, value in found.items() if is_quality(key) and value} == {}


@given(raw_corpora)
@settings(max_examples=30, deadline=None)
def test_present_and_absent_add_up_to_all(documents: list[Raw]) -> None:
    found = values(documents)

    for count in COUNTS:
        parts = found[f"present.{count}"] + found[f"absent.{count}"]
        assert found[f"all.{count}"] == pytest.approx(parts)


@given(raw_corpora)
@settings(max_examples=30, deadline=None)
def test_fewer_parts_give_the_same_values(documents: list[Raw]) -> None:
    full = score_documents(judge(documents)).values
    light = score_documents(judge(documents), parts=["present"]).values

    assert light == {key: value for key, value in full.items() if key.startswith("present.")}
