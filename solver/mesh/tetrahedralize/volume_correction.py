# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes up for the volume that flat faces cut off a round surface.

Tets whose boundary nodes lie on a surface leave out what bulges between the nodes: the coarser, the more. So the
surface is moved outward a little, the same everywhere, until the volume is right. The boundary faces then lie half
outside and half inside, closer to the surface on average. Where parts are lost altogether their volume is not made
up for: the surface moves by a tenth of a tet at most.
"""

from __future__ import annotations

import numpy as np

from ..tet_mesh import FilledTets
from ..tet_quality import signed_volumes
from .isosurface_stuffing import CutLattice, stuff_lattice

# In tet sizes.
MAX_GROWTH = 0.1
TRIAL_GROWTH = 0.03
# A share of the volume that is not worth another round.
VOLUME_TOLERANCE = 2.0e-3
MAX_ITERATIONS = 4


def correct_volume(lattice: CutLattice, enclosed: float, cell: float) -> FilledTets:
    """Returns the tets that fill the surface, grown or shrunk to the volume that it encloses.

    Args:
        lattice: Where the surface cuts the lattice.
        enclosed: The volume that the surface encloses [m³].
        cell: Tet size [m].
    """
    best = stuff_lattice(lattice)
    excess = _volume(best) - enclosed
    if len(best.tets) == 0:
        return best
    least, before, before_excess = abs(excess), 0.0, excess
    growth = -float(np.sign(excess)) * TRIAL_GROWTH * cell
    for _ in range(MAX_ITERATIONS):  # the secant method, keeping the best
        if least <= VOLUME_TOLERANCE * enclosed or growth == before:
            break
        filling = stuff_lattice(lattice, growth)
        excess = _volume(filling) - enclosed
        if abs(excess) < least:
            best, least = filling, abs(excess)
        slope = (excess - before_excess) / (growth - before)
        before, before_excess = growth, excess
        if slope <= 0.0:
            break
        growth = float(np.clip(growth - excess / slope, -MAX_GROWTH * cell, MAX_GROWTH * cell))
    return best


def _volume(filling: FilledTets) -> float:
    return float(signed_volumes(filling.nodes, filling.tets).sum())
