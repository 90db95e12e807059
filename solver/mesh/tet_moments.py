# SPDX-License-Identifier: GPL-3.0-or-later
"""Second moments of tets, from which the inertia of what they fill follows."""

from __future__ import annotations

import numpy as np

from ..runtime.arrays import Floats


def second_moments(corners: Floats, volume: Floats) -> Floats:
    """Returns Σ ∫ x xᵀ dV = Σ V / 20 (Σ x xᵀ + (Σ x)(Σ x)ᵀ) of tets [m⁵], (3, 3).

    Args:
        corners: x [m], (t, 4, 3).
        volume: V, which may have signs [m³], (t,); masses [kg] give moments of mass.
    """
    sums = corners.sum(axis=1)
    products = np.einsum("tai,taj->tij", corners, corners) + np.einsum("ti,tj->tij", sums, sums)
    return np.asarray(np.einsum("t,tij->ij", volume / 20.0, products))
