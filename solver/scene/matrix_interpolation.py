# SPDX-License-Identifier: GPL-3.0-or-later
"""Interpolates 4×4 matrices so that their rotation turns evenly, and splits matrices into rotation and stretch."""

from __future__ import annotations

import numpy as np

from ..runtime.arrays import Floats


def interpolate_rigid(a: Floats, b: Floats, s: float) -> Floats:
    """Returns the matrix at the fraction s of the way from a to b, (4, 4) each; NaN where one of them is not finite."""
    if np.array_equal(a[:3, :3], b[:3, :3]):
        return a + s * (b - a)
    if np.array_equal(a, b):
        return a
    if not (np.isfinite(a).all() and np.isfinite(b).all()):  # whoever reads it says so
        return np.full_like(a, np.nan)
    turn_a, stretch_a = polar_decomposition(a[:3, :3])
    turn_b, stretch_b = polar_decomposition(b[:3, :3])
    result = a + s * (b - a)
    result[:3, :3] = turn_a @ _fraction_of_rotation(turn_a.T @ turn_b, s) @ (stretch_a + s * (stretch_b - stretch_a))
    return result


def polar_decomposition(matrix: Floats) -> tuple[Floats, Floats]:
    """Returns R (proper rotation) and S with matrix = R S, S carrying any mirroring."""
    left, sizes, right = np.linalg.svd(matrix)
    if np.linalg.det(left @ right) < 0:
        left[:, 2] *= -1
        sizes = sizes * np.array([1.0, 1.0, -1.0])
    return left @ right, right.T @ np.diag(sizes) @ right


def _fraction_of_rotation(turn: Floats, s: float) -> Floats:
    """Returns the rotation about the axis of `turn` by `s` times its angle."""
    # imported here, since Blender imports this file at start and never samples
    from scipy.spatial.transform import Rotation

    return Rotation.from_rotvec(s * Rotation.from_matrix(turn).as_rotvec()).as_matrix()
