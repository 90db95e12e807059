# SPDX-License-Identifier: GPL-3.0-or-later
"""The harmonic coordinate of a muscle: t with Δt = 0, 0 on its origin, 1 on its insertion, no flux through its sides.

Source: Choi and Blemker 2013, whose fibres are the lines of such a flux.
"""

from __future__ import annotations

import numpy as np

from ....linalg.harmonic_extension import make_harmonic_extension
from ....runtime.arrays import Floats
from ....runtime.errors import SolveFailed
from .muscle_region import MuscleRegion

TOLERANCE = 1.0e-10  # of the linear solve: gradients far in a dead end are small
MAX_ITERATIONS = 20_000


def harmonic_coordinate(region: MuscleRegion) -> Floats:
    """Returns t at the nodes of a muscle, (n,).

    Raises:
        BadInput: The attachments do not determine t; see `MuscleRegion.check_attachments`.
        SolveFailed: The linear solve does not converge.
    """
    region.check_attachments()
    values = np.zeros((len(region.nodes), 3))
    values[region.is_insertion, 0] = 1.0
    is_inner = ~(region.is_origin | region.is_insertion)
    system = make_harmonic_extension(region.nodes, region.tets, is_inner, TOLERANCE, MAX_ITERATIONS)
    if system is not None and not system.extend(values).converged:
        raise SolveFailed("fibres-unconverged", name=region.name)
    return np.ascontiguousarray(values[:, 0])
