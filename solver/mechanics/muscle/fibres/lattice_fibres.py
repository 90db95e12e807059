# SPDX-License-Identifier: GPL-3.0-or-later
"""Fibres along one axis of a lattice: X(x) = ∂F/∂m (F⁻¹(x)), normalised.

Source: S07, section 2.3.4.
"""

from __future__ import annotations

import numpy as np

from ....mesh.moving_least_squares import transform_rows
from ....runtime.arrays import Floats
from ....runtime.errors import BadInput
from .lattice_inverse import material_points
from .lattice_solid import LatticeSolid

MIN_TANGENT_VOLUME = 1.0e-6  # of ∂F/∂X over the cube of its size: below, the lattice is folded or flat


def lattice_fibres(solid: LatticeSolid, axis: int, places: Floats, name: str, lattice: str) -> tuple[Floats, Floats]:
    """Returns unit fibre directions, (k, 3), and how far along the axis they are, 0 to 1, (k,).

    Args:
        solid: The lattice.
        axis: 0, 1 or 2 for u, v or w.
        places: Centroids of the tets [m], (k, 3).
        name, lattice: Names of the muscle and of the lattice, for people.

    Raises:
        BadInput: The lattice does not reach all places, or is folded or flat at some.
    """
    found = material_points(solid, places)
    if not found.is_reached.all():
        missed = int((~found.is_reached).sum())
        raise BadInput("fibre-lattice-too-small", name=name, lattice=lattice, count=missed, all=len(places))
    size = np.linalg.norm(found.tangent, axis=(1, 2))
    volume = np.linalg.det(found.tangent)
    side = np.sign(volume.sum())  # points that were mirrored as a whole fold nothing
    is_folded = side * volume < MIN_TANGENT_VOLUME * size**3
    if is_folded.any():
        raise BadInput("fibre-lattice-folded", name=name, lattice=lattice, count=int(is_folded.sum()))
    along = transform_rows(found.tangent[:, :, axis], solid.matrix[:3, :3])
    last = solid.counts[axis] - 1
    if last == 0:
        raise BadInput("fibre-lattice-flat", name=name, lattice=lattice, axis="UVW"[axis])
    t = (found.X[:, axis] - solid.start[axis]) / (solid.spacing[axis] * last)
    return along / np.linalg.norm(along, axis=1)[:, None], np.clip(t, 0.0, 1.0)
