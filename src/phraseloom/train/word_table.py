r"""Word vectors while they learn: a step reads and writes only the rows of its batch.

Adam goes on moving a row for a while after the step that met it, and the moving average follows for
longer. As long as no batch reads the row, both have a closed form, (L3). With gradients of zero the
moments are :math:`\beta_1^k m` and :math:`\beta_2^k v` after k steps, so that the vector is

.. math::
    w_{t+k} = w_t - F_k\, u, \qquad u = m_t / (\sqrt{v_t} + \epsilon), \qquad
    F_k = \sum_{j=1}^k \eta_{t+j} (\beta_1 / \sqrt{\beta_2})^j

where :math:`\eta_s` is the learning rate of step s with Adam's corrections for the first steps, and
the average, which decays by :math:`d_s`, is :math:`A_k \bar w_t + (1 - A_k) w_t - E_k u` with
:math:`A_{k+1} = d A_k` and :math:`E_{k+1} = d E_k + (1 - d) F_{k+1}`. These are three numbers a row
and step. So the rows of a batch are brought up to date before they are read, and what is learned is
what Adam over the whole table would learn; only :math:`\epsilon` fades with the moment beside it.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import Parameter

from phraseloom.network.graph import Batch
from phraseloom.train.ops import as_tensor

BETAS = 0.9, 0.999
"""How fast Adam's moments fade."""
EPSILON = 1e-8
"""Its divisor is at least so large."""
_BETA1, _BETA2 = BETAS
_STATE = ("exp_avg", "exp_avg_sq", "missed", "moved", "kept", "lag")


class WordTable:
    """The learned table of word vectors, with Adam's moments and the moving average of each row.

    Attributes:
        rows: that the step at hand reads, ascending, ``(R,)``.
        vectors: theirs, ``(R, D_w)``: what a gradient is taken of.
    """

    def __init__(self, table: Tensor, average: Tensor | None) -> None:
        """Take the table and its average, ``(V, D_w)``; both are changed in place."""
        size, device = len(table), table.device
        self._table, self._average = table, average
        self._first, self._second = torch.zeros_like(table), torch.zeros_like(table)  # m, v
        # k of each row: steps since a batch last read it
        self._missed = torch.zeros(size, device=device)
        self._moved, self._lag = (torch.zeros(size, device=device) for _ in range(2))  # F_k, E_k
        self._kept = torch.ones(size, device=device)  # A_k
        self.rows = torch.zeros(0, dtype=torch.int64, device=device)
        self.vectors = Parameter(table[self.rows])

    def read(self, batch: Batch | None) -> Batch | None:
        """Bring the rows that a batch reads up to date, and number its words by them.

        The first row is always among them, so that there is one.
        """
        size = len(self._table)
        word_ids = np.zeros(0, np.int64) if batch is None else batch.word_ids  # (N,)
        ids = np.concatenate([[0], np.minimum(word_ids, size)])
        rows, numbers = np.unique(ids, return_inverse=True)
        self.rows = as_tensor(rows[rows < size], self._table.device)
        self._catch_up(self.rows)
        self.vectors = Parameter(self._table[self.rows])
        if batch is None:
            return None
        unknown = np.maximum(word_ids - size, 0)  # words outside the table are numbered after it
        return replace(batch, word_ids=numbers[1:] + unknown)

    def share(self, rows: Tensor) -> None:
        """Take up rows that other processes read; the gradient of those is zero here."""
        gradient = self._table.new_zeros(len(rows), self._table.shape[1])
        if self.vectors.grad is not None:
            gradient[torch.searchsorted(rows, self.rows)] = self.vectors.grad
        self._catch_up(rows)
        self.rows, self.vectors = rows, Parameter(self._table[rows])
        self.vectors.grad = gradient

    @torch.no_grad()
    def update(self, step: int, rate: float, decay: float) -> None:
        """Adam's step on the rows at hand; all others fall back by one.

        Args:
            step: number of the step, from 1.
            rate: learning rate.
            decay: of the average.
        """
        rows, gradient = self.rows, self.vectors.grad
        assert gradient is not None, "a gradient was found"
        correction = (1 - _BETA2**step) ** 0.5
        first = self._first[rows].lerp_(gradient, 1 - _BETA1)  # (R, D_w)
        second = self._second[rows].mul_(_BETA2).addcmul_(gradient, gradient, value=1 - _BETA2)
        spread = (second.sqrt() / correction).add_(EPSILON)  # (R, D_w)
        rate /= 1 - _BETA1**step
        vectors = torch.addcdiv(self.vectors, first, spread, value=-rate)  # (R, D_w)
        self._first[rows], self._second[rows], self._table[rows] = first, second, vectors
        if self._average is not None:
            self._average[rows] = self._average[rows].lerp_(vectors, 1 - decay)
        self._missed += 1
        self._moved += rate * correction * (_BETA1 / _BETA2**0.5) ** self._missed  # (V,)
        self._kept *= decay
        self._lag.mul_(decay).add_(self._moved, alpha=1 - decay)
        self._reset(rows)

    def current(self) -> tuple[Tensor, Tensor]:
        """The whole table, and its average, as they are by now; without one, the table twice."""
        table, average = self._current(slice(None))
        return table, table if average is None else average

    def arrays(self) -> dict[str, NDArray[np.float32]]:
        """What has to be saved beside the table and its average to go on."""
        return {name: tensor.cpu().numpy() for name, tensor in self._state().items()}

    def restore(self, arrays: Mapping[str, NDArray[np.float32]]) -> None:
        """Put back what `arrays` gave; without numbers of steps missed, no row missed any."""
        for name, tensor in self._state().items():
            if name in arrays:
                tensor.copy_(torch.from_numpy(arrays[name]))

    def _state(self) -> dict[str, Tensor]:
        row = (self._missed, self._moved, self._kept, self._lag)
        return dict(zip(_STATE, (self._first, self._second, *row), strict=True))

    @torch.no_grad()
    def _catch_up(self, rows: Tensor) -> None:
        table, average = self._current(rows)
        missed = self._missed[rows, None]  # (R, 1)
        self._table[rows] = table
        if average is not None and self._average is not None:
            self._average[rows] = average
        self._first[rows] *= _BETA1**missed
        self._second[rows] *= _BETA2**missed
        self._reset(rows)

    @torch.no_grad()
    def _current(self, rows: Any) -> tuple[Tensor, Tensor | None]:
        """Vectors of some rows by now, and their averages."""
        table = self._table[rows]  # (R, D_w)
        course = self._first[rows] / (self._second[rows].sqrt() + EPSILON)  # u, (R, D_w)
        moved = table - self._moved[rows, None] * course  # (R, D_w)
        if self._average is None:
            return moved, None
        kept, lag = self._kept[rows, None], self._lag[rows, None]  # (R, 1)
        return moved, torch.lerp(table, self._average[rows], kept) - lag * course  # (R, D_w)

    def _reset(self, rows: Tensor) -> None:
        for numbers, value in (
            (self._missed, 0),
            (self._moved, 0),
            (self._kept, 1),
            (self._lag, 0),
        ):
            numbers[rows] = value
