"""The network as one would first write it: padded, dense, everything anew for each phrase.

It reads the weights of a network and documents as `Example`s, so that it shares neither batching,
nor graph structure, nor sparse products with the package. It is the oracle of
``tests/train/test_loss.py`` and what ``bench_train_step.py`` measures against. Equations are
those of docs/notation.md; every document has at least one phrase.

Axes: B documents that have a phrase of the number at hand, T tokens, M distinct stems, S entries.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from phraseloom.config import ModelConfig
from phraseloom.network.decoder import NUMBERED_PHRASES
from phraseloom.network.example import Example, token_width
from phraseloom.network.lexicon import Lexicon
from phraseloom.slots import EOS, FIRST_WORD, SEP
from phraseloom.train.loss import Losses


@dataclass(frozen=True)
class Network:
    """Weights as tensors, and what they are the weights of."""

    config: ModelConfig
    lexicon: Lexicon
    weights: Mapping[str, Tensor]
    dropout: float = 0.0

    def __getitem__(self, name: str) -> Tensor:
        return self.weights[name]

    def linear(self, name: str, x: Tensor) -> Tensor:
        return F.linear(x, self[f"{name}.weight"], self.weights.get(f"{name}.bias"))

    def run_gru(self, name: str, gru: nn.GRU, *inputs: Any) -> Any:
        """Torch's own GRU, with weights of the network."""
        weights = {weight: self[f"{name}.{weight}"] for weight, _ in gru.named_parameters()}
        return torch.func.functional_call(gru, weights, inputs)

    def drop(self, values: Tensor) -> Tensor:
        return F.dropout(values, self.dropout)


@dataclass(frozen=True)
class Padded:
    """The p-th phrases of some documents, and all that is needed to read those documents."""

    number: int
    word_ids: Tensor  # (B, T)
    outside: Tensor  # (B, T, D_w), vectors of unknown words, else zero
    is_known: Tensor  # (B, T)
    pos_ids: Tensor  # (B, T)
    node_features: Tensor  # (B, T, 3)
    glossary_features: Tensor  # (B, T, 4)
    token_features: Tensor  # (B, T, 3)
    styles: Tensor  # (B,)
    lengths: Tensor  # (B,)
    edge_types: Tensor  # (B, T, T), into row i from column j; -1 where there is no edge
    slots: Tensor  # (B, T), distinct stem of each token; -1 under padding
    first: Tensor  # (B, M), first token of each stem
    history: Tensor  # (B, M), how often each stem was written before
    targets: Tensor  # (B, L), -1 under padding
    important: Tensor  # (B, M)


def pad(examples: Sequence[Example], network: Network) -> list[Padded]:
    """Pad the documents that have a p-th phrase, for each p."""
    most = max(len(example.phrases) for example in examples)
    return [
        _pad_phrase([e for e in examples if len(e.phrases) > number], number, network)
        for number in range(most)
    ]


def reference_losses(network: Network, phrases: Sequence[Padded]) -> Losses:
    """What `sequence_losses` returns, one phrase number after another."""
    zero = network["decoder.start"].new_zeros(())
    sequence, importance, tokens, entries = zero, zero, 0, 0
    for padded in phrases:
        of_phrase = _read_and_write(network, padded)
        sequence, tokens = sequence + of_phrase.sequence, tokens + of_phrase.tokens
        importance = importance + of_phrase.importance
        entries += of_phrase.entries
    return Losses(sequence, tokens, importance, max(1, entries))


def _read_and_write(network: Network, padded: Padded) -> Losses:
    config = network.config
    words = (
        F.embedding(padded.word_ids, network["encoder.words.table"]) * padded.is_known[..., None]
    )
    words = words + padded.outside  # (B, T, D_w)
    by_slot = _gather(words, padded.first)  # (B, M, D_w)
    tokens = _token_embeddings(network, padded, words)  # (B, T, D_e)
    nodes, start = _contextualise(network, padded, tokens)  # (B, T, D), (B, D)
    opening = nodes
    if config.variant != "gru":
        still = replace(padded, history=0 * padded.history)
        opening = _convolve(network, still, tokens, by_slot, nodes)  # (B, T, D)
        nodes = _convolve(network, padded, tokens, by_slot, nodes)  # (B, T, D)
    if config.variant != "dgcn" or config.dynamic_layers != "merged":
        opening = nodes
    owners = padded.slots  # (B, S), slot of each entry; -1: none
    if config.merge:
        counts = _membership(padded).sum(1)  # (B, M)
        shares = _membership(padded).transpose(1, 2) / counts.clamp(min=1)[..., None]  # (B, M, T)
        nodes, opening = shares @ nodes, shares @ opening  # (B, M, D)
        owners = torch.arange(nodes.shape[1]).where(counts > 0, -1)  # (B, M)
    if config.gate:
        gate = network.linear("encoder.gate.gate", opening).sigmoid()  # (B, S, D)
        nodes = nodes + network.linear("encoder.gate.value", nodes) * gate  # (B, S, D)
    importance = _importance_loss(network, padded, nodes, owners)
    is_real = owners >= 0  # (B, S)
    nodes = network.drop(nodes) * is_real[..., None]  # (B, S, D)
    if config.pooling:
        start = nodes.sum(1) / is_real.sum(1, keepdim=True)  # (B, D)
    inputs = _decoder_inputs(network, padded, by_slot)  # (B, L, D_w)
    log_probs = _write(network, padded, nodes, owners, start, inputs)  # (B, L, FIRST_WORD + M)
    picked = log_probs.gather(2, padded.targets.clamp(min=0)[..., None]).squeeze(2)  # (B, L)
    wanted = padded.targets >= 0  # (B, L)
    entries = int(is_real.sum()) if config.importance else 0
    return Losses(-picked[wanted].sum(), int(wanted.sum()), importance, entries)


def _token_embeddings(network: Network, padded: Padded, words: Tensor) -> Tensor:
    """Equations (E2) and (E3)."""
    config, size = network.config, words.shape[1]
    pos = F.embedding(padded.pos_ids, network["encoder.tokens.pos.weight"])
    parts = [words, pos, _sinusoids(size, config.position_width).expand(len(words), -1, -1)]
    ids = list(padded.node_features.unbind(2)) if config.node_features else []
    ids += list(padded.glossary_features.unbind(2)) if config.glossary_features else []
    if config.styles:
        ids.append(padded.styles[:, None].expand(-1, size))
    ids += list(padded.token_features.unbind(2)) if config.token_features else []
    for table, column in enumerate(ids):
        parts.append(F.embedding(column, network[f"encoder.tokens.features.{table}.weight"]))
    return torch.cat(parts, 2)  # (B, T, D_e)


def _sinusoids(size: int, width: int) -> Tensor:
    """Equation (E3), ``(T, d_p)``."""
    rates = 10_000.0 ** (-torch.arange(0, width, 2) / width)
    angles = torch.arange(size)[:, None] * rates  # (T, d_p / 2)
    return torch.stack([angles.sin(), angles.cos()], 2).flatten(1)


def _contextualise(network: Network, padded: Padded, tokens: Tensor) -> tuple[Tensor, Tensor]:
    """Equation (E4)."""
    packed = pack_padded_sequence(
        network.drop(tokens), padded.lengths, batch_first=True, enforce_sorted=False
    )
    width, tokens_width = network.config.width // 2, tokens.shape[2]
    gru = nn.GRU(tokens_width, width, bidirectional=True)
    states, last = network.run_gru("encoder.context", gru, packed)
    nodes, _ = pad_packed_sequence(states, batch_first=True)  # (B, T, D)
    return network.drop(nodes), torch.cat([last[0], last[1]], 1)


def _adjacency(
    network: Network, padded: Padded, tokens: Tensor, by_slot: Tensor, layer: int
) -> Tensor:
    """Equations (G1) to (G3): the weights A divided by the degree, ``(B, T, T)``."""
    config = network.config
    joined = 2 * token_width(config) + config.edge_width
    as_target, as_source = network.linear("encoder.edges.ends", tokens).unbind(2)  # (B, T), (B, T)
    types = network["encoder.edges.types.weight"]
    of_type = network.linear("encoder.edges.type_score", types).squeeze(1)
    scores = as_target[:, :, None] + as_source[:, None] + of_type[padded.edge_types.clamp(min=0)]
    scores = scores / (joined**0.5 if config.scaled_edges else 1)  # (B, T, T)
    is_told = config.dynamic_layers == "all" or layer == config.layers - 1
    factors: Tensor | float = 1.0
    if config.variant == "dgcn" and is_told:
        history = _history(padded, by_slot)  # (B, 1, D_w)
        factors = _factors(network, padded, tokens, history)  # (B, T, 1)
    if config.variant == "dgcn" and is_told and config.dynamic_layers != "merged":
        width = config.word_width if config.scaled_edges else 1
        scores = scores + network.linear("encoder.shift.score", history) / width**0.5  # (B, T, T)
        if config.edge_scorer == "interaction":
            scale = (config.interaction_rank * width) ** -0.5
            query = scale * network.linear("encoder.interaction.said", history)  # (B, 1, rank)
            as_target = network.linear("encoder.interaction.target", tokens)  # (B, T, rank)
            as_source = network.linear("encoder.interaction.source", tokens)  # (B, T, rank)
            scores = scores + (as_target * query).sum(2)[:, :, None]
            scores = scores + (as_source * query).sum(2)[:, None]
    is_edge = padded.edge_types >= 0  # (B, T, T)
    degrees = is_edge.sum(2, keepdim=True).clamp(min=1)  # (B, T, 1)
    return factors * scores.sigmoid() * is_edge / degrees


def _factors(network: Network, padded: Padded, tokens: Tensor, history: Tensor) -> Tensor | float:
    """Equation (G6): the factor of the edges into each token, ``(B, T, 1)``."""
    config = network.config
    if config.dynamic_layers != "merged":
        return 1.0
    width = config.word_width if config.scaled_edges else 1
    score = network.linear("encoder.shift.score", history) / width**0.5  # (B, 1, 1)
    if config.edge_scorer == "interaction":
        query = network.linear("encoder.interaction.said", history)  # (B, 1, rank)
        of_tokens = network.linear("encoder.interaction.target", tokens)  # (B, T, rank)
        if config.merge:
            of_stem = _membership(padded)  # (B, T, M)
            means = of_stem.transpose(1, 2) @ of_tokens / of_stem.sum(1).clamp(min=1)[..., None]
            of_tokens = of_stem @ means  # (B, T, rank)
        products = (of_tokens * query).sum(2, keepdim=True)  # (B, T, 1)
        score = score + products / (config.interaction_rank * width) ** 0.5
    return 2 * (2 * score).sigmoid()


def _history(padded: Padded, by_slot: Tensor) -> Tensor:
    """Equation (G5), ``(B, 1, D_w)``."""
    counts = padded.history.sum(1).clamp(min=1)[:, None, None]
    return padded.history[:, None] @ by_slot / counts


def _convolve(
    network: Network, padded: Padded, tokens: Tensor, by_slot: Tensor, nodes: Tensor
) -> Tensor:
    """Equation (G4), layer by layer."""
    for layer in range(network.config.layers):
        adjacency = _adjacency(network, padded, tokens, by_slot, layer)  # (B, T, T)
        messages = network.linear(f"encoder.convolutions.{layer}.message", nodes)
        received = torch.bmm(adjacency, messages).relu()  # (B, T, D)
        nodes = nodes + received if network.config.residual else received
    return nodes


def _importance_loss(network: Network, padded: Padded, nodes: Tensor, owners: Tensor) -> Tensor:
    """Equation (L2)."""
    if not network.config.importance:
        return nodes.new_zeros(())
    logits = network.linear("encoder.importance", nodes).squeeze(2)  # (B, S)
    wanted = padded.important.gather(1, owners.clamp(min=0))  # (B, S)
    losses = F.binary_cross_entropy_with_logits(logits, wanted, reduction="none")
    return (losses * (owners >= 0)).sum()


def _decoder_inputs(network: Network, padded: Padded, by_slot: Tensor) -> Tensor:
    """Start vector, then the words of the phrase, ``(B, L, D_w)``."""
    number = min(padded.number, NUMBERED_PHRASES - 1) if network.config.numbered else 0
    first = network["decoder.start"] + network["decoder.number.weight"][number]
    first = first.expand(len(by_slot), -1)  # (B, D_w)
    if network.config.styles:
        first = first + F.embedding(padded.styles, network["decoder.style.weight"])
    written = (padded.targets[:, :-1] - FIRST_WORD).clamp(min=0)  # (B, L - 1)
    return torch.cat([first[:, None], _gather(by_slot, written)], 1)


def _write(
    network: Network,
    padded: Padded,
    nodes: Tensor,
    owners: Tensor,
    start: Tensor,
    inputs: Tensor,
) -> Tensor:
    """Equations (A1), (A2), (D1) and (D2): log-probabilities, ``(B, L, FIRST_WORD + M)``."""
    memory = torch.cat(
        [network["decoder.ends"].expand(len(nodes), 2, -1), nodes], 1
    )  # (B, 2 + S, D)
    ends = torch.tensor([SEP, EOS]).expand(len(nodes), 2)
    slot_of = torch.cat([ends, owners + FIRST_WORD], 1)  # (B, 2 + S)
    is_real = F.pad(owners >= 0, (2, 0), value=True)  # (B, 2 + S)
    config = network.config
    coverage = F.pad(padded.history * config.history_coverage, (2, 0))  # (B, 2 + M)
    layers = config.decoder_layers
    gru = nn.GRU(config.word_width, config.width, layers, batch_first=True)
    begin = start.expand(layers, -1, -1).contiguous()  # (layers, B, D)
    states, _ = network.run_gru("decoder.gru", gru, network.drop(inputs), begin)
    states = network.drop(states)  # (B, L, D)
    steps = []
    for state in states.unbind(1):
        scores = _scores(network, state, memory, coverage.gather(1, slot_of))  # (B, 2 + S)
        probs = scores.masked_fill(~is_real, -torch.inf).softmax(1)  # (B, 2 + S)
        of_slots = torch.zeros_like(coverage).scatter_add(1, slot_of, probs)  # (B, 2 + M)
        coverage = coverage + of_slots
        steps.append(of_slots.clamp(min=1e-30).log())
    return torch.stack(steps, 1)


def _scores(network: Network, state: Tensor, memory: Tensor, coverage: Tensor) -> Tensor:
    """Scores of every entry ``(B, 2 + S)`` for one state ``(B, D)``."""
    query = network.linear("decoder.attention.query", state)[:, None]  # (B, 1, D)
    covered = coverage[..., None] * network["decoder.attention.coverage"]  # (B, 2 + S, D)
    if network.config.attention == "additive":
        keys = network.linear("decoder.attention.key", memory)  # (B, 2 + S, D)
        return (query + keys + covered).tanh() @ network["decoder.attention.value"]
    return (query * (memory + covered)).sum(2) / network.config.width**0.5


def _gather(rows: Tensor, index: Tensor) -> Tensor:
    """Rows ``(B, X, D)`` at an index ``(B, Y)``."""
    return rows.gather(1, index[..., None].expand(-1, -1, rows.shape[2]))


def _membership(padded: Padded) -> Tensor:
    """1 where token t has stem m, ``(B, T, M)``."""
    return (padded.slots[..., None] == torch.arange(padded.first.shape[1])).float()


def _pad_phrase(examples: Sequence[Example], number: int, network: Network) -> Padded:
    lexicon = network.lexicon
    history = [_count(example, number) for example in examples]
    return Padded(
        number=number,
        word_ids=_stack(
            [np.where(e.word_ids < len(lexicon.words), e.word_ids, 0) for e in examples]
        ),
        outside=torch.nn.utils.rnn.pad_sequence(
            [_outside(example, network) for example in examples], batch_first=True
        ),
        is_known=_stack([e.word_ids < len(lexicon.words) for e in examples]),
        pos_ids=_stack([example.pos_ids for example in examples]),
        node_features=_stack([example.node_features for example in examples]),
        glossary_features=_stack([example.glossary_features for example in examples]),
        token_features=_stack([example.token_features for example in examples]),
        styles=torch.tensor([example.style for example in examples]),
        lengths=torch.tensor([len(example) for example in examples]),
        edge_types=_edge_types(examples, relations=len(lexicon.relations)),
        slots=_stack([example.stem_ids for example in examples], value=-1),
        first=_stack([np.unique(e.stem_ids, return_index=True)[1] for e in examples]),
        history=_stack([counts.astype(np.float32) for counts in history]),
        targets=_stack([_target(example, number) for example in examples], value=-1),
        important=_stack([(_count(e, len(e.phrases)) > 0).astype(np.float32) for e in examples]),
    )


def _stack(arrays: Sequence[np.ndarray], *, value: int = 0) -> Tensor:
    rows = [torch.from_numpy(np.ascontiguousarray(array)) for array in arrays]
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=value)


def _count(example: Example, phrases: int) -> np.ndarray:
    """How often each stem occurs in the first phrases."""
    counts = np.zeros(example.stem_ids.max() + 1, dtype=np.int64)
    for phrase in example.phrases[:phrases]:
        for stem in phrase:
            counts[stem] += 1
    return counts


def _target(example: Example, number: int) -> np.ndarray:
    end = EOS if number == len(example.phrases) - 1 else SEP
    return np.array([*(example.phrases[number] + FIRST_WORD), end])


def _outside(example: Example, network: Network) -> Tensor:
    """Equation (E1) for unknown words: mean n-gram vector, ``(T, D_w)``; zero for the others."""
    table, lexicon = network["encoder.words.ngrams"], network.lexicon
    vectors = table.new_zeros(len(example), table.shape[1])
    for token, word in enumerate(example.word_ids.tolist()):
        if word >= len(lexicon.words):
            ngrams = lexicon.ngrams(example.unknown[word - len(lexicon.words)])
            vectors[token] = table[torch.tensor(ngrams)].mean(0)
    return vectors


def _edge_types(examples: Sequence[Example], *, relations: int) -> Tensor:
    longest = max(len(example) for example in examples)
    types = torch.full((len(examples), longest, longest), -1)
    for b, example in enumerate(examples):
        for token in range(len(example)):
            head, relation = int(example.heads[token]), int(example.relation_ids[token])
            types[b, token, token] = 0
            if head != token:
                types[b, token, head] = 1 + relation
                types[b, head, token] = 1 + relations + relation
    return types
