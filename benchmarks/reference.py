"""The network as one would first write it: padded, dense, everything anew for each phrase.

It reads the weights of a `KeyphraseModel` and is told of documents by their `Example`s, so that it
shares neither batching, nor graph structure, nor sparse products with the package. It is the oracle
of ``tests/model/test_network.py`` and what ``bench_train_step.py`` measures against. Equations are
those of docs/notation.md; every document has at least one phrase.

Axes: B documents that have a phrase of the number at hand, T tokens, M distinct stems, S entries.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from phraseloom.data.batch import EOS, FIRST_WORD, SEP
from phraseloom.data.example import Example
from phraseloom.data.lexicon import Lexicon
from phraseloom.model.decoder import COUNTED_PHRASES
from phraseloom.model.network import KeyphraseModel, Losses
from phraseloom.nn.attention import AdditiveAttention
from phraseloom.nn.embedding import sinusoids
from phraseloom.nn.gcn import GraphConvolution


@dataclass(frozen=True)
class Padded:
    """The p-th phrases of some documents, and all that is needed to read those documents."""

    number: int
    word_ids: Tensor  # (B, T)
    outside: Tensor  # (B, T, D_w), vectors of unknown words, else zero
    is_known: Tensor  # (B, T)
    pos_ids: Tensor  # (B, T)
    features: Tensor  # (B, T, 3)
    marks: Tensor  # (B, T, 4)
    styles: Tensor  # (B,)
    lengths: Tensor  # (B,)
    edge_types: Tensor  # (B, T, T), into row i from column j; -1 where there is no edge
    slots: Tensor  # (B, T), distinct stem of each token; -1 under padding
    first: Tensor  # (B, M), first token of each stem
    said: Tensor  # (B, M), how often each stem was said before
    targets: Tensor  # (B, L), -1 under padding
    important: Tensor  # (B, M)


def pad(examples: Sequence[Example], model: KeyphraseModel, lexicon: Lexicon) -> list[Padded]:
    """Pad the documents that have a p-th phrase, for each p."""
    most = max(len(example.phrases) for example in examples)
    return [
        _pad_phrase([e for e in examples if len(e.phrases) > number], number, model, lexicon)
        for number in range(most)
    ]


def reference_losses(model: KeyphraseModel, phrases: Sequence[Padded]) -> Losses:
    """What ``model(batch, targets)`` returns, one phrase number after another."""
    zero = model.decoder.start.new_zeros(())
    sequence, importance, tokens, entries = zero, zero, 0, 0
    for padded in phrases:
        of_phrase = _read_and_say(model, padded)
        sequence, tokens = sequence + of_phrase.sequence, tokens + of_phrase.tokens
        if model.encoder.is_dynamic or padded.number == 0:
            importance = importance + of_phrase.importance
            entries += of_phrase.entries
    return Losses(sequence, tokens, importance, max(1, entries))


def _read_and_say(model: KeyphraseModel, padded: Padded) -> Losses:
    encoder, config = model.encoder, model.config
    words = F.embedding(padded.word_ids, encoder.words.table) * padded.is_known[..., None]
    words = words + padded.outside  # (B, T, D_w)
    by_slot = _gather(words, padded.first)  # (B, M, D_w)
    tokens = _token_embeddings(model, padded, words)  # (B, T, D_e)
    nodes, start = _contextualise(model, padded, tokens)  # (B, T, D), (B, D)
    if config.variant != "gru":
        nodes = _convolve(model, _adjacency(model, padded, tokens, by_slot), nodes)  # (B, T, D)
    owners = padded.slots  # (B, S), slot of each entry; -1: none
    if config.merge:
        nodes = _membership(padded).transpose(1, 2) @ nodes  # (B, M, D), sums
        counts = _membership(padded).sum(1)  # (B, M)
        nodes = nodes / counts.clamp(min=1)[..., None]  # (B, M, D)
        owners = torch.arange(nodes.shape[1]).where(counts > 0, -1)  # (B, M)
    if config.gate:
        gate = encoder.gate
        nodes = nodes + (nodes @ gate.value.weight.t()) * (nodes @ gate.gate.weight.t()).sigmoid()
    importance = _importance_loss(model, padded, nodes, owners)
    is_real = owners >= 0  # (B, S)
    nodes = _dropout(model, nodes) * is_real[..., None]  # (B, S, D)
    if config.pooling:
        start = nodes.sum(1) / is_real.sum(1, keepdim=True)  # (B, D)
    inputs = _decoder_inputs(model, padded, by_slot)  # (B, L, D_w)
    log_probs = _say(model, padded, nodes, owners, start, inputs)  # (B, L, FIRST_WORD + M)
    picked = log_probs.gather(2, padded.targets.clamp(min=0)[..., None]).squeeze(2)  # (B, L)
    wanted = padded.targets >= 0  # (B, L)
    entries = int(is_real.sum()) if config.importance else 0
    return Losses(-picked[wanted].sum(), int(wanted.sum()), importance, entries)


def _token_embeddings(model: KeyphraseModel, padded: Padded, words: Tensor) -> Tensor:
    """Equations (E2) and (E3)."""
    encoder, config = model.encoder, model.config
    size = words.shape[1]
    position = sinusoids(torch.arange(size), config.position_width)  # (T, d_p)
    parts = [words, encoder.tokens.pos(padded.pos_ids), position.expand(len(words), -1, -1)]
    ids = list(padded.features.unbind(2)) if config.node_features else []
    ids += list(padded.marks.unbind(2)) if config.known_phrases else []
    if config.styles:
        ids.append(padded.styles[:, None].expand(-1, size))
    parts += [table(i) for table, i in zip(encoder.tokens.features, ids, strict=True)]
    return torch.cat(parts, 2)  # (B, T, D_e)


def _contextualise(model: KeyphraseModel, padded: Padded, tokens: Tensor) -> tuple[Tensor, Tensor]:
    """Equation (E4)."""
    packed = pack_padded_sequence(
        _dropout(model, tokens), padded.lengths, batch_first=True, enforce_sorted=False
    )
    states, last = model.encoder.context(packed)
    nodes, _ = pad_packed_sequence(states, batch_first=True)  # (B, T, D)
    return _dropout(model, nodes), torch.cat([last[0], last[1]], 1)


def _adjacency(model: KeyphraseModel, padded: Padded, tokens: Tensor, by_slot: Tensor) -> Tensor:
    """Equations (G1) to (G3) and (G5): the weights A divided by the degree, ``(B, T, T)``."""
    encoder, config = model.encoder, model.config
    joined = 2 * encoder.tokens.width + config.edge_width
    as_target, as_source = encoder.edges.ends(tokens).unbind(2)  # (B, T), (B, T)
    of_type = encoder.edges.type_score(encoder.edges.types.weight).squeeze(1)
    scores = as_target[:, :, None] + as_source[:, None] + of_type[padded.edge_types.clamp(min=0)]
    scores = scores / (joined**0.5 if config.scaled_edges else 1)  # (B, T, T)
    if encoder.is_dynamic:
        said = padded.said[:, None] @ by_slot / padded.said.sum(1).clamp(min=1)[:, None, None]
        said_width = config.word_width if config.scaled_edges else 1
        scores = scores + encoder.shift.score(said) / said_width**0.5  # (B, T, T)
        if config.edge_scorer == "interaction":
            pair = encoder.interaction
            spoken = pair.said(said) / (config.interaction_rank * said_width) ** 0.5  # (B, 1, rank)
            scores = scores + (pair.target(tokens) * spoken).sum(2)[:, :, None]
            scores = scores + (pair.source(tokens) * spoken).sum(2)[:, None]
    is_edge = padded.edge_types >= 0  # (B, T, T)
    degrees = is_edge.sum(2, keepdim=True).clamp(min=1)  # (B, T, 1)
    return scores.sigmoid() * is_edge / degrees


def _convolve(model: KeyphraseModel, adjacency: Tensor, nodes: Tensor) -> Tensor:
    """Equation (G4), layer by layer."""
    for layer in model.encoder.convolutions:
        assert isinstance(layer, GraphConvolution)
        received = torch.bmm(adjacency, layer.message(nodes)).relu()  # (B, T, D)
        nodes = nodes + received if model.config.residual else received
    return nodes


def _importance_loss(
    model: KeyphraseModel, padded: Padded, nodes: Tensor, owners: Tensor
) -> Tensor:
    """Equation (L2)."""
    if not model.config.importance:
        return nodes.new_zeros(())
    logits = model.encoder.importance(nodes).squeeze(2)  # (B, S)
    wanted = padded.important.gather(1, owners.clamp(min=0))  # (B, S)
    losses = F.binary_cross_entropy_with_logits(logits, wanted, reduction="none")
    return (losses * (owners >= 0)).sum()


def _decoder_inputs(model: KeyphraseModel, padded: Padded, by_slot: Tensor) -> Tensor:
    """Start vector, then the words of the phrase, ``(B, L, D_w)``."""
    decoder = model.decoder
    number = min(padded.number, COUNTED_PHRASES - 1)
    first = (decoder.start + decoder.number.weight[number]).expand(len(by_slot), -1)  # (B, D_w)
    if decoder.style is not None:
        first = first + decoder.style(padded.styles)
    spoken = (padded.targets[:, :-1] - FIRST_WORD).clamp(min=0)  # (B, L - 1)
    return torch.cat([first[:, None], _gather(by_slot, spoken)], 1)


def _say(
    model: KeyphraseModel,
    padded: Padded,
    nodes: Tensor,
    owners: Tensor,
    start: Tensor,
    inputs: Tensor,
) -> Tensor:
    """Equations (A1), (A2), (D1) and (D2): log-probabilities, ``(B, L, FIRST_WORD + M)``."""
    decoder = model.decoder
    memory = torch.cat([decoder.ends.expand(len(nodes), 2, -1), nodes], 1)  # (B, 2 + S, D)
    ends = torch.tensor([SEP, EOS]).expand(len(nodes), 2)
    slot_of = torch.cat([ends, owners + FIRST_WORD], 1)  # (B, 2 + S)
    is_real = F.pad(owners >= 0, (2, 0), value=True)  # (B, 2 + S)
    coverage = F.pad(padded.said, (2, 0))  # (B, 2 + M)
    states, _ = decoder.gru(
        _dropout(model, inputs), start.expand(decoder.layers, -1, -1).contiguous()
    )
    states = _dropout(model, states)  # (B, L, D)
    steps = []
    for state in states.unbind(1):
        scores = _scores(model, state, memory, coverage.gather(1, slot_of))  # (B, 2 + S)
        probs = scores.masked_fill(~is_real, -torch.inf).softmax(1)  # (B, 2 + S)
        of_slots = torch.zeros_like(coverage).scatter_add(1, slot_of, probs)  # (B, 2 + M)
        coverage = coverage + of_slots
        steps.append(of_slots.clamp(min=1e-30).log())
    return torch.stack(steps, 1)


def _scores(model: KeyphraseModel, state: Tensor, memory: Tensor, coverage: Tensor) -> Tensor:
    """Scores of every entry ``(B, 2 + S)`` for one state ``(B, D)``."""
    attention = model.decoder.attention
    query = attention.query(state)[:, None]  # (B, 1, D)
    covered = coverage[..., None] * attention.coverage  # (B, 2 + S, D)
    if isinstance(attention, AdditiveAttention):
        return (query + attention.key(memory) + covered).tanh() @ attention.value
    return attention.scale * (query * (memory + covered)).sum(2)


def _dropout(model: KeyphraseModel, values: Tensor) -> Tensor:
    return F.dropout(values, model.config.dropout, model.training)


def _gather(rows: Tensor, index: Tensor) -> Tensor:
    """Rows ``(B, X, D)`` at an index ``(B, Y)``."""
    return rows.gather(1, index[..., None].expand(-1, -1, rows.shape[2]))


def _membership(padded: Padded) -> Tensor:
    """1 where token t has stem m, ``(B, T, M)``."""
    return (padded.slots[..., None] == torch.arange(padded.first.shape[1])).float()


def _pad_phrase(
    examples: Sequence[Example], number: int, model: KeyphraseModel, lexicon: Lexicon
) -> Padded:
    said = [_count(example, number) for example in examples]
    return Padded(
        number=number,
        word_ids=_stack(
            [np.where(e.word_ids < len(lexicon.words), e.word_ids, 0) for e in examples]
        ),
        outside=torch.nn.utils.rnn.pad_sequence(
            [_outside(example, model, lexicon) for example in examples], batch_first=True
        ),
        is_known=_stack([e.word_ids < len(lexicon.words) for e in examples]),
        pos_ids=_stack([example.pos_ids for example in examples]),
        features=_stack([example.features for example in examples]),
        marks=_stack([example.marks for example in examples]),
        styles=torch.tensor([example.style for example in examples]),
        lengths=torch.tensor([len(example) for example in examples]),
        edge_types=_edge_types(examples, relations=len(lexicon.relations)),
        slots=_stack([example.stem_ids for example in examples], value=-1),
        first=_stack([np.unique(e.stem_ids, return_index=True)[1] for e in examples]),
        said=_stack([counts.astype(np.float32) for counts in said]),
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


def _outside(example: Example, model: KeyphraseModel, lexicon: Lexicon) -> Tensor:
    """Equation (E1) for unknown words: mean n-gram vector, ``(T, D_w)``; zero for the others."""
    table = model.encoder.words.ngrams
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
