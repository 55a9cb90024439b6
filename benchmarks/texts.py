"""Made-up abstracts: sentences of a few patterns, filled with words of a few fields.

About 170 tokens and 90 distinct stems, as abstracts have; the same for the same seed.
"""

import random

_PATTERNS = (
    "We present a {a} {n} that draws the {n} of a {n} in {a} time.",
    "In contrast to earlier work on {a} {n}, no {a} {n} is needed for {n}.",
    "Experiments on {d} data sets show that {a} {n} improves the {n} by 3.2 points.",
    "The {n} layer, which merges {a} {n} with one {n}, is small and easy to implement.",
    "Users of {a} libraries search for {n} by means of their {n} and {n}.",
    "However, it is unclear how {a} {n} behave when {n} are long or badly punctuated.",
    "A {n} that reads {a} {n} can be trained on two cores within a few hours.",
    "Finally, we discuss the limits of {a} {n} and describe {d} directions for future {n}.",
    "To this end, {n} are computed from the {n} of each {n} (see also {a} {n}).",
    "This paper studies {a} {n}: given a {n}, find the {n} whose {n} is least {a}.",
    "Both the {n} and its {n} are stable under {a} {n}, as {d} {n} confirm.",
    "Among {d} methods, {a} {n} and {a} {n} are the most widely used.",
)
_ADJECTIVES = """
sparse dense dynamic static linear bounded noisy robust spectral parallel distributed
adaptive recurrent convolutional probabilistic discrete continuous optimal approximate
supervised hierarchical symmetric thermal elastic magnetic genetic molecular clinical
acoustic optical
"""
_NOUNS = """
graph tree network matrix kernel sensor channel protocol database query index compiler
lattice polymer protein receptor tissue enzyme catalyst crystal laser antenna circuit
voltage turbine controller estimator filter signal speech corpus grammar parser summary
keyphrase embedding gradient likelihood posterior sampler cluster partition schedule
robot trajectory image texture segmentation retrieval ranking recommender auction market
inventory supply traffic
"""
_NUMBERS = ("two", "three", "five", "12", "20")


def make_texts(count: int, *, seed: int = 0, sentences: int = 10) -> list[str]:
    """Abstracts of ten sentences, of which no two are alike."""
    chance = random.Random(seed)
    return [_make_text(chance, sentences) for _ in range(count)]


def _make_text(chance: random.Random, sentences: int) -> str:
    # a paper keeps to its subject: a few words come again and again, a made-up one with them
    nouns = [*chance.sample(_NOUNS.split(), 12), "".join(chance.choices("abdeilmnorstu", k=7))]
    adjectives = chance.sample(_ADJECTIVES.split(), 6)
    patterns = chance.choices(_PATTERNS, k=sentences)
    return " ".join(_fill(chance, pattern, nouns, adjectives) for pattern in patterns)


def _fill(chance: random.Random, pattern: str, nouns: list[str], adjectives: list[str]) -> str:
    for mark, words in (("{n}", nouns), ("{a}", adjectives), ("{d}", _NUMBERS)):
        while mark in pattern:
            pattern = pattern.replace(mark, chance.choice(words), 1)
    return pattern
