# SPDX-License-Identifier: GPL-3.0-or-later
"""Point forces in the system of a step: springs and contacts with colliders, each on a point inside one tet."""

from __future__ import annotations

import numpy as np

from ...constraints.external_forces import PointForces
from ...linalg.point_terms import add_point_terms
from ...mechanics.model import Model
from ...runtime.arrays import Floats


def add_point_blocks(model: Model, points: PointForces, dt: float, values: Floats, b: Floats) -> None:
    """Adds Δt² K + Δt C of points to the blocks of the model's pattern, (b, 9), and Δt f to b [N s], (n, 3)."""
    stiffness, damping, corner_block = points.stiffness, points.damping, model.pattern.corner_block
    add_point_terms(
        dt, points.tet, points.weights, stiffness, damping, points.force, model.tets, corner_block, values, b
    )


def point_stiffness_impulse(model: Model, points: PointForces, dt: float, v: Floats) -> Floats:
    """Returns (Δt² K + Δt C) v of points on nodes [N s], (n, 3), for velocities v [m/s], (n, 3)."""
    impulse = np.zeros_like(v)
    if len(points):
        matrices, velocities = dt * points.stiffness + points.damping, points.positions(v, model.tets)
        force = np.einsum("kij,kj->ki", matrices, velocities)
        np.add.at(impulse, model.tets[points.tet], (dt * points.weights)[:, :, None] * force[:, None, :])
    return impulse
