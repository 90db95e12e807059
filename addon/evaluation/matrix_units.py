# SPDX-License-Identifier: GPL-3.0-or-later
"""Converts world matrices from Blender units to metres."""

from __future__ import annotations

import numpy as np
from mathutils import Matrix

from ...solver.runtime.arrays import Floats


def scale_to_metres(matrix_world: Matrix, unit: float) -> Floats:
    """Returns world [m] ← object space [Blender units], with `unit` metres in a Blender unit, (4, 4)."""
    matrix = np.array(matrix_world, np.float64)
    matrix[:3] *= unit
    return matrix


def scale_translation(matrix_world: Matrix, unit: float) -> Floats:
    """Returns world [m] ← object space [m]: scales the translation of the matrix, (4, 4)."""
    matrix = scale_to_metres(matrix_world, unit)
    matrix[:3, :3] /= unit
    return matrix


def transform_points(matrix: Floats, points: Floats) -> Floats:
    """Returns `points` (n, 3) transformed by `matrix` (4, 4)."""
    return points @ matrix[:3, :3].T + matrix[:3, 3]
