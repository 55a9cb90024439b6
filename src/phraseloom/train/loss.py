"""What training minimises: every phrase of every document at once, by teacher forcing."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from phraseloom.config import ModelConfig
from phraseloom.network.decoder import (
    Comparison,
    DecoderInputs,
    DecoderState,
    begin_phrases,
    compare_entries,
    copy_words,
    read_words,
    word_gates,
)
from phraseloom.network.edges import moves_edges
from phraseloom.network.encoder import (
    EncodedGraph,
    EncodedTokens,
    encode_graph,
    encode_tokens,
    importance_scores,
)
from phraseloom.network.graph import Batch, GraphCopies, copy_graphs
from phraseloom.network.ops import Weights
from phraseloom.slots import FIRST_WORD
from phraseloom.train.corpus.targets import Targets
from phraseloom.train.ops import TorchOps, as_tensor, to_torch


@dataclass(frozen=True, slots=True)
class Losses:
    """Sums over a batch, so that batches and processes can be added up before dividing."""

    sequence: Tensor
    """Negative log-likelihood of all target tokens."""
    tokens: int
    """How many there are, SEP and EOS included."""
    importance: Tensor
    """Binary cross-entropy of all entries; zero if not learned."""
    entries: int
    """How many there are; at least one."""


def sequence_losses(
    config: ModelConfig, weights: Weights, batch: Batch, targets: Targets, ops: TorchOps
) -> Losses:
    """Equations (L1) and (L2), before dividing by the number of tokens and entries.

    Args:
        config: shape of the network.
        weights: as tensors.
        batch: documents, as NumPy arrays.
        targets: their phrases, as NumPy arrays.
        ops: with dropout, to learn; without, to validate.
    """
    forced = force_targets(config, weights, batch, targets, ops)
    importance, entry_count = forced.log_probs.new_zeros(()), 1
    if config.importance:
        scores = importance_scores(weights, forced.graph)  # (M',)
        stems = forced.copies.entries.sources
        stems = stems if config.merge else batch.stem_of_node[stems]
        wanted = as_tensor(targets.important[stems], scores.device)  # (M',)
        importance = F.binary_cross_entropy_with_logits(scores, wanted, reduction="sum")
        entry_count = len(scores)
    return Losses(-forced.log_probs.sum(), int(targets.mask.sum()), importance, entry_count)


@dataclass(frozen=True, slots=True)
class ForcedTargets:
    """What the network says of targets when it is fed them word after word."""

    log_probs: Tensor
    """Of each target token, ``(P, L)``; zero where there is none."""
    graph: EncodedGraph
    """What the decoder read."""
    copies: GraphCopies
    """Whose graphs they are."""


def force_targets(
    config: ModelConfig, weights: Weights, batch: Batch, targets: Targets, ops: TorchOps
) -> ForcedTargets:
    """Teacher forcing of all phrases of all documents; arguments as in `sequence_losses`."""
    documents, is_moving = targets.context.documents, moves_edges(config)
    copies = copy_graphs(batch, documents, is_merged=config.merge, is_moving=is_moving)
    device = next(iter(weights.values())).device
    context, copied = to_torch(targets.context, device), to_torch(copies, device)
    packed = to_torch(batch, device)
    slots, mask = as_tensor(targets.slots, device), as_tensor(targets.mask, device)  # (P, L)
    encoded = encode_tokens(weights, config, packed, ops)
    graph = encode_graph(weights, config, encoded, context, copied, ops)
    words = _target_words(encoded, packed, slots, context.documents)  # (P, L - 1, D_w)
    with torch.autocast(device.type, enabled=False):  # with fewer bits, many chances are equal
        inputs, state = begin_phrases(weights, config, graph, copied.entries, context, ops)
        vectors = ops.dropout(torch.cat([inputs.first_input[:, None], words], 1))  # (P, L, D_w)
        gates = word_gates(weights, vectors)  # (P, L, 3D)
        log_probs = _step_through(weights, config, inputs, gates, state, ops)  # (P, L, S)
        picked = log_probs.gather(2, slots[..., None]).squeeze(2)  # (P, L)
    kept = torch.where(mask, picked, 0)  # (P, L); padding may have no chance at all
    return ForcedTargets(kept, graph, copies)


def _step_through(
    weights: Weights,
    config: ModelConfig,
    inputs: DecoderInputs,
    gates: Tensor,
    state: DecoderState,
    ops: TorchOps,
) -> Tensor:
    """`decode_step` for all words of a phrase: one comparison with the document for all of them."""
    hidden, states = state.hidden, []
    for gates_of_step in gates.split(1, 1):  # (P, 1, 3D)
        hidden = read_words(weights, gates_of_step, hidden, ops.xp)
        states.append(hidden[-1])
    compared = compare_entries(weights, config, inputs, torch.cat(states, 1), ops)  # (P, L, ...)
    queries = compared.queries.split(1, 1)  # (P, 1, D)
    products = [None] * len(queries) if compared.products is None else compared.products.split(1, 1)
    coverage, steps = state.coverage, []
    for step in map(Comparison, queries, products):
        log_probs, coverage = copy_words(weights, inputs, step, coverage, ops.xp)  # (P, 1, S)
        steps.append(log_probs)
    return torch.cat(steps, 1)


def _target_words(encoded: EncodedTokens, batch: Batch, slots: Tensor, documents: Tensor) -> Tensor:
    """Vectors of the target words that the decoder reads back, ``(P, L - 1, D_w)``."""
    stems = (slots[:, :-1] - FIRST_WORD).clamp(min=0) + batch.stem_offsets[documents][:, None]
    return encoded.words[batch.first_nodes[stems]]  # (P, L - 1, D_w)
