"""What a model saw while it found the keyphrases of a text, as plain data for a page to draw.

One sentence of the text after the other with its dependency arcs; then, phrase by phrase in the
order of decoding, the weight of every arc at that moment and what else could have been chosen.

An arc is two edges of the graph, and both weights are given: ``down`` carries what the head knows
to its dependent, ``up`` the other way. Self-loops are left out: they join no two words.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from phraseloom.config import SearchConfig
from phraseloom.errors import OptionsError
from phraseloom.extractor import Extractor
from phraseloom.keyphrase import Keyphrase, round_score
from phraseloom.network.example import ExampleEncoder
from phraseloom.network.graph import SELF_LOOP, build_edges
from phraseloom.network.lexicon import Lexicon
from phraseloom.options import OptionFields, Options, as_count, make_options
from phraseloom.query import adapt_search, cut_windows
from phraseloom.search.beam import Hypothesis
from phraseloom.search.decode import Trace, TracedPhrase
from phraseloom.slots import FIRST_WORD
from phraseloom.text.document import Document, Sentence, Source
from phraseloom.text.phrases import SpanIndex

MAX_STEPS = 30
"""Phrases whose graph is shown; a caller may ask for any number of keyphrases."""
_DECIMALS = 4  # of an edge's weight: finer than any line can be drawn

ArcWeights = tuple[tuple[float, ...], ...]
"""Of each sentence, the weight of each of its arcs."""


@dataclass(frozen=True, slots=True)
class ShownToken:
    """A word of a sentence; offsets as in `phraseloom.text.document.Token`."""

    text: str
    start: int
    end: int
    stem: str


@dataclass(frozen=True, slots=True)
class ShownArc:
    """A dependency between two words, given by their numbers in the sentence."""

    head: int
    dependent: int
    relation: str


@dataclass(frozen=True, slots=True)
class ShownSentence:
    """A sentence of the title or of the text; arcs in the order of their dependents."""

    in_title: bool
    tokens: tuple[ShownToken, ...]
    arcs: tuple[ShownArc, ...]


@dataclass(frozen=True, slots=True)
class Candidate:
    r"""A finished phrase with the parts of its score; symbols as in docs/notation.md.

    Attributes:
        text: as it is most often written in the document.
        stems: Porter stems of its words.
        score: ``exp(normalised)``, the chance that it is written next.
        log_prob: :math:`\log P(y)`.
        normalised: :math:`\Theta(y)`, the same made fair to long phrases.
        dissimilarity: DP, 1 if it has nothing in common with earlier phrases.
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
class TraceStep:
    """The moment at which one phrase was chosen.

    Attributes:
        number: p, from 1.
        chosen: the phrase.
        rank: its place in the final list; none if it did not get there.
        down: weights :math:`A^p` of the edges from head to dependent; empty without a graph.
        up: the same from dependent to head.
        runners_up: what else could have been chosen, best first.
    """

    number: int
    chosen: Candidate
    rank: int | None
    down: ArcWeights
    up: ArcWeights
    runners_up: tuple[Candidate, ...]


@dataclass(frozen=True, slots=True)
class Extent:
    """How much of the search is shown: the first window of a long text, its first steps."""

    windows: int
    of_windows: int
    steps: int
    of_steps: int


@dataclass(frozen=True, slots=True)
class SearchSettings:
    r"""How the parts of a score were weighed: :math:`\lambda_1, \lambda_2, \alpha`.

    ``diversity`` is :math:`\lambda_1` as the option of that name has it, from 0 to 1.
    """

    diversity: float
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
        kind: the likeliest kind of text, by which the style weighs; empty if it weighs all alike.
        is_dynamic: whether the model weighs its graph anew for each phrase.
        sentences: those of the first window; all, unless the text is long.
        steps: in the order of decoding.
        extent: what of the search is shown here.
    """

    text: str
    title: str
    keyphrases: tuple[Keyphrase, ...]
    search: SearchSettings
    kind: str
    is_dynamic: bool
    sentences: tuple[ShownSentence, ...]
    steps: tuple[TraceStep, ...]
    extent: Extent

    def as_json(self) -> dict[str, Any]:
        """The same in lists and dictionaries of what JSON knows."""
        return asdict(self)


def explain(
    extractor: Extractor,
    text: str,
    options: Options | None = None,
    *,
    title: str = "",
    runners_up: int = 5,
    **changes: Unpack[OptionFields],
) -> Explanation:
    """Find the keyphrases of a text and show how.

    Args:
        extractor: whose settings hold; see `Extractor.with_search` for others.
        text: the body.
        options: what is wanted; see `Options`.
        title: if it is known apart from the body.
        runners_up: how many to give per phrase, at most.
        **changes: fields of `Options`, such as ``top=5``.
    """
    if not isinstance(extractor, Extractor):
        kind = type(extractor).__name__
        raise OptionsError(f"give explain an extractor, such as Extractor.load(), not {kind}")
    wanted = make_options(options, changes)
    [document] = extractor.parse([Source(text, title)])
    return explain_parsed(extractor, document, wanted, runners_up=runners_up)


def explain_parsed(
    extractor: Extractor,
    document: Document,
    options: Options,
    *,
    runners_up: int = 5,
    is_wanted: Callable[[int], bool] = lambda document: True,
) -> Explanation:
    """`explain` of a document that is parsed already; ``is_wanted`` as in `extract_parsed`."""
    trace = Trace(as_count(runners_up, "runners_up", least=0))
    [keyphrases] = extractor.extract_parsed([document], options, trace=trace, is_wanted=is_wanted)
    windows = cut_windows(document, extractor.search.window_tokens)
    shown: tuple[ShownSentence, ...] = ()
    steps: list[TraceStep] = []
    traced = trace.phrases.get(0, [])
    if windows:
        shown = tuple(_show(sentence) for sentence in windows[0].sentences)
        arc_edges = _arc_edges(extractor.lexicon, windows[0])
        builder = _StepBuilder(document, windows[0], shown, arc_edges, keyphrases)
        steps = [builder.build(phrase) for phrase in islice(traced, MAX_STEPS)]
    return Explanation(
        text=document.text,
        title=document.title,
        keyphrases=tuple(keyphrases),
        search=_describe(adapt_search(extractor.search, options, [])),
        kind=_kind(extractor, document, options),
        is_dynamic=extractor.model.is_dynamic,
        sentences=shown,
        steps=tuple(steps),
        extent=Extent(min(len(windows), 1), len(windows), len(steps), len(traced)),
    )


def _kind(extractor: Extractor, document: Document, options: Options) -> str:
    ranking = extractor.ranking.get(options.style or next(iter(extractor.styles), ""))
    kinds = extractor.tell_kinds(document) if ranking and ranking.weights_of else {}
    return max(kinds, key=lambda kind: kinds[kind], default="")


def _describe(search: SearchConfig) -> SearchSettings:
    diversity = search.lambda1 / (1 + search.lambda1)
    return SearchSettings(diversity, search.lambda1, search.lambda2, search.alpha)


def _show(sentence: Sentence) -> ShownSentence:
    return ShownSentence(
        sentence.in_title,
        tuple(
            ShownToken(token.text, token.start, token.end, token.stem) for token in sentence.tokens
        ),
        tuple(
            ShownArc(token.head, i, token.relation)
            for i, token in enumerate(sentence.tokens)
            if token.head != i
        ),
    )


def _arc_edges(lexicon: Lexicon, window: Document) -> NDArray[np.int64]:
    """Indices of the two edges of each arc among those of the graph, ``(2, arcs)``: down, up.

    Edges are sorted by target, so those that run down come in the order of the dependents.
    """
    relations = len(lexicon.relations)
    example = ExampleEncoder(lexicon).encode(window)
    edges, types = build_edges(example.heads, example.relation_ids, relation_count=relations)
    down = np.flatnonzero((types > SELF_LOOP) & (types <= relations))
    return np.stack([down, edges.reverse[down]])


class _StepBuilder:
    """Turns what the search traced into steps of an explanation."""

    def __init__(
        self,
        document: Document,
        window: Document,
        shown: Sequence[ShownSentence],
        arc_edges: NDArray[np.int64],
        keyphrases: Sequence[Keyphrase],
    ) -> None:
        self._index = SpanIndex(document)
        self._stems = window.distinct_stems()
        self._arc_counts = [len(sentence.arcs) for sentence in shown]
        self._arc_edges = arc_edges
        self._ranks = {phrase.stems: phrase.rank for phrase in keyphrases}

    def build(self, phrase: TracedPhrase) -> TraceStep:
        chosen = self._candidate(phrase.winner)
        down: ArcWeights = ()
        up: ArcWeights = ()
        if len(phrase.edge_weights):
            weights = phrase.edge_weights.astype(np.float64)[self._arc_edges]  # (2, arcs)
            down, up = (self._by_sentence(row) for row in weights.round(_DECIMALS).tolist())
        return TraceStep(
            number=phrase.winner.number,
            chosen=chosen,
            rank=self._ranks.get(chosen.stems),
            down=down,
            up=up,
            runners_up=tuple(self._candidate(hypothesis) for hypothesis in phrase.runners_up),
        )

    def _by_sentence(self, weights: list[float]) -> ArcWeights:
        rest = iter(weights)
        return tuple(tuple(islice(rest, count)) for count in self._arc_counts)

    def _candidate(self, hypothesis: Hypothesis) -> Candidate:
        stems = tuple(self._stems[slot - FIRST_WORD] for slot in hypothesis.slots)
        return Candidate(
            text=self._index.find(stems).text or " ".join(stems),  # a free search may invent
            stems=stems,
            score=round_score(hypothesis.score),
            log_prob=hypothesis.log_prob,
            normalised=float(np.log(hypothesis.score)),
            dissimilarity=hypothesis.dissimilarity,
            sibling_rank=hypothesis.sibling_rank,
            end_prob=hypothesis.end_prob,
            total=hypothesis.total,
        )
