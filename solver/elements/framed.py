# SPDX-License-Identifier: GPL-3.0-or-later
"""The records of tets whose rotations R are given: those of `corotational.py`, with these in place of the nearest."""

from __future__ import annotations

import numpy as np

from ..arrays import Floats, Indices
from ..geometry.chunks import run_ranges
from ..jit import kernel
from ..linear.threes import load, nothing
from .corotational import AT_ONCE, deform, write_record
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
    """Writes the records `warped` of all tets, (m, WARPED), whose rotations are `frames`, (m, 3, 3).

    All else is as for `corotational.warp_tets`.
    """

    def work(begin: int, end: int) -> None:
        write_turned(begin, end, frames, x, tets, Dm_inverse, volume, mu, lam, damping, initial_strain, warped)

    run_ranges(0, len(tets), AT_ONCE, work)


@kernel(contract=True)
def write_turned(begin, end, frames, x, tets, Dm_inverse, volume, mu, lam, damping, initial_strain, warped):
    """Writes the records of the tets from `begin` to `end` by the gradients at rest, turned."""
    F, R = np.zeros(9 * L), np.zeros(9 * L)
    for tet in range(begin, end):
        deform(tet, x, tets, Dm_inverse, F, 0)
        for row in range(3):
            for column in range(3):
                R[(3 * column + row) * L] = frames[tet, row, column]
        stretch, shear = nothing(), nothing()
        if len(initial_strain) > 0:
            stretch, shear = load(initial_strain, 6 * tet), load(initial_strain, 6 * tet + 3)
        write_record(tet, F, R, 0, stretch, shear, Dm_inverse, volume, mu, lam, damping, warped)
