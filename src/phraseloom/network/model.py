"""A network with its weights, and how search drives it: begin a phrase, advance by a word."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from phraseloom.config import ModelConfig
from phraseloom.network.decoder import (
    DecoderInputs,
    DecoderState,
    begin_phrases,
    decode_step,
    word_gates,
)
from phraseloom.network.edges import moves_edges
from phraseloom.network.encoder import (
    EncodedGraph,
    encode_graph,
    encode_tokens,
    importance_scores,
)
from phraseloom.network.example import Example
from phraseloom.network.graph import (
    Batch,
    GraphCopies,
    PhraseContext,
    collate,
    copy_graphs,
    phrase_context,
)
from phraseloom.network.lexicon import Ids, Lexicon
from phraseloom.network.ops import NUMPY, Weights, sigmoid
from phraseloom.slots import FIRST_WORD, SEP, Phrase
from phraseloom.text.document import Document

Floats = NDArray[np.float32]


CUES = {
    "we": frozenset({"we", "our"}),
    "you and I": frozenset({"i", "you", "my", "your"}),
    "paper": frozenset({"paper", "article", "study"}),
    "this": frozenset({"this", "these"}),
    "said": frozenset({"said", "says", "told"}),
    "stop": frozenset({"."}),
    "comma": frozenset({","}),
    "bracket": frozenset({"(", "["}),
    "quote": frozenset({'"', "''", "``", "\u201c", "\u201d"}),
    "colon": frozenset({":", ";"}),
    "dash": frozenset({"-", "\u2013", "\u2014"}),
}
"""Words and marks of which the share in the text is counted."""
_KIND_TOKENS = 400  # of a text, whose vectors are looked at
_KIND_MEASURES = 6  # beside vectors and cues


@dataclass(frozen=True)
class KeyphraseModel:
    """Div-DGCN or a variant of it, as numbers."""

    config: ModelConfig
    lexicon: Lexicon
    weights: Weights
    """Arrays by name; the two large tables may be quantized."""

    @property
    def is_dynamic(self) -> bool:
        """Whether edges are weighed anew for each phrase."""
        return self.config.variant == "dgcn"

    def decoder(self, examples: Sequence[Example]) -> "ModelDecoder":
        """The network bound to documents, as the search drives it."""
        return ModelDecoder(self, collate(examples, self.lexicon))


def kind_vector_size(word_width: int) -> int:
    """How many numbers `kind_vector` has."""
    return 1 + word_width + len(CUES) + _KIND_MEASURES


def kind_vector(document: Document, model: KeyphraseModel) -> NDArray[np.float64]:
    """A bias, the mean of the first known words' vectors, and how the text is written, ``(V,)``.

    Of that: the log length, the shares of `CUES` and of numbers, the mean length of a word, how
    many distinct words and sentences there are, and how long the title is.
    """
    words = [token.word for token in document.tokens()]
    ids = model.lexicon.words.ids(words[:_KIND_TOKENS])
    table = model.weights["encoder.words.table"]
    known = ids[ids >= 0]
    mean = table[known].mean(axis=0) if len(known) else np.zeros(table.shape[1])
    return np.concatenate([[1.0], mean, _writing(document, words)])


def _writing(document: Document, words: list[str]) -> list[float]:
    count, times = max(len(words), 1), Counter(words)
    written = [word for word in words if word.isalpha()]
    numbers = [word for word in times if word == "<digit>" or any(map(str.isdigit, word))]
    title = sum(len(sentence.tokens) for sentence in document.sentences if sentence.in_title)
    return [
        math.log(count),
        *(sum(times[word] for word in cue) / count for cue in CUES.values()),
        sum(times[word] for word in numbers) / count,
        sum(map(len, written)) / max(len(written), 1),
        len(times) / math.sqrt(count),
        len(document.sentences) / count,
        title / 10,
    ]


@dataclass(frozen=True, slots=True)
class StepState:
    """``K`` hypotheses for the next phrase of each of ``B`` documents."""

    inputs: DecoderInputs
    context: PhraseContext
    decoder: DecoderState
    graph: EncodedGraph
    copies: GraphCopies

    def select(self, parents: Ids) -> "StepState":
        """Column k of document b becomes what column ``parents[b, k]`` was."""
        rows = np.arange(len(parents))[:, None]  # (B, 1)
        hidden = tuple(layer[rows, parents] for layer in self.decoder.hidden)  # (B, K, D)
        chosen = DecoderState(hidden, self.decoder.coverage[rows, parents])
        return replace(self, decoder=chosen)


class ModelDecoder:
    """A model bound to a batch of documents; fits the protocol of `phraseloom.search`."""

    def __init__(self, model: KeyphraseModel, batch: Batch) -> None:
        self._model = model
        self._batch = batch
        self._copies: GraphCopies | None = None
        self._encoded = encode_tokens(model.weights, model.config, self._batch, NUMPY)
        self.importance: list[list[float]] = [[] for _ in range(len(batch))]
        """Log odds of each document's stems to belong to a keyphrase, before any was found."""
        self.slots: list[int] = (FIRST_WORD + np.diff(self._batch.stem_offsets)).tolist()

    def begin(self, documents: Sequence[int], history: Sequence[Sequence[Phrase]]) -> StepState:
        """Begin the next phrase of these documents, given the earlier phrases of each."""
        model, context = self._model, phrase_context(self._batch, documents, history)
        copies = self._copy(context.documents)
        graph = encode_graph(model.weights, model.config, self._encoded, context, copies, NUMPY)
        self._read_importance(graph, documents)
        inputs, state = begin_phrases(
            model.weights, model.config, graph, copies.entries, context, NUMPY
        )
        return StepState(inputs, context, state, graph, copies)

    def advance(self, words: Ids, state: StepState) -> tuple[Floats, StepState]:
        """Read one slot per hypothesis, ``(B, K)``; log-probabilities after it, ``(B, K, S)``."""
        model = self._model
        live: tuple[Ids, Ids] | None = None
        if (words == SEP).all():
            first = state.inputs.first_input[:, None]  # (B, 1, D_w)
            gates = word_gates(model.weights, first, by_row=True)  # (B, 1, 3D)
        else:  # among words, SEP is a dead hypothesis
            starts = self._batch.stem_offsets[state.context.documents][:, None]  # (B, 1)
            stems = words - FIRST_WORD + starts  # (B, K)
            rows, columns = np.nonzero(words != SEP)  # (F,), (F,)
            live = rows, columns
            gates = self._gates_of_stem[stems[live]]  # (F, 3D)
        log_probs, decoder = decode_step(
            model.weights, model.config, state.inputs, gates, state.decoder, NUMPY, live
        )
        return log_probs, replace(state, decoder=decoder)

    def edge_weights(self, state: StepState) -> list[Floats]:
        """:math:`A^p` of every edge of each document while a phrase is decoded."""
        graph, copies, scores = state.graph, state.copies, self._encoded.edge_scores
        documents = copies.documents.tolist()
        if scores is None:
            return [np.zeros(0, np.float32)] * len(documents)
        if copies.graph is not None and graph.edge_weights is not None:
            counts = np.bincount(copies.graph.copy_of_edge, minlength=len(documents))
            return np.split(graph.edge_weights, np.cumsum(counts)[:-1])
        batch, weights = self._batch, sigmoid(scores.static, np)  # (E,)
        bounds = batch.edges.into.offsets[batch.node_offsets]
        of_edges = [weights[bounds[document] : bounds[document + 1]] for document in documents]
        if graph.factors is None:
            return of_edges
        factors = np.split(graph.factors[:, 0], np.cumsum(copies.entries.sizes[:-1, 0], dtype=int))
        return [
            own * scaled[self._entry_of_target(document)]
            for document, own, scaled in zip(documents, of_edges, factors, strict=True)
        ]

    def _entry_of_target(self, document: int) -> Ids:
        """Which entry of its document each edge runs into."""
        batch, is_merged = self._batch, self._model.config.merge
        bounds = batch.edges.into.offsets[batch.node_offsets[document : document + 2]]
        targets = batch.edges.targets[bounds[0] : bounds[1]]
        if is_merged:
            return batch.stem_of_node[targets] - batch.stem_offsets[document]
        return targets - batch.node_offsets[document]

    def _read_importance(self, graph: EncodedGraph, documents: Sequence[int]) -> None:
        """Keep what the network says of the words before any phrase, if it learned to."""
        config = self._model.config
        if not (config.importance and config.merge) or any(self.importance):
            return
        scores = importance_scores(self._model.weights, graph).tolist()  # (M',)
        sizes, first = np.diff(self._batch.stem_offsets).tolist(), 0
        for document in documents:
            self.importance[document] = scores[first : first + sizes[document]]
            first += sizes[document]

    def _copy(self, documents: Ids) -> GraphCopies:
        """Copies of these documents' graphs; mostly they are the same as for the last phrase."""
        if self._copies is None or not np.array_equal(self._copies.documents, documents):
            is_merged, is_moving = self._model.config.merge, moves_edges(self._model.config)
            self._copies = copy_graphs(
                self._batch, documents, is_merged=is_merged, is_moving=is_moving
            )
        return self._copies

    @cached_property
    def _gates_of_stem(self) -> Floats:
        """What the decoder reads of each stem as a last word, ``(M, 3D)``."""
        words = self._encoded.words[self._batch.first_nodes]  # (M, D_w)
        return word_gates(self._model.weights, words, self._batch.stem_offsets)
