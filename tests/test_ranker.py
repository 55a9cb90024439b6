"""Laws of the ranker on a parsed text; weights are chosen so that one feature decides."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from phraseloom.config import StyleRanking
from phraseloom.errors import CheckpointError
from phraseloom.features import FEATURES, Found, spread_over_regions
from phraseloom.keyphrase import ScoredStems
from phraseloom.network.lexicon import Glossary, Lexicon, PhraseCounts
from phraseloom.ranker import (
    ListOptions,
    check_ranking,
    choose_list,
    describe_candidates,
    rank_phrases,
    score_candidates,
    weight_vector,
)
from phraseloom.text.document import Document, Source
from phraseloom.text.parsers import load_parser
from phraseloom.text.phrases import REGION, Stems, count_phrases
from phraseloom.text.words import stem_phrase
from tests.builders import make_english_lexicon

TEXT = (
    "Severe property damage followed. The property damage was severe, and single sign-on failed. "
    "Hurricane Andrew hit Florida; the damage of Hurricane Andrew was insured by the bank of Oslo."
)
LEXICON = make_english_lexicon()
OPTIONS = ListOptions(lambda1=0.0, max_phrases=10)


@pytest.fixture(scope="module")
def document() -> Document:
    return load_parser("spacy").parse_batch([Source(TEXT, "Property damage")])[0]


def names(
    document: Document, weights: dict[str, float], options: ListOptions = OPTIONS
) -> list[str]:
    found = Found([ScoredStems(("damag",), 0.4), ScoredStems(("properti",), 0.3)])
    ranking = StyleRanking(weights=weights, min_score=0.0, min_phrases=1)
    phrases = rank_phrases(document, found, ranking, LEXICON, options)
    return [" ".join(phrase.stems) for phrase in phrases]


def test_occurrences_are_whole_keep_their_head_or_are_cut(document: Document) -> None:
    wanted = [("properti", "damag"), ("damag",), ("properti",), ("sever", "properti")]
    counts = count_phrases(document, wanted)

    assert (counts[wanted[0]].whole, counts[wanted[0]].tail) == (2, 1)  # title and text; "severe …"
    assert counts[wanted[0]].in_title
    assert counts[wanted[1]].tail == 3
    assert counts[wanted[2]].occurrences == 3
    assert counts[wanted[2]].whole == counts[wanted[2]].tail == 0
    assert counts[wanted[3]].whole == counts[wanted[3]].tail == 0


def test_noun_phrases_joined_by_a_preposition_are_told(document: Document) -> None:
    phrase = ("bank", "of", "oslo")

    assert count_phrases(document, [phrase])[phrase].joined == 1


def test_what_cuts_a_hyphenated_word_is_no_candidate(document: Document) -> None:
    found = Found([ScoredStems(("singl", "sign"), 0.9), ScoredStems(("singl", "sign", "on"), 0.1)])

    phrases, _ = describe_candidates(document, found, LEXICON, OPTIONS)

    assert ("singl", "sign") not in phrases
    assert ("singl", "sign", "on") in phrases


def test_noun_phrases_are_candidates_unless_only_what_was_found_may_be_listed(
    document: Document,
) -> None:
    weights = {"log_odds": 1.0}

    assert "hurrican andrew" in names(document, weights)
    only = ListOptions(lambda1=0.0, max_phrases=10, only_found=True)
    assert names(document, weights, only) == ["damag", "properti"]


def test_the_network_may_say_which_words_matter(document: Document) -> None:
    found = Found([ScoredStems(("damag",), 0.4)], {"hurrican": 3.0, "andrew": -1.0, "damag": 1.0})

    phrases, features = describe_candidates(document, found, LEXICON, OPTIONS)

    of = dict(zip(phrases, features[:, [FEATURES.index("importance")]].tolist(), strict=True))
    least = features[:, FEATURES.index("least_important")]
    assert of["hurrican", "andrew"] == [1.0]
    assert least[phrases.index(("hurrican", "andrew"))] == -1.0
    assert least[phrases.index(("florida",))] < -1.0  # of which it says nothing


def test_a_part_knows_of_the_most_probable_phrase_around_it(document: Document) -> None:
    found = Found([ScoredStems(("damag",), 0.2), ScoredStems(("properti", "damag"), 0.5)])

    phrases, features = describe_candidates(document, found, LEXICON, OPTIONS)

    longer = features[:, FEATURES.index("longer_odds")]
    assert longer[phrases.index(("damag",))] == pytest.approx(0.0)  # log odds of .5
    assert longer[phrases.index(("properti", "damag"))] < -1.0


def test_modifiers_and_times_are_told() -> None:
    text = "The old town council met last year."
    [document] = load_parser("spacy").parse_batch([Source(text)])
    counts = count_phrases(document, [("town",), ("council",), ("last", "year")])

    assert (counts["town",].modifiers, counts["council",].modifiers) == (1, 0)
    assert (counts["last", "year"].adverbials, counts["council",].adverbials) == (1, 0)


@pytest.mark.parametrize(
    ("phrase", "is_stray"),
    [
        ("insurance information institute", False),
        ("information institute", True),  # a part of the name
        ("institute", False),  # of one word; tags have family names
        ("severe", True),
        ("damage", False),  # ends a noun phrase
        ("tuesday", True),
    ],
)
def test_what_is_hardly_a_term_is_stray_unless_collections_list_it(
    phrase: str, is_stray: bool
) -> None:
    text = "The Insurance Information Institute saw severe damage on Tuesday."
    [document] = load_parser("spacy").parse_batch([Source(text)])
    stems = stem_phrase(phrase)
    glossary = Glossary({" ".join(stems): PhraseCounts(50, 60)})

    def is_stray_for(lexicon: Lexicon) -> bool:
        found = Found([ScoredStems(stems, 0.5)])
        phrases, features = describe_candidates(document, found, lexicon, OPTIONS)
        return bool(features[phrases.index(stems), FEATURES.index("stray")])

    assert is_stray_for(LEXICON) == is_stray
    assert not is_stray_for(replace(LEXICON, glossary=glossary))


@pytest.mark.parametrize(("times", "is_spread"), [(1, 0), (REGION // 4, 1)])
def test_only_in_a_long_text_it_counts_where_a_term_stands(times: int, is_spread: int) -> None:
    sentence = "A red kite sat on the old wall of a house. "  # ten words and a stop
    sources = [Source(sentence * times + "The lighthouse was blue.")]
    [document] = load_parser("spacy").parse_batch(sources)

    phrases, features = describe_candidates(document, Found([]), LEXICON, OPTIONS)

    regions = features[:, FEATURES.index("regions")]
    assert (regions[phrases.index(("red", "kite"))] > 0) == is_spread
    assert regions[phrases.index(("lighthous",))] == 0


def test_scores_of_a_few_words_are_no_surer_than_those_of_a_short_text() -> None:
    sources = [Source("Red kites eat red apples. " * times) for times in (1, 4, 90)]
    parsed = load_parser("spacy").parse_batch(sources)

    few, short, long = (
        describe_candidates(document, Found([]), LEXICON, OPTIONS)[1][0] for document in parsed
    )

    place = FEATURES.index("long_text")
    assert few[place] == short[place] < long[place]


def test_a_long_text_has_a_longer_list() -> None:
    scores: dict[Stems, float] = {(f"word{number}",): 0.5 for number in range(40)}

    def count(tokens: int, top: int | None = None) -> int:
        options = ListOptions(lambda1=0.0, max_phrases=10, top=top)
        return len(choose_list(scores, [], StyleRanking(), options, tokens, {}))

    assert count(200) == count(REGION) == 10
    assert count(4 * REGION) == 20
    assert count(4 * REGION, top=10) == 10


def test_a_weight_moves_what_has_its_feature(document: Document) -> None:
    assert names(document, {"log_odds": 1.0})[0] == "damag"
    assert names(document, {"log_odds": 1.0, "whole": 9.0})[0] != "damag"
    assert names(document, {"name": 9.0, "two_words": 1.0})[0] == "hurrican andrew"


def test_scores_do_not_change_with_seeds_or_diversity(document: Document) -> None:
    found = Found([ScoredStems(("damag",), 0.4), ScoredStems(("properti", "damag"), 0.3)])
    ranking = StyleRanking(weights={"log_odds": 1.0}, min_score=0.0, min_phrases=1)

    def scores(**changes: object) -> dict[tuple[str, ...], float]:
        options = ListOptions(**{"lambda1": 0.0, "max_phrases": 99, **changes})  # type: ignore[arg-type]
        return dict(rank_phrases(document, found, ranking, LEXICON, options))

    assert scores() == scores(seeds=[("oslo",)]) == scores(lambda1=2.0)
    assert next(iter(scores())) == ("damag",)
    assert next(iter(scores(seeds=[("properti",)]))) == ("properti", "damag")


def test_excluded_and_too_long_phrases_are_not_listed(document: Document) -> None:
    excluded = ListOptions(lambda1=0.0, max_phrases=99, excluded={("hurrican", "andrew")})
    short = ListOptions(lambda1=0.0, max_phrases=99, lengths=range(1, 2))

    assert "hurrican andrew" not in names(document, {"log_odds": 1.0}, excluded)
    assert all(" " not in name for name in names(document, {"log_odds": 1.0}, short))


def test_exactly_as_many_as_asked_for(document: Document) -> None:
    assert len(names(document, {"log_odds": 1.0}, ListOptions(0.0, 10, top=3))) == 3


def test_a_text_of_some_length_is_filled_up_to_the_least_number() -> None:
    text = " ".join(["The old harbour of the town has a long wall and a small lighthouse."] * 5)
    document = load_parser("spacy").parse_batch([Source(text)])[0]
    ranking = StyleRanking(weights={"bias": -2.0}, min_score=0.5, min_phrases=3)

    assert len(rank_phrases(document, Found([]), ranking, LEXICON, OPTIONS)) == 3
    short = load_parser("spacy").parse_batch([Source("The old harbour has a long wall.")])[0]
    assert len(rank_phrases(short, Found([]), ranking, LEXICON, OPTIONS)) == 1


def test_a_text_of_one_kind_may_be_listed_to_two_tastes() -> None:
    features = np.ones((1, len(FEATURES)))
    weights_of = {"editor": {"bias": 2.0}, "reader": {"bias": -1.0}}
    shares = {"editor": {"editor": 0.75, "reader": 0.25}}
    kinds = {"editor": 0.8, "reader": 0.2}

    [alone] = score_candidates(features, StyleRanking(weights_of=weights_of), kinds)
    ranking = StyleRanking(weights_of=weights_of, taste_of=shares)
    [shared] = score_candidates(features, ranking, kinds)

    editor, reader = 1 / (1 + math.exp(-2.0)), 1 / (1 + math.exp(1.0))
    assert alone == pytest.approx(0.8 * editor + 0.2 * reader)
    assert shared == pytest.approx(0.6 * editor + 0.4 * reader)


def test_weights_of_unknown_features_are_refused() -> None:
    check_ranking(StyleRanking(weights={"bias": 1.0}), Path("model"))
    with pytest.raises(CheckpointError, match="model: ranking has a weight of 'shininess'"):
        check_ranking(StyleRanking(weights_of={"poem": {"shininess": 1.0}}), Path("model"))
    assert len(weight_vector({})) == len(FEATURES)


def test_a_part_of_a_likely_term_comes_after_it() -> None:
    scores = {("lentil",): 0.5, ("soup",): 0.9, ("lentil", "soup"): 0.4, ("onion",): 0.45}
    lists = {
        share: [
            " ".join(phrase.stems)
            for phrase in choose_list(
                scores,
                [("lentil", "soup")],
                StyleRanking(term_share=share),
                ListOptions(lambda1=0.0, max_phrases=10, top=4),
                100,
                {},
            )
        ]
        for share in (1.0, 0.7)
    }

    assert lists[1.0] == ["soup", "lentil", "onion", "lentil soup"]
    assert lists[0.7] == ["soup", "onion", "lentil soup", "lentil"]  # soup is far more likely


def test_a_list_ends_where_phrases_say_nothing_new_and_says_what_each_is_worth_alone() -> None:
    scores = {("lentil", "soup"): 0.8, ("lentil",): 0.3, ("onion",): 0.2}
    everyday = StyleRanking(min_score=0.15, min_phrases=1, lambda1_of={"everyday": 10.0})

    def choose(chance: float, *, is_diverse: bool) -> dict[tuple[str, ...], float]:
        options = ListOptions(lambda1=0.1, max_phrases=10, is_diverse=is_diverse)
        phrases = choose_list(scores, [], everyday, options, 100, {"everyday": chance})
        return {phrase.stems: phrase.score for phrase in phrases}

    assert choose(0.0, is_diverse=False) == scores
    assert choose(1.0, is_diverse=True) == scores  # as the caller wants it
    assert choose(1.0, is_diverse=False) == {
        ("lentil", "soup"): 0.8,
        ("onion",): 0.2,
    }


def test_how_spread_out_a_phrase_is_counts_little_by_little_in_longer_texts() -> None:
    lengths = [2 * REGION, 3 * REGION, 4 * REGION, 9 * REGION]

    values = [spread_over_regions(np.array([3.0]), tokens)[0] for tokens in lengths]

    assert values[0] == 0 < values[1] < values[2]
    assert values[2] == values[3] == pytest.approx(math.log(3))
