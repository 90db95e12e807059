# SPDX-License-Identifier: GPL-3.0-or-later
"""How fast the residual of an iteration falls, and whether that is fast enough to go on.

The fall is that of ln(‖r‖ / ‖b‖) per iteration, of the island that is worst. Conjugate gradients lower ‖r‖ by fits and
starts, so the smallest so far counts, and the fall is taken over about the last half of the iterations, but over at
most `MAX_WINDOW`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..runtime.arrays import Floats
from ..runtime.jit import kernel

MAX_WINDOW = 100  # iterations
# The fall is measured first over so many. Block Jacobi takes away what is rough before, which tells nothing of the rest
JACOBI_WINDOW = 25
MULTIGRID_WINDOW = 10

# Columns of a record: the smallest relative residual so far, and those at the first and at the last mark; the iterations
# of these marks and of the next one; at how many iterations the second mark follows the first; the fall per iteration
# between the last two marks; and whether it was too small.
LOWEST, FIRST_MARKED, LAST_MARKED, FIRST_MARK, LAST_MARK, NEXT_MARK, FIRST_WINDOW, FALL, IS_SLOW = range(9)
UNKNOWN_FALL = -1.0


class Patience(NamedTuple):
    """When an iteration is slow enough to be given up.

    Attributes:
        min_fall: It goes on where its fall is at least this.
        max_left: It also goes on where with its fall it would arrive in so many iterations.
        record: What was measured, (9,), in and out.
    """

    min_fall: float
    max_left: float
    record: Floats

    @classmethod
    def of_block_jacobi(cls, min_fall: float = np.inf, max_left: float = 0.0) -> Patience:
        """Returns one for conjugate gradients with block Jacobi, with a new record."""
        return cls._begin(min_fall, max_left, JACOBI_WINDOW, JACOBI_WINDOW)

    @classmethod
    def of_multigrid(cls, min_fall: float = 0.0, max_left: float = 0.0) -> Patience:
        """Returns one for conjugate gradients with multigrid, with a new record."""
        return cls._begin(min_fall, max_left, 0, MULTIGRID_WINDOW)

    @classmethod
    def _begin(cls, min_fall: float, max_left: float, first_mark: int, first_window: int) -> Patience:
        record = np.array([np.inf, np.inf, np.inf, first_mark, 0.0, first_mark, first_window, UNKNOWN_FALL, 0.0])
        return cls(float(min_fall), float(max_left), record)

    @property
    def last_fall(self) -> float | None:
        """Fall of ln(‖r‖ / ‖b‖) per iteration between the last two marks; None: it was not measured."""
        fall = float(self.record[FALL])
        return fall if np.isfinite(fall) and fall >= 0.0 else None

    @property
    def mean_fall(self) -> float:
        """The same between the first and the last mark."""
        first, last = self.record[FIRST_MARKED], self.record[LAST_MARKED]
        return float(np.log(first / last) / (self.record[LAST_MARK] - self.record[FIRST_MARK]))

    @property
    def is_exhausted(self) -> bool:
        """Whether the last fall was too small."""
        return bool(self.record[IS_SLOW])


@kernel(device_only=True, no_refcount=True)
def note_residual(record, residual):
    """Takes note of a relative residual."""
    if residual < record[LOWEST]:
        record[LOWEST] = residual


@kernel(device_only=True, no_refcount=True)
def mark_iteration(patience, iterations, tolerance):
    """Marks an iteration if its turn has come, and measures the fall since the last mark."""
    record = patience.record
    if iterations < record[NEXT_MARK]:
        return
    if record[NEXT_MARK] > record[FIRST_MARK]:
        fall = math.log(record[LAST_MARKED] / record[LOWEST]) / (iterations - record[LAST_MARK])
        arrives_soon = math.log(record[LOWEST] / tolerance) <= patience.max_left * fall
        record[FALL] = fall
        record[IS_SLOW] = 0.0 if fall >= patience.min_fall or arrives_soon else 1.0
    else:
        record[FIRST_MARKED] = record[LOWEST]
    record[LAST_MARKED], record[LAST_MARK] = record[LOWEST], iterations
    record[NEXT_MARK] = iterations + min(max(iterations, record[FIRST_WINDOW]), MAX_WINDOW)
