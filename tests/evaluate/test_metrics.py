"""Cases worked by hand, one for each rule of the evaluation."""

import math

import numpy as np
import pytest

from phraseloom.errors import CorpusError
from phraseloom.evaluate.metrics import ndcg
from phraseloom.evaluate.phrases import Judged, judge_stems, judge_text, split_words
from phraseloom.evaluate.rankings import alpha_gains, ideal_alpha_gains
from phraseloom.evaluate.report import score_documents

SOURCE = "a b c d e f g h"


def values(*documents: Judged) -> dict[str, float]:
    return score_documents(documents).values


def test_filled_precision_counts_missing_predictions_as_wrong_and_unfilled_does_not() -> None:
    found = values(judge_text(SOURCE, ["a", "b", "c", "d"], ["a", "x y", "h", "b"]))

    # present predictions a, h, b: the absent "x y" is set aside before the cut-off
    assert found["present.filled.macro.precision@5"] == pytest.approx(2 / 5)
    assert found["present.unfilled.macro.precision@5"] == pytest.approx(2 / 3)
    assert found["present.macro.precision@M"] == pytest.approx(2 / 3)
    assert found["present.macro.recall@5"] == pytest.approx(2 / 4)
    assert found["present.filled.macro.f1@5"] == pytest.approx(2 * 0.4 * 0.5 / 0.9)
    assert found["present.filled.macro.precision@O"] == pytest.approx(2 / 4)  # four targets
    assert found["present.unfilled.macro.precision@O"] == pytest.approx(2 / 3)
    assert found["present.predicted"] == 3
    assert found["present.correct"] == 2
    assert found["absent.predicted"] == 1
    assert found["all.filled.macro.precision@10"] == pytest.approx(2 / 10)


def test_the_cut_off_at_five_ignores_what_follows() -> None:
    found = values(judge_text(SOURCE, ["f", "a"], ["a", "b", "c", "d", "e", "f"]))

    assert found["present.filled.macro.precision@5"] == pytest.approx(1 / 5)
    assert found["present.unfilled.macro.precision@5"] == pytest.approx(1 / 5)  # not of six
    assert found["present.macro.recall@5"] == pytest.approx(1 / 2)
    assert found["present.macro.recall@10"] == 1
    assert found["present.filled.macro.precision@O"] == pytest.approx(1 / 2)  # only a, b


def test_macro_mean_and_micro_are_three_numbers() -> None:
    found = values(
        judge_text(SOURCE, ["a"], ["a"]),  # P 1, R 1
        judge_text(SOURCE, ["a", "b", "c", "d"], ["a", "e"]),  # P 1/2, R 1/4, F1 1/3
        judge_text(SOURCE, ["a"], []),  # nothing predicted: zero, and still a document
    )

    precision, recall = 1.5 / 3, 1.25 / 3
    assert found["present.macro.f1@M"] == pytest.approx(
        2 * precision * recall / (precision + recall)
    )
    assert found["present.mean.f1@M"] == pytest.approx((1 + 1 / 3) / 3)
    assert found["present.micro.precision@M"] == pytest.approx(2 / 3)
    assert found["present.micro.recall@M"] == pytest.approx(2 / 6)
    assert found["present.micro.f1@M"] == pytest.approx(2 * 2 / (3 + 6))
    # filled: five for each of the two lists that hold something
    assert found["present.micro.precision@5"] == pytest.approx(2 / 10)


def test_a_document_without_present_targets_has_no_recall_and_still_counts() -> None:
    found = values(judge_text(SOURCE, ["x"], ["a"]), judge_text(SOURCE, ["a"], ["a"]))

    assert found["present.macro.precision@M"] == pytest.approx(1 / 2)
    assert found["present.macro.recall@M"] == pytest.approx(1 / 2)


def test_ndcg_compares_with_the_same_list_hits_first() -> None:
    found = values(judge_text(SOURCE, ["b", "d", "h"], ["a", "b", "c", "d"]))

    gained = 1 / math.log2(3) + 1 / math.log2(5)
    assert found["present.ndcg@10"] == pytest.approx(gained / (1 + 1 / math.log2(3)))


def test_map_sums_precision_at_hits_over_the_number_of_targets() -> None:
    found = values(judge_text(SOURCE, ["b", "d", "h", "g"], ["a", "b", "c", "d", "e", "g"]))

    assert found["present.map@5"] == pytest.approx((1 / 2 + 2 / 4) / 4)
    assert found["present.map@10"] == pytest.approx((1 / 2 + 2 / 4 + 3 / 6) / 4)


def test_alpha_ndcg_halves_what_a_target_is_worth_each_time_it_is_met() -> None:
    document = judge_text("x y z", ["x y", "z"], ["x", "y", "x y", "z"])
    gains, ideal = [1, 0.5, 0.25, 1], [1, 1, 0.5, 0.25]

    discounts = [1 / math.log2(rank + 1) for rank in range(1, 5)]
    expected = sum(g * d for g, d in zip(gains, discounts, strict=True)) / sum(
        g * d for g, d in zip(ideal, discounts, strict=True)
    )
    assert values(document)["present.alpha_ndcg@10"] == pytest.approx(expected)


def test_alpha_relevance_is_by_characters_not_words() -> None:
    found = values(judge_text("graph hypergraph", ["hypergraph"], ["graph"]))

    assert found["present.alpha_ndcg@10"] == 1
    assert found["present.ndcg@10"] == 0


def test_alpha_ndcg_is_held_at_one_where_the_greedy_order_is_not_the_best() -> None:
    size = 9
    left, right = list(range(size)), list(range(size, 2 * size))
    fresh = iter(range(2 * size, 5 * size))
    lists = [
        left + [next(fresh) for _ in range(size)],
        right + [next(fresh) for _ in range(size)],
        [*left, *right, next(fresh)],  # greedy takes this one first, and is worse off for it
    ]

    gains, ideal = np.array([alpha_gains(lists)]), np.array([ideal_alpha_gains(lists)])
    discounts = 1 / np.log2([2, 3, 4])

    assert (gains * discounts).sum() > (ideal * discounts).sum()
    assert ndcg(gains, ideal, np.array([10.0])) == 1


def test_words_are_compared_by_stems_whatever_their_case() -> None:
    found = values(judge_text("Neural networks learn", ["neural network"], ["Neural Networks"]))

    assert found["present.macro.f1@M"] == 1


def test_numbers_are_compared_as_they_are() -> None:
    found = values(judge_text("the 1990 census", ["1990 census"], ["1991 census"]))

    assert found["present.targets"] == 1
    assert found["present.predicted"] == 0  # another year, so it is absent


@pytest.mark.parametrize("said", ["", " ", "a , b", "a . b", "<unk> a", "."])
def test_empty_and_broken_predictions_are_dropped(said: str) -> None:
    found = values(judge_text("a , b . <unk> a", ["a"], [said, "a"]))

    assert found["all.predicted"] == 1
    assert found["present.macro.precision@M"] == 1


def test_a_present_phrase_stands_in_a_row_in_whole_words() -> None:
    document = judge_text("deep graph model", [], ["graph model", "deep model", "graph mod"])
    found = values(document)

    assert found["present.predicted"] == 1
    assert found["absent.predicted"] == 2


def test_diversity_rates() -> None:
    found = values(judge_text("a b c", [], ["a b", "a", "a b", "c"]))

    assert found["all.duplicate_rate"] == pytest.approx(1 / 4)
    assert found["all.nested_rate"] == pytest.approx(1 / 3)  # a in a b
    assert found["all.repeated_word_rate"] == pytest.approx(1 / 4)  # a b | a | c


def test_a_nested_phrase_is_made_of_whole_words() -> None:
    found = values(judge_text("graph hypergraph", [], ["graph", "hypergraph"]))

    assert found["all.nested_rate"] == 0


def test_natural_text_is_parted_at_hyphens_and_punctuation() -> None:
    document = judge_text(
        "Out-of-print books, mostly.", ["out-of-print books"], ["Print books"], split=split_words
    )

    assert values(document)["present.targets"] == 1
    assert values(document)["present.predicted"] == 1


def test_stems_and_text_make_the_same_document() -> None:
    text = judge_text("graph models", ["models"], ["graph models"])
    stems = judge_stems(["graph", "model"], [["model"]], [["graph", "model"]])

    assert text == stems


def test_no_documents_are_an_error_not_a_score() -> None:
    with pytest.raises(CorpusError, match="no documents"):
        score_documents([])
