r"""Learning from what whole lists are worth, once likelihood has taught the network to write.

Training with the adaptive reward RF1 (Chan et al., Neural Keyphrase Generation via Reinforcement
Learning with Adaptive Rewards, ACL 2019): with :math:`y` a list drawn from the network, r its
reward and b what can be expected of a list of this document, the gradient is that of

.. math:: -(r(y) - b) \log P(y),

equation (L4).

There, b is the reward of the greedy list. Here, several lists are drawn of each document, and b is
the mean reward of the others: nearly all lists that are drawn are worse than the greedy one, and
from lists of which most are worse a network learns what not to write, and hardly what to write.
The list that is drawn is what search writes, phrase after phrase, and its likelihood is the one
that training by likelihood minimises, so any network that learns by the one can learn by the other.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from phraseloom.config import ModelConfig
from phraseloom.network.example import Example
from phraseloom.network.graph import Batch
from phraseloom.network.lexicon import Ids, Lexicon
from phraseloom.network.model import KeyphraseModel, ModelDecoder
from phraseloom.network.ops import Weights
from phraseloom.slots import EOS, FIRST_WORD, SEP, Phrase
from phraseloom.train.corpus.targets import gold_slots, pack_targets
from phraseloom.train.loss import Losses, force_targets
from phraseloom.train.ops import TorchOps, as_arrays, as_tensor

MAX_PHRASES, MAX_WORDS = 10, 6
"""Of a list that is drawn."""
DRAWN = 4
"""Lists of each document."""

Choose = Callable[[NDArray[np.float32]], Ids]
"""Takes a slot of each row by its probabilities, ``(B, S)`` to ``(B,)``."""


@dataclass(frozen=True, slots=True)
class WrittenList:
    """A list of one document."""

    phrases: tuple[Phrase, ...]
    has_ended: bool
    """Whether EOS was written, and not only too many phrases."""


@dataclass(frozen=True, slots=True)
class GoldLists:
    """What drawn lists are compared with: the gold phrases of each document, as slots."""

    phrases: tuple[tuple[Phrase, ...], ...]


def collate_gold(batch: Batch, examples: Sequence[Example], chosen: Sequence[Ids]) -> GoldLists:
    """All gold phrases: a list is judged as a whole, whatever was ``chosen``."""
    return GoldLists(tuple(gold_slots(example) for example in examples))


def reward_losses(
    lexicon: Lexicon,
    config: ModelConfig,
    weights: Weights,
    batch: Batch,
    gold: GoldLists,
    ops: TorchOps,
) -> Losses:
    """Equation (L4), summed over drawn lists; its tokens are all of theirs.

    Lists are drawn without dropout, and by a seed that torch draws, so that a step can be repeated.
    """
    model = KeyphraseModel(config, lexicon, as_arrays(weights))
    seed = int(torch.randint(2**62, ()))
    documents = np.repeat(np.arange(len(batch)), DRAWN).tolist()
    choose = draw_by(np.random.default_rng(seed))
    lists = write_lists(ModelDecoder(model, batch), documents, choose)
    gains = find_gains(lists, [gold.phrases[b] for b in documents])
    tokens = sum(len(phrase) + 1 for written in lists for phrase in written.phrases)
    rows = [
        (i, number)
        for i in np.flatnonzero(gains).tolist()
        for number in range(len(lists[i].phrases))
    ]
    nothing = weights["encoder.words.table"].sum() * 0  # a step that moves nothing
    if not rows:
        return Losses(nothing, tokens, nothing.detach(), 1)
    targets = pack_targets(
        batch,
        documents,
        [written.phrases for written in lists],
        rows,
        is_last=lambda i, number: lists[i].has_ended and number + 1 == len(lists[i].phrases),
    )
    log_probs = force_targets(config, weights, batch, targets, ops).log_probs  # (P, L)
    gain_of_row = as_tensor(gains[[i for i, _ in rows]], log_probs.device)  # (P,)
    return Losses(-(log_probs.sum(1) * gain_of_row).sum(), tokens, nothing.detach(), 1)


def find_gains(
    lists: Sequence[WrittenList], gold: Sequence[Sequence[Phrase]]
) -> NDArray[np.float32]:
    """Reward of each list less the mean of the others of its document, ``(B * DRAWN,)``."""
    pairs = zip(lists, gold, strict=True)
    rewards = np.array([reward(written.phrases, wanted) for written, wanted in pairs])
    rewards = rewards.reshape(-1, DRAWN)  # (B, DRAWN)
    others = (rewards.sum(axis=1, keepdims=True) - rewards) / (DRAWN - 1)  # (B, DRAWN)
    return (rewards - others).astype(np.float32).reshape(-1)


def write_lists(
    decoder: ModelDecoder, documents: Sequence[int], choose: Choose
) -> list[WrittenList]:
    """Write a list for each of these documents, word after word, as ``choose`` takes them."""
    lists = [WrittenList((), has_ended=False)] * len(documents)
    active = list(range(len(lists)))
    while active:
        history = [lists[i].phrases for i in active]
        endings = _write_phrases(decoder, [documents[i] for i in active], history, choose)
        for i, (phrase, has_ended) in zip(active, endings, strict=True):
            lists[i] = WrittenList((*lists[i].phrases, phrase), has_ended)
        active = [i for i in active if not lists[i].has_ended]
        active = [i for i in active if len(lists[i].phrases) < MAX_PHRASES]
    return lists


def _write_phrases(
    decoder: ModelDecoder,
    documents: Sequence[int],
    history: Sequence[Sequence[Phrase]],
    choose: Choose,
) -> list[tuple[Phrase, bool]]:
    """The next phrase of each document, and whether its list ends with it."""
    state = decoder.begin(documents, history)
    phrases: list[Phrase] = [()] * len(documents)
    ends = np.full(len(documents), -1)  # (B,), SEP or EOS once a phrase has ended
    words = np.full(len(documents), SEP)  # (B,)
    while (ends < 0).any():
        log_probs, state = decoder.advance(words[:, None], state)  # (B, 1, S)
        words = choose(_allowed_probs(log_probs[:, 0], len(max(phrases, key=len))))  # (B,)
        is_end = (words < FIRST_WORD) & (ends < 0)  # (B,)
        ends[is_end] = words[is_end]
        words[ends >= 0] = SEP
        phrases = [
            (*phrase, word) if word >= FIRST_WORD else phrase
            for phrase, word in zip(phrases, words.tolist(), strict=True)
        ]
    return [(phrase, end == EOS) for phrase, end in zip(phrases, ends.tolist(), strict=True)]


def _allowed_probs(log_probs: NDArray[np.float32], words: int) -> NDArray[np.float32]:
    """Probabilities of what may follow so many words: no empty phrase, and none too long."""
    probs = np.exp(log_probs)  # (B, S)
    if words == 0:
        probs[:, :FIRST_WORD] = 0
    if words == MAX_WORDS:
        probs[:, FIRST_WORD:] = 0
    return probs / probs.sum(axis=1, keepdims=True)


def draw_by(generator: np.random.Generator) -> Choose:
    """Choose each slot as often as is probable."""

    def draw(probs: NDArray[np.float32]) -> Ids:
        sums = probs.cumsum(axis=1, dtype=np.float64)  # (B, S)
        marks = generator.random((len(probs), 1)) * sums[:, -1:]  # (B, 1)
        return (sums <= marks).sum(axis=1)

    return draw


def reward(phrases: Sequence[Phrase], gold: Sequence[Phrase]) -> float:
    """RF1: recall of a list that is too short, else F1.

    A phrase that comes twice makes the list longer and is right once, or lists would never end.

    >>> reward([(2,)], [(2,), (3,)]), reward([(2,), (2,)], [(2,), (3,)])
    (0.5, 0.5)
    >>> reward([(2,), (3,)], [(2,), (3,)]), reward([(2,), (3,), (2,), (3,)], [(2,), (3,)])
    (1.0, 0.6666666666666666)
    """
    wanted = set(gold)
    hits = len(wanted.intersection(phrases))
    if len(phrases) < len(wanted):
        return hits / len(wanted)
    return 2 * hits / (len(phrases) + len(wanted))
