# SPDX-License-Identifier: GPL-3.0-or-later
"""Which distance pairs of features keep in a step since their surfaces have a thickness.

Two surfaces keep the sum of their thickness. What belongs to one body keeps no more than where the simulation begins,
as layers of cloth do. What is closer where a step begins keeps a little less than its distance there: so it is pushed
out step by step, as by Fast contact, and not thrown.
"""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Bools, Floats
from .contact_mesh import ContactMesh
from .contact_potential import PairStencils, fill_distances

PUSHED_OUT_SHARE = 0.5  # of the gap: what is too close is pushed as if it were that far beyond its thickness
TOO_CLOSE_SHARE = 1.0e-3  # of the gap beyond the thickness: what is closer counts as too close


def with_thickness(
    mesh: ContactMesh, pairs: PairStencils, begin: Floats, gap: float, has_thickness: Bools
) -> PairStencils:
    """Returns pairs with the thickness that they keep in a step.

    Args:
        mesh: The surfaces.
        pairs: Without thickness.
        begin: Vertices where the step begins [m], (n, 3).
        gap: Of the barrier [m].
        has_thickness: Which bodies and colliders keep a thickness between them, symmetric, (s, s).
    """
    one, other = mesh.surface[pairs.vertices[:, 0]], mesh.surface[pairs.vertices[:, 3]]
    owner, partner = mesh.owner[one], mesh.owner[other]
    wanted = np.where(has_thickness[owner, partner], mesh.thickness[one] + mesh.thickness[other], 0.0)
    if not wanted.any():
        return pairs
    distance, is_own = np.empty(len(wanted)), owner == partner
    fill_distances(pairs.kind, pairs.vertices, begin, distance)
    wanted = np.where(is_own, np.minimum(wanted, np.maximum(pairs.start_distance - gap, 0.0)), wanted)
    is_too_close = distance < wanted + TOO_CLOSE_SHARE * gap
    kept = np.where(is_too_close, np.maximum(distance - PUSHED_OUT_SHARE * gap, 0.0), wanted)
    started = np.where((wanted > 0.0) & ~is_own, np.inf, pairs.start_distance)  # closer ones are pushed out
    return pairs._replace(thickness=np.minimum(kept, wanted), start_distance=started)
