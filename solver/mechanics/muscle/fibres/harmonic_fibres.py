# SPDX-License-Identifier: GPL-3.0-or-later
"""Fibres along the gradient of the harmonic coordinate.

The gradient of linear elements is constant in a tet and converges slowly; its means at the nodes, interpolated to the
centroid, are closer.

Source: Zienkiewicz and Zhu 1987, for the means.
"""

from __future__ import annotations

import numpy as np

from ....linalg.mesh_laplacian import shape_gradients
from ....runtime.arrays import Bools, Floats
from .muscle_region import MuscleRegion

# |∇t| over its mean, below which a tet lies so deep in a dead end that its gradient says nothing of fibres
MIN_RELATIVE_GRADIENT = 1.0e-3


def harmonic_fibres(region: MuscleRegion, t: Floats) -> tuple[Floats, Bools]:
    """Returns ∇t / |∇t| of tets, (k, 3), zero where ∇t vanishes, and where it does not, (k,).

    Args:
        region: The tets.
        t: The harmonic coordinate at its nodes, (n,).
    """
    g, volume = shape_gradients(region.nodes, region.tets)
    gradient = np.einsum("kai,ka->ki", g, t[region.tets])
    corners, weight = region.tets.ravel(), np.repeat(volume, 4)
    sums = [np.bincount(corners, weight * np.repeat(gradient[:, i], 4)) for i in range(3)]
    recovered = (np.stack(sums, axis=1) / np.bincount(corners, weight)[:, None])[region.tets].mean(axis=1)
    size = np.linalg.norm(recovered, axis=1)
    is_defined = size > MIN_RELATIVE_GRADIENT * np.average(size, weights=volume)
    return np.where(is_defined[:, None], recovered / np.where(is_defined, size, 1.0)[:, None], 0.0), is_defined
