"""What the extractor returns: a phrase, its score, and every place where it stands."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from phraseloom.text.document import Document
from phraseloom.text.phrases import Span, SpanIndex
from phraseloom.text.terms import TermLabels, label_phrases


class ScoredStems(NamedTuple):
    """A phrase that the search found, before it is looked up in the text."""

    stems: tuple[str, ...]
    score: float


@dataclass(frozen=True, slots=True, repr=False)
class Keyphrase:
    """A phrase that stands in the text.

    Attributes:
        text: as it is most often written in the document; of a term, as its forms are.
        stems: Porter stems of its words, by which phrases are compared.
        score: in (0, 1], higher is better; the chance, as the model sees it, that a list of
            keyphrases has this one, less what earlier phrases of the list have already said of it.
            Of four digits, see `round_score`.
        rank: from 1.
        spans: every place in the text, as half-open ranges of characters.
        title_spans: the same in the title, if one was given apart.
        label: the preferred one of the vocabulary's term that this is a form of, if it is any.
    """

    text: str
    stems: tuple[str, ...]
    score: float
    rank: int
    spans: tuple[Span, ...]
    title_spans: tuple[Span, ...] = ()
    label: str | None = None

    def __str__(self) -> str:
        return f"{self.text} ({self.score:.3f})"

    def __repr__(self) -> str:
        """What a reader of a list wants to see; the stems are left out."""
        title = f", title_spans={list(self.title_spans)}" if self.title_spans else ""
        label = f", label={self.label!r}" if self.label else ""
        return (
            f"Keyphrase({self.text!r}, score={self.score:.3f}, rank={self.rank},"
            f" spans={list(self.spans)}{title}{label})"
        )


def round_score(score: float) -> float:
    """Four digits: the rest depends on the machine, and says nothing.

    >>> round_score(0.00123456)
    0.001235
    """
    return float(f"{score:.4g}")


def to_keyphrases(
    document: Document, phrases: Sequence[ScoredStems], labels: TermLabels | None
) -> list[Keyphrase]:
    """Phrases as they stand in the document, ranked in the order given.

    Args:
        document: that they stand in.
        phrases: best first.
        labels: preferred ones of the forms of a vocabulary, if there is one.
    """
    index = SpanIndex(document)
    forms = label_phrases(document, labels, {stems for stems, _ in phrases}) if labels else {}
    keyphrases = []
    for rank, (stems, score) in enumerate(phrases, start=1):
        text, spans, title_spans = index.find(stems)
        text = text or " ".join(stems)  # a free search may join words that stand apart
        text, label = forms.get(stems, (text, None))
        keyphrases.append(
            Keyphrase(text, stems, round_score(score), rank, spans, title_spans, label)
        )
    return keyphrases
