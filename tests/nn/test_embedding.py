"""What must hold of the embeddings of words and tokens."""

import math

import torch

from phraseloom.nn.embedding import TokenEmbedding, WordEmbedding, sinusoids
from tests.nn.graphs import idle_parameters

NGRAMS = torch.tensor([3, 1, 1, 0, 4])
OFFSETS = torch.tensor([0, 3])
"""Two unknown words: n-grams 3, 1, 1 and 0, 4."""


def make_words() -> WordEmbedding:
    torch.manual_seed(0)
    words = WordEmbedding(6, 4, buckets=5)
    words.ngrams.normal_()
    return words


def make_tokens() -> TokenEmbedding:
    torch.manual_seed(0)
    return TokenEmbedding(
        4, pos_tags=3, pos_width=2, position_width=6, feature_sizes=(3, 2), feature_width=5
    )


def test_known_words_have_their_row_and_others_the_mean_of_their_ngrams() -> None:
    words = make_words()

    found = words(torch.tensor([2, 7, 0, 6, 7]), NGRAMS, OFFSETS)

    expected = [
        words.table[2],
        (words.ngrams[0] + words.ngrams[4]) / 2,
        words.table[0],
        (words.ngrams[3] + 2 * words.ngrams[1]) / 3,
        (words.ngrams[0] + words.ngrams[4]) / 2,
    ]
    torch.testing.assert_close(found, torch.stack(expected))


def test_unknown_words_elsewhere_in_the_batch_change_nothing() -> None:
    words, none = make_words(), torch.zeros(0, dtype=torch.long)
    ids = torch.tensor([5, 1, 5])

    alone = words(ids, none, none)

    assert torch.equal(alone, words.table[ids])
    assert torch.equal(words(torch.cat([ids, torch.tensor([6, 7])]), NGRAMS, OFFSETS)[:3], alone)


def test_a_known_word_learns_and_an_unknown_one_leaves_the_table_alone() -> None:
    words = make_words()

    words(torch.tensor([2, 6]), NGRAMS, OFFSETS).sum().backward()

    assert words.table.grad is not None
    assert words.table.grad.any(1).nonzero().flatten().tolist() == [2]


def test_a_word_without_ngrams_is_zero() -> None:
    words = make_words()

    found = words(torch.tensor([6, 7]), NGRAMS[:3], torch.tensor([0, 3]))

    assert found[1].eq(0).all()


def test_tokens_join_their_parts() -> None:
    tokens, words = make_tokens(), torch.randn(3, 4)
    pos_ids, positions = torch.tensor([2, 0, 1]), torch.tensor([0, 7, 150])
    features = torch.tensor([[2, 0], [0, 1], [1, 1]])

    found = tokens(words, pos_ids, positions, features)

    for i in range(3):
        place = float(positions[i])
        position = [
            wave(place / 10_000 ** (2 * k / 6)) for k in range(3) for wave in (math.sin, math.cos)
        ]
        of_features = [table(ids) for table, ids in zip(tokens.features, features[i], strict=True)]
        parts = [words[i], tokens.pos.weight[pos_ids[i]], torch.tensor(position), *of_features]
        torch.testing.assert_close(found[i], torch.cat(parts))
    assert found.shape[1] == tokens.width


def test_renumbering_tokens_renumbers_their_embeddings() -> None:
    tokens, order = make_tokens(), torch.tensor([2, 0, 1])
    parts = [torch.randn(3, 4), torch.tensor([2, 0, 1]), torch.tensor([0, 1, 2])]
    parts.append(torch.tensor([[2, 0], [0, 1], [1, 1]]))

    assert torch.equal(tokens(*(part[order] for part in parts)), tokens(*parts)[order])


def test_positions_are_told_apart() -> None:
    found = sinusoids(torch.arange(600), 10)

    assert found.shape == (600, 10)
    assert len(found.unique(dim=0)) == 600
    assert found.abs().max() <= 1


def test_every_weight_learns() -> None:
    tokens = make_tokens()
    ids = torch.tensor([0, 1, 2])
    features = torch.tensor([[0, 0], [1, 1], [2, 1]])
    tokens(torch.randn(3, 4), ids, ids, features).square().sum().backward()

    assert idle_parameters(tokens) == []
