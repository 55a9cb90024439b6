r"""Which phrases make the list: what the search says of each, and how it stands in the text.

The network has learned what annotators choose. It does not see whether a phrase is whole ("severe
property damage") or cut ("severe property"), nor, in a long text, anything outside its window. Both
can be counted, so a small logistic model, fitted on validation documents, puts them together:

.. math:: P(y) = \sum_k P(k)\, \sigma(w_k \cdot f(y))

That is equation (R1). P(k) is the chance that the text is of kind k: one whose keyphrases its
author picks, an indexer, an editor or a reader; its words tell. The features f are those of
`features.FEATURES`; the weights of each style can be read in a model's ``config.json``. A score is
that probability. All noun phrases of a text are candidates too, so that a text unlike all that the
network was trained on still gets a list.
"""

import math
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from phraseloom.config import StyleRanking
from phraseloom.errors import CheckpointError
from phraseloom.features import FEATURES, Found, count_tokens, phrase_features
from phraseloom.keyphrase import ScoredStems
from phraseloom.network.lexicon import NEVER_SEEN, Lexicon, stem_runs
from phraseloom.search.constraints import SEED_FACTOR
from phraseloom.search.decode import diversify
from phraseloom.text.document import Document
from phraseloom.text.phrases import REGION, Stems, count_phrases
from phraseloom.text.terms import (
    Place,
    TermLabels,
    label_phrases,
    nested_places,
    phrase_places,
)
from phraseloom.text.words import is_word

MIN_WORTH = 0.03  # worth of what is taken to fill a list up
_JUST_BELOW = 1 - 1e-9
_FULL_TEXT = 60  # tokens of a text that is long enough for a list of the full length


Kinds = Mapping[str, float]
"""The chance of each kind of text, see `tell_kinds`."""
_NO_KINDS: Kinds = {}


def check_ranking(ranking: StyleRanking, path: Path) -> None:
    """Refuse weights of what is no feature; ``path`` is the model that they are of."""
    for name in {*ranking.weights}.union(*ranking.weights_of.values()) - {*FEATURES}:
        raise CheckpointError(f"{path}: ranking has a weight of {name!r:.50}, which is no feature")


def weight_vector(weights: Mapping[str, float]) -> NDArray[np.float64]:
    """Weights in the order of `FEATURES`; one that is not named counts nothing."""
    return np.array([weights.get(name, 0.0) for name in FEATURES])


def score_candidates(
    features: NDArray[np.float64], ranking: StyleRanking, kinds: Kinds
) -> NDArray[np.float64]:
    """The chance of each candidate, ``(C,)``: equation (R1), k shared among tastes, if any."""
    if not ranking.weights_of:
        return sigmoid(features @ weight_vector(ranking.weights))
    scores = np.zeros(len(features))  # (C,)
    for kind, chance in kinds.items():
        for taste, share in ranking.taste_of.get(kind, {kind: 1.0}).items():
            weights = weight_vector(ranking.weights_of.get(taste, {}))
            scores += chance * share * sigmoid(features @ weights)
    return scores


def tell_kinds(
    vector: NDArray[np.float64], weights: Mapping[str, Sequence[float]]
) -> dict[str, float]:
    """The chance of each kind of text, equation (R2), by what `kind_vector` says of one."""
    odds = {kind: float(sigmoid(vector @ np.array(of))) for kind, of in weights.items()}
    total = sum(odds.values()) or 1.0
    return {kind: chance / total for kind, chance in odds.items()}


def sigmoid(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """From any number to a probability."""
    return 1 / (1 + np.exp(-x))


@dataclass(frozen=True)
class ListOptions:
    """What the list of one document should be.

    Attributes:
        lambda1: weight of what a phrase has in common with those before it.
        is_diverse: whether a caller chose it, so that a style may not.
        max_phrases: at most, unless ``top`` says how many; of a long text some more.
        top: exactly so many, as far as there are.
        min_score: nothing below it; none: the style's own.
        lengths: of phrases, in words.
        excluded: stems of phrases that are never returned.
        seeds: stems of phrases to steer towards.
        only_found: whether nothing but what the search found may be returned.
    """

    lambda1: float
    max_phrases: int
    top: int | None = None
    min_score: float | None = None
    lengths: range = range(1, 7)
    excluded: Collection[Stems] = ()
    seeds: Sequence[Stems] = field(default=())
    only_found: bool = False
    is_diverse: bool = False


def rank_phrases(
    document: Document,
    found: Found,
    ranking: StyleRanking,
    lexicon: Lexicon,
    options: ListOptions,
    *,
    kinds: Kinds = _NO_KINDS,
) -> list[ScoredStems]:
    """The list of one document, best first, from all that the search found in it."""
    phrases, features = describe_candidates(document, found, lexicon, options)
    scores = score_candidates(features, ranking, kinds)  # (C,)
    score_of = dict(zip(phrases, scores.tolist(), strict=True))
    if lexicon.labels:
        score_of = best_forms(document, score_of, lexicon.labels)
    terms = whole_terms(phrases, features)
    return choose_list(score_of, terms, ranking, options, count_tokens(document), kinds)


def best_forms(
    document: Document, score_of: Mapping[Stems, float], labels: TermLabels
) -> dict[Stems, float]:
    """One form of each term, the most probable, and what stands anywhere outside the others.

    Or pieces of them would come up. A part of a longer form of the same term is no form there.
    """
    forms = label_phrases(document, labels, score_of)
    best: dict[str, Stems] = {}
    for stems in sorted(forms, key=lambda stems: -score_of[stems]):
        best.setdefault(forms[stems].label, stems)
    others = forms.keys() - best.values()
    found = [term for term in labels.find(document) if term.stems in score_of]
    nested = nested_places(found)
    passed_over: dict[int, list[Place]] = {}
    for term in found:
        if term.stems in others:
            passed_over.setdefault(term.place.sentence, []).append(term.place)
    shown = {
        stems
        for stems, place in phrase_places(document, score_of)
        if place not in nested and not any(map(place.is_inside, passed_over.get(place[0], ())))
    }
    return {stems: score for stems, score in score_of.items() if stems in shown - others}


def describe_candidates(
    document: Document, found: Found, lexicon: Lexicon, options: ListOptions
) -> tuple[list[Stems], NDArray[np.float64]]:
    """What may be listed, and its features, ``(C, F)``.

    What only ever cuts a hyphenated word apart may not.
    """
    chances = found.chances
    lengths, phrases = None, list(chances)
    found_terms = lexicon.labels.find(document) if lexicon.labels else ()
    terms = dict.fromkeys(term.stems for term in found_terms)
    if not options.only_found:
        lengths = options.lengths
        known = *terms, *listed_phrases(document, lexicon)
        phrases += [stems for stems in known if len(stems) in lengths]
    counts = {
        stems: counted
        for stems, counted in count_phrases(document, phrases, noun_phrases_of=lengths).items()
        if counted.occurrences > counted.split
        and (stems in chances or _is_allowed(stems, options, terms))
    }
    return list(counts), phrase_features(document, counts, found, lexicon)


def listed_phrases(document: Document, lexicon: Lexicon) -> Iterator[Stems]:
    """What stands in a document and is listed by a collection."""
    counts = lexicon.collection.counts
    for sentence in document.sentences if counts else ():
        for run, _, _ in stem_runs([token.stem for token in sentence.tokens]):
            if counts.get(run, NEVER_SEEN).keyphrase_count:
                yield tuple(run.split(" "))


def whole_terms(phrases: Sequence[Stems], features: NDArray[np.float64]) -> list[Stems]:
    """Phrases of several words that mostly stand as complete noun phrases."""
    is_whole = features[:, FEATURES.index("whole")] >= 0.5  # (C,)
    pairs = zip(phrases, is_whole.tolist(), strict=True)
    return [stems for stems, whole in pairs if whole and len(stems) > 1]


def choose_list(
    score_of: Mapping[Stems, float],
    terms: Sequence[Stems],
    ranking: StyleRanking,
    options: ListOptions,
    tokens: int,
    kinds: Kinds,
) -> list[ScoredStems]:
    """The best phrases in order, of a text of so many tokens; see `order_phrases`.

    A long text has more than others: by half of ``max_phrases`` each time it is twice as long.
    """
    ordered = order_phrases(score_of, terms, ranking, options, kinds)
    most = round(options.max_phrases * (1 + math.log2(max(tokens / REGION, 1)) / 2))
    if options.top is not None or options.min_score is not None:
        least = options.min_score or 0.0
        wanted = (phrase for phrase, _ in ordered if phrase.score >= least)
        return list(islice(wanted, options.top or most))
    fewest = ranking.min_phrases if tokens >= _FULL_TEXT else 1
    return list(islice(worth_listing(ordered, ranking.min_score, fewest), most))


def order_phrases(
    score_of: Mapping[Stems, float],
    terms: Sequence[Stems],
    ranking: StyleRanking,
    options: ListOptions,
    kinds: Kinds,
) -> Iterator[tuple[ScoredStems, float]]:
    """All phrases, each with what it is worth beside those before it.

    That also depends on seeds and on what phrases have in common, by equation (S9); scores do not,
    so that they stay what they are, chances: ``score_of`` has that of each candidate, ``kinds``
    that of each kind of text. Of the candidates, ``terms`` are `whole_terms`.
    """
    lambda1 = options.lambda1
    if not options.is_diverse:
        lambda1 *= 1 + sum(kinds.get(k, 0.0) * (by - 1) for k, by in ranking.lambda1_of.items())
    factors = {stems: _seed_factor(stems, options.seeds) for stems in score_of}
    worth = {
        stems: chance * factors[stems]
        for stems, chance in _terms_first(score_of, terms, ranking.term_share).items()
    }
    for stems, left in diversify(worth, lambda1):
        yield ScoredStems(stems, score_of[stems]), left / factors[stems]


def _terms_first(
    score_of: Mapping[Stems, float], terms: Sequence[Stems], share: float
) -> dict[Stems, float]:
    """Chances by which to order: what is part of a term comes just after it, if that is likely."""
    chance_around: dict[Stems, float] = {}
    for term in terms if share < 1 else ():
        chance = score_of.get(term, 0.0)
        for start in range(len(term)):
            for end in range(start + 1, len(term) + 1):
                part = term[start:end]
                if part != term:
                    chance_around[part] = max(chance, chance_around.get(part, 0.0))
    ordered = dict(score_of)
    for stems, chance in chance_around.items():
        if max(share * ordered.get(stems, 0.0), MIN_WORTH) <= chance <= ordered.get(stems, 0.0):
            ordered[stems] = chance * _JUST_BELOW
    return ordered


def worth_listing(
    ordered: Iterator[tuple[ScoredStems, float]], least: float, fewest: int
) -> Iterator[ScoredStems]:
    """What is worth enough beside those before it, and a few more to make a list."""
    taken = 0
    for phrase, worth in ordered:
        if worth >= least or (taken < fewest and worth >= MIN_WORTH):
            taken += 1
            yield phrase
        elif not taken:
            yield phrase
            return


def _is_allowed(stems: Stems, options: ListOptions, terms: Container[Stems]) -> bool:
    """Whether a noun phrase that the search did not find may be listed; a term may have marks."""
    return (stems in terms or all(map(is_word, stems))) and stems not in options.excluded


def _seed_factor(stems: Stems, seeds: Sequence[Stems]) -> float:
    """Of what a phrase is worth: 1 if it holds a whole seed, less for a part of one."""
    if not seeds:
        return 1.0
    share = max(len({*seed} & {*stems}) / len({*seed}) for seed in seeds)
    return SEED_FACTOR ** (share - 1)
