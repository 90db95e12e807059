# SPDX-License-Identifier: GPL-3.0-or-later
"""How fast the residual of an iteration falls, and whether that is fast enough to go on.

The fall is that of ln(‖r‖ / ‖b‖) per iteration, of the island that is worst. Conjugate gradients lower ‖r‖ by fits and
starts, so the smallest so far counts, and the mean over all iterations but the first.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..runtime.arrays import Floats
from ..runtime.jit import kernel

# Iterations between two looks at the fall. The first of block Jacobi do not count: they take away
# what is rough, which tells nothing of the rest
JACOBI_WINDOW = 25
MULTIGRID_WINDOW = 10

# Columns of a record: the smallest relative residual so far, and what it was when measuring began; the iterations when
# it began, of the next look, and between two looks; the fall, and whether it is too small.
LOWEST, START, START_ITERATION, NEXT_LOOK, WINDOW, FALL, IS_SLOW = range(7)
UNKNOWN_FALL = -1.0


class Patience(NamedTuple):
    """When an iteration is slow enough to be given up.

    Attributes:
        min_fall: It goes on where its fall is at least this.
        max_left: It also goes on where with its fall it would arrive in so many iterations.
        record: What was measured, (7,), in and out.
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
    def _begin(cls, min_fall: float, max_left: float, start: int, window: int) -> Patience:
        record = np.array([np.inf, np.inf, start, start, window, UNKNOWN_FALL, 0.0])
        return cls(float(min_fall), float(max_left), record)

    @property
    def fall(self) -> float | None:
        """Fall of ln(‖r‖ / ‖b‖) per iteration; None: it was not measured."""
        fall = float(self.record[FALL])
        return fall if np.isfinite(fall) and fall != UNKNOWN_FALL else None

    def fall_until(self, residual: float, iterations: int) -> float:
        """Returns the fall until a residual was reached in so many iterations, however few, of multigrid."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(np.log(self.record[START] / residual) / iterations) if iterations else np.inf

    @property
    def is_exhausted(self) -> bool:
        """Whether the fall was too small at the last look."""
        return bool(self.record[IS_SLOW])


@kernel(device_only=True, no_refcount=True)
def note_residual(record, residual):
    """Takes note of a relative residual."""
    if residual < record[LOWEST]:
        record[LOWEST] = residual


@kernel(device_only=True, no_refcount=True)
def measure_fall(patience, iterations, tolerance):
    """Measures the fall where it is time for another look."""
    record = patience.record
    if iterations < record[NEXT_LOOK]:
        return
    record[NEXT_LOOK] = iterations + record[WINDOW]
    if record[START] == np.inf:
        record[START] = record[LOWEST]
        return
    fall = math.log(record[START] / record[LOWEST]) / (iterations - record[START_ITERATION])
    arrives_soon = math.log(record[LOWEST] / tolerance) <= patience.max_left * fall
    record[FALL] = fall
    record[IS_SLOW] = 0.0 if fall >= patience.min_fall or arrives_soon else 1.0
