"""A network with its weights, and how search drives it: begin a phrase, advance by a word."""

import math
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
from phraseloom.network.encoder import (
    EncodedGraph,
    encode_graph,
    encode_tokens,
    select_graphs,
)
from phraseloom.network.example import Example
from phraseloom.network.graph import (
    Entries,
    GraphCopies,
    PhraseContext,
    collate,
    copy_graphs,
    phrase_context,
)
from phraseloom.network.lexicon import Ids, Lexicon
from phraseloom.network.ops import NUMPY, Weights
from phraseloom.slots import FIRST_WORD, SEP, Phrase
from phraseloom.text.document import Document

Floats = NDArray[np.float32]

_KIND_TOKENS = 400  # of a text, to tell its kind


@dataclass(frozen=True)
class KeyphraseModel:
    """Div-DGCN or a variant of it, as numbers."""

    config: ModelConfig
    lexicon: Lexicon
    weights: Weights
    """Arrays by name; the two large tables may be quantized."""

    @property
    def is_dynamic(self) -> bool:
        """Whether the graph is weighed anew for each phrase."""
        return self.config.variant == "dgcn"

    def decoder(self, examples: Sequence[Example]) -> "ModelDecoder":
        """The network bound to documents, as the search drives it."""
        return ModelDecoder(self, examples)


def kind_vector(document: Document, model: KeyphraseModel) -> NDArray[np.float64]:
    """What tells the kind of a text: a bias, a mean word vector, the log length, ``(D_w + 2,)``.

    The mean is that of the first words that are in the vocabulary.
    """
    words = [token.word for token in document.tokens()]
    ids = model.lexicon.words.ids(words[:_KIND_TOKENS])
    table = model.weights["encoder.words.table"]
    known = ids[ids >= 0]
    mean = table[known].mean(axis=0) if len(known) else np.zeros(table.shape[1])
    return np.array([1.0, *mean, math.log(max(len(words), 1))])


@dataclass(frozen=True, slots=True)
class StepState:
    """``K`` hypotheses for the next phrase of each of ``B`` documents."""

    inputs: DecoderInputs
    context: PhraseContext
    decoder: DecoderState
    edge_weights: list[Floats]
    """:math:`A^p` of every edge, document by document."""

    def select(self, parents: Ids) -> "StepState":
        """Column k of document b becomes what column ``parents[b, k]`` was."""
        rows = np.arange(len(parents))[:, None]  # (B, 1)
        hidden = tuple(layer[rows, parents] for layer in self.decoder.hidden)  # (B, K, D)
        chosen = DecoderState(hidden, self.decoder.coverage[rows, parents])
        return replace(self, decoder=chosen)


class ModelDecoder:
    """A model bound to a batch of documents; fits the protocol of `phraseloom.search`."""

    def __init__(self, model: KeyphraseModel, examples: Sequence[Example]) -> None:
        self._model = model
        self._batch = collate(examples, model.lexicon)
        self._encoded = encode_tokens(model.weights, model.config, self._batch, NUMPY)
        self.slots: list[int] = (FIRST_WORD + np.diff(self._batch.stem_offsets)).tolist()

    def begin(self, documents: Sequence[int], history: Sequence[Sequence[Phrase]]) -> StepState:
        """Begin the next phrase of these documents, given the earlier phrases of each."""
        model, context = self._model, phrase_context(self._batch, documents, history)
        if model.is_dynamic:
            copies = self._copy(context.documents)
            graph = encode_graph(model.weights, model.config, self._encoded, context, copies, NUMPY)
            entries, edge_weights = copies.entries, _by_copy(graph, copies)
        else:
            rows, slots = context.documents, context.history_counts.shape[1]
            graph, entries = select_graphs(*self._static_graph[:2], rows, slots)
            edge_weights = [self._static_graph[2][document] for document in documents]
        inputs, state = begin_phrases(model.weights, model.config, graph, entries, context, NUMPY)
        return StepState(inputs, context, state, edge_weights)

    def advance(self, words: Ids, state: StepState) -> tuple[Floats, StepState]:
        """Read one slot per hypothesis, ``(B, K)``; log-probabilities after it, ``(B, K, S)``."""
        model = self._model
        if (words == SEP).all():
            first = state.inputs.first_input[:, None]  # (B, 1, D_w)
            gates = word_gates(model.weights, first, by_row=True)  # (B, 1, 3D)
        else:  # among words, SEP is a dead hypothesis
            starts = self._batch.stem_offsets[state.context.documents][:, None]  # (B, 1)
            gates = self._gates_of_stem[np.maximum(words - FIRST_WORD, 0) + starts]  # (B, K, 3D)
        log_probs, decoder = decode_step(
            model.weights, model.config, state.inputs, gates, state.decoder, NUMPY
        )
        return log_probs, replace(state, decoder=decoder)

    def edge_weights(self, state: StepState) -> list[Floats]:
        """:math:`A^p` of every edge of each document while a phrase is decoded."""
        return state.edge_weights

    def _copy(self, documents: Ids) -> GraphCopies:
        return copy_graphs(self._batch, documents, is_merged=self._model.config.merge)

    @cached_property
    def _gates_of_stem(self) -> Floats:
        """What the decoder reads of each stem as a last word, ``(M, 3D)``."""
        words = self._encoded.words[self._batch.first_nodes]  # (M, D_w)
        return word_gates(self._model.weights, words)

    @cached_property
    def _static_graph(self) -> tuple[EncodedGraph, Entries, list[Floats]]:
        """The graphs of all documents, which no phrase changes."""
        model, copies = self._model, self._copy(np.arange(len(self._batch)))
        graph = encode_graph(model.weights, model.config, self._encoded, None, copies, NUMPY)
        return graph, copies.entries, _by_copy(graph, copies)


def _by_copy(graph: EncodedGraph, copies: GraphCopies) -> list[Floats]:
    if graph.edge_weights is None:
        return [np.zeros(0, np.float32)] * len(copies.documents)
    counts = np.bincount(copies.copy_of_edge, minlength=len(copies.documents))
    return np.split(graph.edge_weights, np.cumsum(counts)[:-1])
