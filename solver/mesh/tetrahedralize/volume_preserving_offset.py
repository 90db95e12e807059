# SPDX-License-Identifier: GPL-3.0-or-later
"""Offsets the surface before isosurface stuffing so that the tets get the volume that the surface encloses.

Flat boundary faces with their nodes on a round surface cut off volume: the larger the tets, the more. So the surface is
moved outward by the same distance everywhere until the volume is right. The boundary faces then lie partly outside and
partly inside, closer to the surface on average. The surface moves by a tenth of the tet size at most, so the volume of
parts that got no tets is not replaced.
"""

from __future__ import annotations

import numpy as np

from ..tet_mesh import FilledTets
from ..tet_quality import signed_volumes
from .isosurface_stuffing import CutLattice, stuff_lattice

MAX_GROWTH = 0.1  # [tet sizes], how far the surface may move
TRIAL_GROWTH = 0.03  # [tet sizes], how far it moves at first
VOLUME_TOLERANCE = 2.0e-3  # a relative error that is not worth another iteration
MAX_ITERATIONS = 4


def correct_volume(lattice: CutLattice, enclosed: float, tet_size: float) -> FilledTets:
    """Returns the tets that fill the surface, grown or shrunk to the volume that it encloses.

    Args:
        lattice: Where the surface cuts the lattice.
        enclosed: The volume that the surface encloses [m³].
        tet_size: Of the lattice [m].
    """
    best = stuff_lattice(lattice)
    excess = _volume(best) - enclosed
    if len(best.tets) == 0:
        return best
    smallest_error, before, before_excess = abs(excess), 0.0, excess
    growth = -float(np.sign(excess)) * TRIAL_GROWTH * tet_size
    for _ in range(MAX_ITERATIONS):  # the secant method, keeping the best
        if smallest_error <= VOLUME_TOLERANCE * enclosed or growth == before:
            break
        filling = stuff_lattice(lattice, growth)
        excess = _volume(filling) - enclosed
        if abs(excess) < smallest_error:
            best, smallest_error = filling, abs(excess)
        slope = (excess - before_excess) / (growth - before)
        before, before_excess = growth, excess
        if slope <= 0.0:
            break
        growth = float(np.clip(growth - excess / slope, -MAX_GROWTH * tet_size, MAX_GROWTH * tet_size))
    return best


def _volume(filling: FilledTets) -> float:
    return float(signed_volumes(filling.nodes, filling.tets).sum())
