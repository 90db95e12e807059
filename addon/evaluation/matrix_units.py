# SPDX-License-Identifier: GPL-3.0-or-later
"""World matrices in metres: Blender stores them in Blender units."""

from __future__ import annotations

import numpy as np
from mathutils import Matrix

from ...solver.runtime.arrays import Floats


def metres_matrix(matrix_world: Matrix, unit: float) -> Floats:
    """Returns world [m] ← object space [Blender units], with `unit` metres in a Blender unit, (4, 4)."""
    matrix = np.array(matrix_world, np.float64)
    matrix[:3] *= unit
    return matrix


def rigid_matrix(matrix_world: Matrix, unit: float) -> Floats:
    """Returns world [m] ← object space [m], (4, 4)."""
    matrix = metres_matrix(matrix_world, unit)
    matrix[:3, :3] /= unit
    return matrix


def to_world(matrix: Floats, points: Floats) -> Floats:
    """Returns `points` (n, 3) moved by `matrix` (4, 4)."""
    return points @ matrix[:3, :3].T + matrix[:3, 3]
