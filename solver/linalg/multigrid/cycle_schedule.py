# SPDX-License-Identifier: GPL-3.0-or-later
"""The passes of a V-cycle over so many levels, and the factors of its smoothers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...runtime.arrays import Floats, Indices
from .v_cycle import COARSE_SOLVE, FIRST_SMOOTH, PROLONGATE, RESTRICT, SMOOTH

# Chebyshev's iteration works on eigenvalues of D⁻¹ A from the largest down to the largest over this ratio
CHEBYSHEV_EIGENVALUE_RATIO = 12.0
# One step is enough on the finest levels, of this number, where most of the time goes. A second one on the next to
# finest took 4 to 8 % of the iterations away, and all of them 3 to 4 % longer
SINGLE_STEP_LEVELS = 2
# A sum of semi-definite matrices of four nodes each has no larger eigenvalue
MAX_TET_EIGENVALUE = 4.0

# Rows of the table of factors: none, those of a sum, and behind them two for each level
NO_FACTORS_ROW, SUM_ROW, FIRST_LEVEL_ROW = range(3)


@dataclass(frozen=True)
class CycleSchedule:
    """What `run_passes` does in a V-cycle, whatever the matrix.

    Attributes:
        tasks: Task, level and which d is read, (p, 3).
        row: Row of `smoother_factors` with the factors of each, (p,).
    """

    tasks: npt.NDArray[np.int64]
    row: Indices


def cycle_schedule(coarsest: int) -> CycleSchedule:
    """Returns the passes over the levels from 0 to `coarsest`."""
    down, up = [], []
    for level in range(coarsest):
        one, two = FIRST_LEVEL_ROW + 2 * level, FIRST_LEVEL_ROW + 2 * level + 1
        first = ((RESTRICT if level else FIRST_SMOOTH, level, 1), one)
        spread = ((PROLONGATE, level, 1), SUM_ROW)
        if level < SINGLE_STEP_LEVELS:
            down += [first, ((SMOOTH, level, 0), NO_FACTORS_ROW)]
            up.append([spread, ((SMOOTH, level, 0), one)])
        else:
            down += [first, ((SMOOTH, level, 0), two), ((SMOOTH, level, 1), NO_FACTORS_ROW)]
            up.append([spread, ((SMOOTH, level, 0), one), ((SMOOTH, level, 1), two)])
    bottom = [((RESTRICT, coarsest, 1), NO_FACTORS_ROW), ((COARSE_SOLVE, coarsest, 0), NO_FACTORS_ROW)]
    tasks, row = zip(*down, *bottom, *(p for level in reversed(up) for p in level), strict=True)
    return CycleSchedule(np.array(tasks, np.int64), np.array(row, np.int64))


def smoother_factors(largest: Floats) -> Floats:
    """Returns factors a and b, by the largest eigenvalue of D⁻¹ A of every level but the coarsest, (2 l + 2, 2)."""
    rows = [(0.0, 0.0), (0.0, 1.0)]
    for level, high in enumerate(largest.tolist()):
        one, a, b = (jacobi_factor(high), 0.0, 0.0) if level < SINGLE_STEP_LEVELS else chebyshev_factors(high)
        rows += [(0.0, one), (a, b)]
    return np.array(rows)


def jacobi_factor(largest: float) -> float:
    """Returns the factor c of a single step d = c D⁻¹ r, best between `largest` / `CHEBYSHEV_EIGENVALUE_RATIO` and
    `largest`.
    """
    return 2.0 / (largest + largest / CHEBYSHEV_EIGENVALUE_RATIO)


def chebyshev_factors(largest: float) -> tuple[float, float, float]:
    """Returns the factors of two steps, d = c D⁻¹ r and then d = a d + b D⁻¹ r, as (c, a, b).

    They are those whose error is smallest at worst between `largest` / `CHEBYSHEV_EIGENVALUE_RATIO` and `largest`.
    Source: Saad (2003), Iterative methods for sparse linear systems, algorithm 12.1.
    """
    high, low = largest, largest / CHEBYSHEV_EIGENVALUE_RATIO
    middle, half = 0.5 * (high + low), 0.5 * (high - low)
    sigma = middle / half
    rho = 1.0 / (2.0 * sigma - 1.0 / sigma)
    return 1.0 / middle, rho / sigma, 2.0 * rho / half
