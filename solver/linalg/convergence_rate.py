# SPDX-License-Identifier: GPL-3.0-or-later
"""Convergence rate of an iteration, and whether it is fast enough to go on.

The rate is by how much ln(‖r‖ / ‖b‖) falls per iteration, of the island that is worst. Conjugate gradients lower ‖r‖ by
fits and starts, so the smallest so far counts, and the mean over all iterations but the first.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..runtime.arrays import Floats
from ..runtime.jit import kernel

# Iterations between two looks at the rate. The first of block Jacobi do not count: they take away
# what is rough, which tells nothing of the rest
JACOBI_WINDOW = 25
MULTIGRID_WINDOW = 10

# Columns of a record: the smallest relative residual so far, and what it was when measuring began; the iterations when
# it began, of the next look, and between two looks; the rate, and whether it is too small.
LOWEST, START, START_ITERATION, NEXT_LOOK, WINDOW, RATE, IS_SLOW = range(7)
UNKNOWN_RATE = -1.0


class RateCheck(NamedTuple):
    """When an iteration is slow enough to be given up.

    Attributes:
        min_rate: It goes on where its rate is at least this.
        max_left: It also goes on where with its rate it would arrive in so many iterations.
        record: What was measured, (7,), in and out.
    """

    min_rate: float
    max_left: float
    record: Floats

    @classmethod
    def of_block_jacobi(cls, min_rate: float = np.inf, max_left: float = 0.0) -> RateCheck:
        """Returns one for conjugate gradients with block Jacobi, with a new record."""
        return cls._begin(min_rate, max_left, JACOBI_WINDOW, JACOBI_WINDOW)

    @classmethod
    def of_multigrid(cls, min_rate: float = 0.0, max_left: float = 0.0, window: int = MULTIGRID_WINDOW) -> RateCheck:
        """Returns one for conjugate gradients with multigrid, with a new record; `window`: cycles between two looks."""
        return cls._begin(min_rate, max_left, 0, window)

    @classmethod
    def _begin(cls, min_rate: float, max_left: float, start: int, window: int) -> RateCheck:
        record = np.array([np.inf, np.inf, start, start, window, UNKNOWN_RATE, 0.0])
        return cls(float(min_rate), float(max_left), record)

    @property
    def rate(self) -> float | None:
        """Fall of ln(‖r‖ / ‖b‖) per iteration; None: it was not measured."""
        rate = float(self.record[RATE])
        return rate if np.isfinite(rate) and rate != UNKNOWN_RATE else None

    def mean_rate(self, residual: float, iterations: int) -> float:
        """Returns the rate until a residual was reached in so many iterations, however few, of multigrid."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(np.log(self.record[START] / residual) / iterations) if iterations else np.inf

    @property
    def is_too_slow(self) -> bool:
        """Whether the rate was too small at the last look."""
        return bool(self.record[IS_SLOW])


@kernel(device_only=True, no_refcount=True)
def note_residual(record, residual):
    """Takes note of a relative residual."""
    if residual < record[LOWEST]:
        record[LOWEST] = residual


@kernel(device_only=True, no_refcount=True)
def measure_rate(rate_check, iterations, tolerance):
    """Measures the rate where it is time for another look."""
    record = rate_check.record
    if iterations < record[NEXT_LOOK]:
        return
    record[NEXT_LOOK] = iterations + record[WINDOW]
    if record[START] == np.inf:
        record[START] = record[LOWEST]
        return
    rate = math.log(record[START] / record[LOWEST]) / (iterations - record[START_ITERATION])
    arrives_soon = math.log(record[LOWEST] / tolerance) <= rate_check.max_left * rate
    record[RATE] = rate
    record[IS_SLOW] = 0.0 if rate >= rate_check.min_rate or arrives_soon else 1.0
