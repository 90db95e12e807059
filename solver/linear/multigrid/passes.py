# SPDX-License-Identifier: GPL-3.0-or-later
"""The passes of a V-cycle over so many levels, and the factors of its smoothers."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...arrays import Floats, Indices
from ...late_dataclass import dataclass
from .cycle import DENSE, GATHER, SPREAD, START, STEP

# Chebyshev's iteration works on eigenvalues of D⁻¹ A from the largest down to it over REACH
REACH = 12.0
# One step is enough on the finest levels, of this number, where most of the time goes. A second one on the next to
# finest took 4 to 8 % of the iterations away, and all of them 3 to 4 % longer
ONCE = 2
# A sum of semi-definite matrices of four nodes each has no larger eigenvalue
MOST_OF_TETS = 4.0

# Rows of the table of factors: none, those of a sum, and behind them two for each level
NONE, SUM, OF_LEVELS = range(3)


@dataclass(frozen=True)
class Passes:
    """What `run_passes` does in a V-cycle, whatever the matrix.

    Attributes:
        tasks: Task, level and which d is read, (p, 3).
        row: Row of `table` with the factors of each, (p,).
    """

    tasks: npt.NDArray[np.int64]
    row: Indices


def passes_of(coarsest: int) -> Passes:
    """Returns the passes over the levels from 0 to `coarsest`."""
    down, up = [], []
    for level in range(coarsest):
        one, two = OF_LEVELS + 2 * level, OF_LEVELS + 2 * level + 1
        first = ((GATHER if level else START, level, 1), one)
        spread = ((SPREAD, level, 1), SUM)
        if level < ONCE:
            down += [first, ((STEP, level, 0), NONE)]
            up.append([spread, ((STEP, level, 0), one)])
        else:
            down += [first, ((STEP, level, 0), two), ((STEP, level, 1), NONE)]
            up.append([spread, ((STEP, level, 0), one), ((STEP, level, 1), two)])
    bottom = [((GATHER, coarsest, 1), NONE), ((DENSE, coarsest, 0), NONE)]
    tasks, row = zip(*down, *bottom, *(p for level in reversed(up) for p in level), strict=True)
    return Passes(np.array(tasks, np.int64), np.array(row, np.int64))


def table(largest: Floats) -> Floats:
    """Returns factors a and b, by the largest eigenvalue of D⁻¹ A of every level but the coarsest, (2 l + 2, 2)."""
    rows = [(0.0, 0.0), (0.0, 1.0)]
    for level, high in enumerate(largest.tolist()):
        one, a, b = (one_step(high), 0.0, 0.0) if level < ONCE else chebyshev(high)
        rows += [(0.0, one), (a, b)]
    return np.array(rows)


def one_step(largest: float) -> float:
    """Returns the factor c of a single step d = c D⁻¹ r, best between `largest` / `REACH` and `largest`."""
    return 2.0 / (largest + largest / REACH)


def chebyshev(largest: float) -> tuple[float, float, float]:
    """Returns the factors of two steps, d = c D⁻¹ r and then d = a d + b D⁻¹ r, as (c, a, b).

    They are those whose error is smallest at worst between `largest` / `REACH` and `largest`.
    Source: Saad (2003), Iterative methods for sparse linear systems, algorithm 12.1.
    """
    high, low = largest, largest / REACH
    middle, half = 0.5 * (high + low), 0.5 * (high - low)
    sigma = middle / half
    rho = 1.0 / (2.0 * sigma - 1.0 / sigma)
    return 1.0 / middle, rho / sigma, 2.0 * rho / half
