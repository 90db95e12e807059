# SPDX-License-Identifier: GPL-3.0-or-later
"""The four weights by which Blender's lattices interpolate along an axis, and their derivatives.

For s in [0, 1) between points i and i + 1, they belong to the points i − 1 to i + 2. Each type is a matrix of the
coefficients of 1, s, s² and s³.
"""

from __future__ import annotations

import numpy as np

from ....runtime.arrays import Floats

CARDINAL_TENSION, CATMULL_ROM_TENSION = 0.71, 0.5  # Blender's numbers


def _hermite(c: float) -> Floats:
    """Returns the coefficients of cubics through the points, with tangents of c times the chord of both neighbours."""
    return np.array(
        [
            [0.0, -c, 2.0 * c, -c],
            [1.0, 0.0, c - 3.0, 2.0 - c],
            [0.0, c, 3.0 - 2.0 * c, c - 2.0],
            [0.0, 0.0, -c, c],
        ]
    )


# Blender's types → coefficients, (4 points, 4 powers)
COEFFICIENTS: dict[str, Floats] = {
    "linear": np.array([[0.0, 0.0, 0.0, 0.0], [1.0, -1.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]),
    "cardinal": _hermite(CARDINAL_TENSION),
    "catmull-rom": _hermite(CATMULL_ROM_TENSION),
    "b-spline": np.array([[1.0, -3.0, 3.0, -1.0], [4.0, 0.0, -6.0, 3.0], [1.0, 3.0, 3.0, -3.0], [0.0, 0.0, 0.0, 1.0]])
    / 6.0,
}


def lattice_weights(interpolation: str, s: Floats) -> tuple[Floats, Floats]:
    """Returns the weights at s, (n,), and their derivatives by s, (n, 4) each."""
    coefficients = COEFFICIENTS[interpolation]
    one, zero = np.ones_like(s), np.zeros_like(s)
    powers = np.stack([one, s, s * s, s * s * s], axis=1)
    slopes = np.stack([zero, one, 2.0 * s, 3.0 * s * s], axis=1)
    return powers @ coefficients.T, slopes @ coefficients.T
