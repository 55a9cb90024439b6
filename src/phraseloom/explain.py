"""What a model saw while it found the keyphrases of a text, as plain data for a page to draw.

One sentence of the text after the other with its dependency arcs; then, phrase by phrase in the
order of decoding, the weight of every arc at that moment and what else could have been said.

An arc is two edges of the graph, and both weights are given: ``down`` carries what the head knows
to its dependent, ``up`` the other way. Self-loops are left out: they join no two words.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phraseloom.data.batch import FIRST_WORD
from phraseloom.data.example import Numbering
from phraseloom.data.graph import SELF_LOOP, build_edges
from phraseloom.data.lexicon import Lexicon
from phraseloom.extractor import Extractor, Keyphrase, cut_windows
from phraseloom.search.found import Found
from phraseloom.search.trace import Trace, TracedPhrase
from phraseloom.text.document import Document, Sentence, Source
from phraseloom.text.spans import SpanIndex

MAX_STEPS = 30
"""Phrases of which the graph is told; a caller may ask for any number of keyphrases."""
_DECIMALS = 4  # of an edge's weight: finer than any line can be drawn

Weights = tuple[tuple[float, ...], ...]
"""Of each sentence, the weight of each of its arcs."""


@dataclass(frozen=True, slots=True)
class ShownToken:
    """A word of a sentence; offsets as in `phraseloom.text.document.Token`."""

    text: str
    start: int
    end: int
    stem: str


@dataclass(frozen=True, slots=True)
class Arc:
    """A dependency between two words, given by their places in the sentence."""

    head: int
    dependent: int
    relation: str


@dataclass(frozen=True, slots=True)
class ShownSentence:
    """A sentence of the title or of the text; arcs in the order of their dependents."""

    in_title: bool
    tokens: tuple[ShownToken, ...]
    arcs: tuple[Arc, ...]


@dataclass(frozen=True, slots=True)
class Candidate:
    r"""A finished phrase with the parts of its score; symbols as in docs/notation.md.

    Attributes:
        text: as it is most often written in the document.
        stems: Porter stems of its words.
        score: ``exp(normalised)``, the chance that it is said next.
        log_prob: :math:`\log P(y)`.
        normalised: :math:`\Theta(y)`, the same made fair to long phrases.
        dissimilarity: DP, 1 if it has nothing in common with what was said.
        sibling_rank: SP, from 0.
        end_prob: share of EOS in the probability of its end.
        total: :math:`\hat\Theta = \Theta + \lambda_1 DP - \lambda_2 SP`, what the search maximises.
    """

    text: str
    stems: tuple[str, ...]
    score: float
    log_prob: float
    normalised: float
    dissimilarity: float
    sibling_rank: int
    end_prob: float
    total: float


@dataclass(frozen=True, slots=True)
class Step:
    """The moment at which one phrase was chosen.

    Attributes:
        number: p, from 1.
        chosen: the phrase.
        rank: its place in the final list; none if it did not get there.
        down: weights :math:`A^p` of the edges from head to dependent; empty without a graph.
        up: the same from dependent to head.
        runners_up: what else could have been said, best first.
    """

    number: int
    chosen: Candidate
    rank: int | None
    down: Weights
    up: Weights
    runners_up: tuple[Candidate, ...]


@dataclass(frozen=True, slots=True)
class Extent:
    """How much of the search is told: the first window of a long text, its first steps."""

    windows: int
    of_windows: int
    steps: int
    of_steps: int


@dataclass(frozen=True, slots=True)
class SearchSettings:
    r"""How the parts of a score were weighed: :math:`\lambda_1, \lambda_2, \alpha`."""

    lambda1: float
    lambda2: float
    alpha: float


@dataclass(frozen=True, slots=True)
class Explanation:
    """The keyphrases of a text, exactly as `Extractor.extract` gives them, and how they were found.

    Attributes:
        text: the body.
        title: the title, if one was given apart.
        keyphrases: best first.
        search: how the parts of a score were weighed.
        is_dynamic: whether the model weighs its graph anew for each phrase.
        sentences: those of the first window; all, unless the text is long.
        steps: in the order of decoding.
        extent: what of the search is told here.
    """

    text: str
    title: str
    keyphrases: tuple[Keyphrase, ...]
    search: SearchSettings
    is_dynamic: bool
    sentences: tuple[ShownSentence, ...]
    steps: tuple[Step, ...]
    extent: Extent

    def as_json(self) -> dict[str, Any]:
        """The same in lists and dictionaries of what JSON knows."""
        return asdict(self)


def explain(
    extractor: Extractor,
    text: str,
    *,
    title: str = "",
    top: int | None = None,
    style: str | None = None,
    runners_up: int = 5,
) -> Explanation:
    """Find the keyphrases of a text and tell how.

    Args:
        extractor: whose settings hold; see `Extractor.with_search` for others.
        text: the body.
        title: if it is known apart from the body.
        top: exactly so many phrases; without it the model decides.
        style: kind of annotator to imitate, if the model was trained on several.
        runners_up: how many to give per phrase, at most.
    """
    [document] = extractor.parser.parse_batch([Source(text, title)])
    trace = Trace(runners_up)
    [keyphrases] = extractor.extract_parsed([document], top=top, style=style, trace=trace)
    windows = cut_windows(document, extractor.search.window)
    shown: tuple[ShownSentence, ...] = ()
    steps: list[Step] = []
    traced = trace.phrases.get(0, [])
    if windows:
        shown = tuple(_show(sentence) for sentence in windows[0].sentences)
        arc_edges = _arc_edges(extractor.lexicon, windows[0])
        teller = _Teller(document, windows[0], shown, arc_edges, keyphrases)
        steps = [teller.tell(phrase) for phrase in islice(traced, MAX_STEPS)]
    search = extractor.search
    return Explanation(
        text=text,
        title=title,
        keyphrases=tuple(keyphrases),
        search=SearchSettings(search.lambda1, search.lambda2, search.alpha),
        is_dynamic=extractor.model.encoder.is_dynamic,
        sentences=shown,
        steps=tuple(steps),
        extent=Extent(min(len(windows), 1), len(windows), len(steps), len(traced)),
    )


def _show(sentence: Sentence) -> ShownSentence:
    return ShownSentence(
        sentence.in_title,
        tuple(ShownToken(each.text, each.start, each.end, each.stem) for each in sentence.tokens),
        tuple(
            Arc(token.head, place, token.relation)
            for place, token in enumerate(sentence.tokens)
            if token.head != place
        ),
    )


def _arc_edges(lexicon: Lexicon, window: Document) -> NDArray[np.int64]:
    """Where the two edges of each arc stand among those of the graph, ``(2, arcs)``: down, up.

    Edges are sorted by target, so those that run down come in the order of the dependents.
    """
    relations = len(lexicon.relations)
    example = Numbering(lexicon).encode_document(window)
    edges = build_edges(example.heads, example.relation_ids, relation_count=relations)
    down = np.flatnonzero((edges.types > SELF_LOOP) & (edges.types <= relations))
    return np.stack([down, edges.reverse[down]])


class _Teller:
    """Turns what search traced into steps of an explanation."""

    def __init__(
        self,
        document: Document,
        window: Document,
        shown: Sequence[ShownSentence],
        arc_edges: NDArray[np.int64],
        keyphrases: Sequence[Keyphrase],
    ) -> None:
        self._index = SpanIndex(document)
        self._stems = list(dict.fromkeys(token.stem for token in window.tokens()))
        self._arcs = [len(sentence.arcs) for sentence in shown]
        self._arc_edges = arc_edges
        self._ranks = {phrase.stems: phrase.rank for phrase in keyphrases}

    def tell(self, phrase: TracedPhrase) -> Step:
        chosen = self._candidate(phrase.found)
        down: Weights = ()
        up: Weights = ()
        if len(phrase.edge_weights):
            weights = phrase.edge_weights.numpy().astype(np.float64)[self._arc_edges]
            down, up = (self._by_sentence(row) for row in weights.round(_DECIMALS).tolist())
        return Step(
            number=phrase.found.number,
            chosen=chosen,
            rank=self._ranks.get(chosen.stems),
            down=down,
            up=up,
            runners_up=tuple(self._candidate(each) for each in phrase.runners_up),
        )

    def _by_sentence(self, weights: list[float]) -> Weights:
        rest = iter(weights)
        return tuple(tuple(islice(rest, arcs)) for arcs in self._arcs)

    def _candidate(self, found: Found) -> Candidate:
        stems = tuple(self._stems[slot - FIRST_WORD] for slot in found.slots)
        return Candidate(
            text=self._index.find(stems).text or " ".join(stems),  # a free search may invent
            stems=stems,
            score=found.score,
            log_prob=found.log_prob,
            normalised=float(np.log(found.score)),
            dissimilarity=found.dissimilarity,
            sibling_rank=found.sibling_rank,
            end_prob=found.end_prob,
            total=found.total,
        )
