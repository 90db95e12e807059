# SPDX-License-Identifier: GPL-3.0-or-later
"""The records of tets whose rotations R are given: those of `corotational.py`, with these in place of the nearest."""

from __future__ import annotations

import numpy as np

from ..arrays import Floats, Indices
from ..geometry.chunks import run_ranges
from ..jit import kernel
from .corotational import AT_ONCE, WORK, deform, write_lanes
from .rotation_lanes import LANES

L = LANES


def warp_framed(
    frames: Floats,
    x: Floats,
    tets: Indices,
    Dm_inverse: Floats,
    volume: Floats,
    mu: Floats,
    lam: Floats,
    damping: Floats,
    initial_strain: Floats,
    warped: Floats,
) -> None:
    """Writes the records `warped` of all tets, (m, …), whose rotations are `frames`, (m, 3, 3).

    All else is as for `corotational.warp_tets`.
    """

    def work(begin: int, end: int) -> None:
        write_turned(begin, end, frames, x, tets, Dm_inverse, volume, mu, lam, damping, initial_strain, warped)

    run_ranges(0, len(tets), AT_ONCE, work)


@kernel(contract=True)
def write_turned(begin, end, frames, x, tets, Dm_inverse, volume, mu, lam, damping, initial_strain, warped):
    """Writes the records of the tets from `begin` to `end` by the gradients at rest, turned."""
    F, R, work = np.zeros(9 * L), np.zeros(9 * L), np.zeros(WORK)
    for first in range(begin, end, L):
        count = min(L, end - first)
        for i in range(count):
            deform(first + i, x, tets, Dm_inverse, F, i)
            for row in range(3):
                for column in range(3):
                    R[(3 * column + row) * L + i] = frames[first + i, row, column]
        write_lanes(first, count, F, R, F, work, Dm_inverse, volume, mu, lam, damping, initial_strain, warped)
