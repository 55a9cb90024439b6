"""How much a list repeats itself: counts for one document, which the report turns into rates."""

from collections.abc import Sequence

from phraseloom.evaluate.phrases import Phrase


def count_nested(unique: Sequence[Phrase]) -> int:
    """Predictions whose words stand in a row inside another prediction of the same list.

    >>> count_nested(["graph model", "graph", "model tree"])
    1
    """
    padded = [f" {phrase} " for phrase in unique]
    together = "\n".join(padded)  # no word holds a line feed, so no match spans two phrases
    return sum(together.count(phrase) > 1 for phrase in padded)


def count_repeated_words(unique: Sequence[Phrase]) -> tuple[int, int]:
    """Words that an earlier prediction of the list has already used, and words in all.

    >>> count_repeated_words(["graph model", "graph theory"])
    (1, 4)
    """
    seen: set[str] = set()
    repeated = total = 0
    for phrase in unique:
        words = phrase.split(" ")
        repeated += sum(word in seen for word in words)
        total += len(words)
        seen.update(words)
    return repeated, total
