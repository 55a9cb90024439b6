"""Word vectors learn what Adam over the whole table would teach them, and so does their average."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import Parameter

from phraseloom.network.graph import Batch, collate
from phraseloom.train.word_table import WordTable
from tests.builders import make_example, make_lexicon

SIZE, WIDTH = 9, 4
BATCHES = [[1, 2], [2, 3], [4], [4, 12], [5, 5, 1], [2], *([[6]] * 30), [1, 3, 4], [10], [2, 7]]
"""Words of each step; from 9 on they are not in the table."""
RATES = [1e-2 * (1 - step / 50) for step in range(len(BATCHES))]
DECAYS = [min(0.9, (1 + step) / (10 + step)) for step in range(len(BATCHES))]
EMPTY = collate([make_example(0)], make_lexicon())


def make_batch(words: list[int]) -> Batch:
    return replace(EMPTY, word_ids=np.array(words))


def gradient_of(step: int) -> Tensor:
    """Of the whole table; a row has one if the step reads it."""
    is_read = torch.zeros(SIZE, 1)
    is_read[[word for word in BATCHES[step] if word < SIZE]] = 1
    return is_read * torch.randn(SIZE, WIDTH, generator=torch.Generator().manual_seed(step))


def learn_whole() -> list[tuple[Tensor, Tensor]]:
    """The table and its average after each step of torch's own Adam."""
    weight = Parameter(torch.linspace(-1, 1, SIZE * WIDTH).reshape(SIZE, WIDTH))
    average = weight.detach().clone()
    optimizer = torch.optim.Adam([weight])
    states = []
    for step, (rate, decay) in enumerate(zip(RATES, DECAYS, strict=True)):
        weight.grad = gradient_of(step)
        optimizer.param_groups[0]["lr"] = rate
        optimizer.step()
        average = decay * average + (1 - decay) * weight.detach()
        states.append((weight.detach().clone(), average))
    return states


def make_table() -> WordTable:
    table = torch.linspace(-1, 1, SIZE * WIDTH).reshape(SIZE, WIDTH)
    return WordTable(table, table.clone())


def do_step(words: WordTable, step: int) -> None:
    words.read(make_batch(BATCHES[step]))
    words.vectors.grad = gradient_of(step)[words.rows]
    words.update(step + 1, RATES[step], DECAYS[step])


def test_it_learns_what_adam_over_the_whole_table_would() -> None:
    words = make_table()
    for step, (table, average) in enumerate(learn_whole()):
        do_step(words, step)
        torch.testing.assert_close(words.current()[0], table, rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(words.current()[1], average, rtol=1e-4, atol=1e-5)


def test_what_a_batch_reads_is_up_to_date() -> None:
    words, states = make_table(), learn_whole()
    for step in range(1, len(BATCHES)):
        do_step(words, step - 1)
        table, _ = states[step - 1]
        batch = words.read(make_batch(BATCHES[step]))
        assert batch is not None
        for word, number in zip(BATCHES[step], batch.word_ids.tolist(), strict=True):
            if word >= SIZE:
                assert number - len(words.rows) == word - SIZE  # outside the table, as before
            else:
                torch.testing.assert_close(
                    words.vectors[number].detach(), table[word], rtol=1e-4, atol=1e-5
                )


def test_going_on_is_the_same_as_never_having_stopped() -> None:
    through, stopped = make_table(), make_table()
    for step in range(20):
        do_step(through, step)
        do_step(stopped, step)
    tables = stopped._table.clone(), stopped._average.clone()  # type: ignore[union-attr]
    resumed = WordTable(*tables)
    resumed.restore({name: array.copy() for name, array in stopped.arrays().items()})
    for step in range(20, len(BATCHES)):
        do_step(through, step)
        do_step(resumed, step)

    for ours, theirs in zip(through.current(), resumed.current(), strict=True):
        assert torch.equal(ours, theirs)


@pytest.mark.parametrize("parts", [([1, 2], [2, 3]), ([1, 2, 3], [])])
def test_processes_that_share_their_rows_stay_alike(parts: tuple[list[int], list[int]]) -> None:
    one, processes = make_table(), [make_table(), make_table()]
    do_step(one, 4)
    gradient = torch.ones(SIZE, WIDTH)
    one.read(make_batch([1, 2, 3]))
    one.vectors.grad = gradient[one.rows]
    one.update(2, 0.1, 0.5)
    for words, part in zip(processes, parts, strict=True):
        do_step(words, 4)
        words.read(make_batch(part) if part else None)
        if part:
            words.vectors.grad = gradient[words.rows]
    for words in processes:
        words.share(torch.tensor([0, 1, 2, 3]))
        words.vectors.grad = gradient[words.rows]
        words.update(2, 0.1, 0.5)

    for words in processes:
        assert torch.equal(words.current()[0], one.current()[0])
        assert torch.equal(words.current()[1], one.current()[1])
