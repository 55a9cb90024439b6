"""The decoder: a GRU that writes one phrase by copying from a document's nodes; §3.4.

There is no vocabulary softmax: the attention over the document's slots, SEP and EOS *is* the output
distribution, so no word is unknown. Teacher forcing and search take the same functions.
"""

from dataclasses import dataclass
from typing import Any

from phraseloom.config import ModelConfig
from phraseloom.network.encoder import EncodedGraph
from phraseloom.network.graph import Entries, PhraseContext
from phraseloom.network.ops import (
    Array,
    Ops,
    Weights,
    attend,
    fill_keys,
    linear,
    masked_log_softmax,
    product,
    sigmoid,
)
from phraseloom.slots import FIRST_WORD

NUMBERED_PHRASES = 10
"""From the tenth phrase on, the decoder is told "ten"."""


@dataclass(frozen=True, slots=True)
class DecoderInputs:
    """What the decoder needs of ``P`` begun phrases, the same at every step."""

    keys: Array
    """What attention compares the state with, ``(P, S, D)``; bilinear attention likes more."""
    mask: Array
    """True for what a document has, ``(P, S)``."""
    slot_of_entry: Array | None
    """One-hot slot of each key if nodes are not merged, ``(P, S', S)``; else keys are slots."""
    first_input: Array
    """Start vector of each phrase, ``(P, D_w)``."""


@dataclass(frozen=True, slots=True)
class DecoderState:
    """Where ``K`` hypotheses for each of ``P`` phrases stand."""

    hidden: tuple[Array, ...]
    """GRU state of each layer, ``(P, K, D)``."""
    coverage: Array
    """:math:`\\kappa`, ``(P, K, S)``."""
    is_begun: bool = True
    """Whether a word was read; before that each phrase has one hypothesis."""


def begin_phrases(
    weights: Weights,
    config: ModelConfig,
    graph: EncodedGraph,
    entries: Entries,
    context: PhraseContext,
    ops: Ops,
) -> tuple[DecoderInputs, DecoderState]:
    r"""Get ready to write a phrase from each graph, one hypothesis a phrase.

    Equation (D3) begins with :math:`s_0 = c^p` in every layer; (D4), the first input, is a learned
    vector plus those of the phrase's number and of the style. (D1), the coverage, begins with how
    often each slot's word was written in earlier phrases.
    """
    xp = ops.xp
    graph.padded[:, :FIRST_WORD] = weights["decoder.ends"]  # SEP and EOS are learned
    numbers = xp.clip(context.numbers, None, NUMBERED_PHRASES - 1 if config.numbered else 0)
    first_input = weights["decoder.start"] + weights["decoder.number.weight"][numbers]
    if config.styles:
        first_input = first_input + weights["decoder.style.weight"][context.styles]  # (P, D_w)
    keys = fill_keys(graph.padded) if config.attention == "bilinear" else graph.padded
    if config.attention == "additive":
        keys = linear(weights, "decoder.attention.key", keys)  # (P, S, D)
    inputs = DecoderInputs(keys, entries.mask, entries.slot_of_entry, first_input)
    hidden = (graph.start[:, None],) * config.decoder_layers
    coverage = context.history_counts[:, None]  # (P, 1, S)
    coverage = coverage if config.history_coverage else 0 * coverage
    return inputs, DecoderState(hidden, coverage, is_begun=False)


def word_gates(
    weights: Weights, words: Array, bounds: Array | None = None, *, by_row: bool = False
) -> Array:
    """Share of words in the gates of the first layer, ``(..., 3D)``: the same at whatever step.

    For ``bounds`` and ``by_row`` see `product`.
    """
    return _gates(weights, "decoder.gru.{}_l0", "ih", words, bounds, by_row=by_row)  # (..., 3D)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Decoder states beside a document's entries; what was written does not change it."""

    queries: Array
    """Projected states :math:`W_s s_t`, ``(P, K, D)``."""
    products: Array | None
    """Of queries and keys, ``(P, K, S)``; (A1) only."""


def decode_step(
    weights: Weights,
    config: ModelConfig,
    inputs: DecoderInputs,
    gates: Array,
    state: DecoderState,
    ops: Ops,
    live: tuple[Array, Array] | None = None,
) -> tuple[Array, DecoderState]:
    """Read the last word of every hypothesis, and say how probable each slot is next.

    In training the words are known, so that all states are compared at once.

    Args:
        weights: of the network.
        config: its shape.
        inputs: of ``P`` phrases.
        gates: of the last words, from `word_gates`, ``(P, K, 3D)``.
        state: before them.
        ops: to compute with.
        live: row and column of each of the F hypotheses that matter, ``(F,)`` and ``(F,)``; then
            ``gates`` are theirs, ``(F, 3D)``. None: all matter.

    Returns:
        Log-probabilities of the next slot, ``(P, K, S)``, ``-inf`` where a document has no such
        slot, and the state after it.
    """
    by_row = not state.is_begun
    before = state.hidden if live is None else tuple(layer[live] for layer in state.hidden)
    hidden = read_words(weights, gates, before, ops.xp, by_row=by_row)
    if live is not None:
        shape = state.coverage.shape[:2]
        hidden = tuple(_spread(layer, live, shape, ops.xp) for layer in hidden)  # (P, K, D)
    compared = compare_entries(weights, config, inputs, hidden[-1], ops, live, by_row=by_row)
    log_probs, coverage = copy_words(weights, inputs, compared, state.coverage, ops.xp)
    return log_probs, DecoderState(hidden, coverage)


def _spread(rows: Array, live: tuple[Array, Array], shape: tuple[int, int], xp: Any) -> Array:
    """Rows of live hypotheses, ``(F, D)``, where they stand among all, ``(P, K, D)``."""
    spread = xp.zeros((*shape, rows.shape[-1]), dtype=rows.dtype)
    spread[live] = rows
    return spread


def read_words(
    weights: Weights, gates: Array, hidden: tuple[Array, ...], xp: Any, *, by_row: bool = False
) -> tuple[Array, ...]:
    r"""Equation (D3): :math:`s_t = f(s_{t-1}, e^w_{y_{t-1}})`, ``(P, K, D)`` of each layer."""
    states = list[Array]()
    for layer, before in enumerate(hidden):
        name = f"decoder.gru.{{}}_l{layer}"
        if layer:
            gates = _gates(weights, name, "ih", states[-1], by_row=by_row)  # (P, K, 3D)
        states.append(gru_cell(weights, name, gates, before, xp, by_row=by_row))  # (P, K, D)
    return tuple(states)


def compare_entries(
    weights: Weights,
    config: ModelConfig,
    inputs: DecoderInputs,
    states: Array,
    ops: Ops,
    live: tuple[Array, Array] | None = None,
    *,
    by_row: bool = False,
) -> Comparison:
    """The part of the attention scores that no coverage changes; states are ``(P, K, D)``."""
    name, states = "decoder.attention.query", ops.dropout(states)
    if live is None:
        queries = linear(weights, name, states, by_row=by_row)  # (P, K, D)
    else:
        queries = _spread(linear(weights, name, states[live]), live, states.shape[:2], ops.xp)
    if config.attention == "additive":
        return Comparison(queries, None)
    queries = queries * queries.shape[-1] ** -0.5
    return Comparison(queries, attend(queries, inputs.keys, inputs.mask.shape[1], ops.xp))


def copy_words(
    weights: Weights, inputs: DecoderInputs, compared: Comparison, coverage: Array, xp: Any
) -> tuple[Array, Array]:
    r"""Equation (D2): :math:`P(y_t)`, the softmax of the attention scores (A1) or (A2).

    Returns:
        Its logs, ``(P, K, S)``, and by (D1) the coverage after it,
        :math:`\kappa_{t+1} = \kappa_t + P(y_t)`.
    """
    of_entries = coverage  # (P, K, S)
    if inputs.slot_of_entry is not None:
        of_entries = coverage @ xp.matrix_transpose(inputs.slot_of_entry)  # (P, K, S')
    score = additive_scores if compared.products is None else bilinear_scores
    scores = score(weights, compared, inputs.keys, of_entries, xp)  # (P, K, S)
    log_probs = masked_log_softmax(scores, inputs.mask[:, None], xp)  # (P, K, S)
    probs = xp.exp(log_probs)  # (P, K, S)
    if inputs.slot_of_entry is not None:
        # a slot that exists is never quite impossible, so that its loss stays finite
        tiny = xp.finfo(probs.dtype).tiny
        probs = (probs + tiny * inputs.mask[:, None]) @ inputs.slot_of_entry  # (P, K, S)
        log_probs = xp.where(probs > 0, xp.log(xp.clip(probs, tiny, None)), -xp.inf)  # (P, K, S)
    return log_probs, coverage + probs


def gru_cell(
    weights: Weights, name: str, of_input: Array, state: Array, xp: Any, *, by_row: bool = False
) -> Array:
    r"""One step of a GRU, :math:`f` of (D3), ``(P, K, D)``; :math:`i` is given.

    .. math::
        r = \sigma(i_r + g_r), \quad z = \sigma(i_z + g_z), \quad n = \tanh(i_n + r\, g_n),
        \quad s' = n + z (s - n), \qquad i = W_i x + b_i, \quad g = W_g s + b_g
    """
    width = state.shape[-1]
    of_state = _gates(weights, name, "hh", state, by_row=by_row)  # (P, K, 3D)
    switches = sigmoid(of_input[..., : 2 * width] + of_state[..., : 2 * width], xp)
    reset, update = switches[..., :width], switches[..., width:]
    candidate = xp.tanh(of_input[..., 2 * width :] + reset * of_state[..., 2 * width :])
    return candidate + update * (state - candidate)  # (P, K, D)


def _gates(
    weights: Weights,
    name: str,
    kind: str,
    x: Array,
    bounds: Array | None = None,
    *,
    by_row: bool,
) -> Array:
    weight = weights[name.format(f"weight_{kind}")]
    flat = product(x.reshape(-1, x.shape[-1]), weight, bounds, by_row=by_row)
    flat += weights[name.format(f"bias_{kind}")]
    return flat.reshape(*x.shape[:-1], -1)


def bilinear_scores(
    weights: Weights, compared: Comparison, keys: Array, coverage: Array, xp: Any
) -> Array:
    r"""Equation (A1), ours: :math:`(W_s s)^\top (h_i + v\, \kappa_i) / \sqrt D`, ``(P, K, S)``.

    One product scores all keys for all queries; the additive form needs a vector for every pair.
    """
    of_coverage = weights["decoder.attention.coverage"]  # (D,)
    per_coverage = xp.sum(compared.queries * of_coverage, axis=-1, keepdims=True)  # (P, K, 1)
    return compared.products + per_coverage * coverage


def additive_scores(
    weights: Weights, compared: Comparison, keys: Array, coverage: Array, xp: Any
) -> Array:
    r"""Equation (A2), the paper's: :math:`v^\top \tanh(W_s s + W_h h_i + w_\kappa \kappa_i)`."""
    projected = compared.queries  # (P, K, D)
    of_coverage = weights["decoder.attention.coverage"]  # (D,)
    value = weights["decoder.attention.value"][None]  # (1, D)
    columns = []
    for k in range(projected.shape[1]):  # a vector for every pair of all would not fit
        pairs = xp.tanh(keys + projected[:, k, None] + coverage[:, k, :, None] * of_coverage)
        columns.append(product(pairs.reshape(-1, pairs.shape[-1]), value).reshape(*keys.shape[:2]))
    return xp.stack(columns, axis=1)  # (P, K, S)
