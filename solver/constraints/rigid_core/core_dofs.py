# SPDX-License-Identifier: GPL-3.0-or-later
"""Degrees of freedom of a rigid core in a step, represented by the velocities of three points.

In the matrix the three points are nodes like any other, so the solver treats their rigid modes as it does those of the
other nodes. Their velocities are nine numbers y, from which the core has the velocity u = u0 + C y = (V, ω). C leaves
out what stretches the triangle of the points, and what a hinge or held nodes prevent.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...runtime.arrays import Floats
from .rigid_body_momentum import CoreBody, axis_speed, cross_each

POINT_COUNT = 3
# the corners of a triangle about the centre, in units of the core's radius
TRIANGLE_CORNERS = np.sqrt(2.0) * (np.eye(POINT_COUNT) - 1.0 / POINT_COUNT)
MIN_SINGULAR_RATIO = 1.0e-6  # singular value, over the largest, from which a motion is held


@dataclass(frozen=True)
class CoreDofs:
    """The motions of a core that are free, and the one that is prescribed.

    Attributes:
        body: The core at the start of the step.
        points: Its three points, relative to its centre [m], (3, 3).
        point_velocity_matrix: Maps u to the velocities of the points, (9, 6).
        prescribed_motion: u0, its motion where y is zero [m/s, rad/s], (6,).
        C: Maps y to u − u0, (6, 9).
        projector: On the y that move it, (9, 9).
        dof_count: How many there are, 0 to 6.
    """

    body: CoreBody
    points: Floats
    point_velocity_matrix: Floats
    prescribed_motion: Floats
    C: Floats
    projector: Floats
    dof_count: int

    def unknowns(self, v: Floats) -> Floats:
        """Returns y for velocities of the core's nodes [m/s], (k, 3), as (3, 3)."""
        u = np.concatenate(self.body.motion(v)) - self.prescribed_motion
        return (self.projector @ (self.point_velocity_matrix @ u)).reshape(POINT_COUNT, 3)

    def unknowns_change(self, v: Floats) -> Floats:
        """Returns by how much y changes where velocities do by v [m/s], (k, 3), as (3, 3)."""
        u = np.concatenate(self.body.motion(v))
        return (self.projector @ (self.point_velocity_matrix @ u)).reshape(POINT_COUNT, 3)

    def velocities(self, y: Floats) -> Floats:
        """Returns the velocities of the core's nodes [m/s], (k, 3)."""
        u = self.prescribed_motion + self.C @ y.ravel()
        return self.body.velocities(u[:3], u[3:])


def core_dofs(body: CoreBody, held: Floats, velocities: Floats, base_velocity: Floats) -> CoreDofs:
    """Returns the degrees of freedom of a core.

    Args:
        body: The core.
        held: Its held nodes, relative to its centre [m], (h, 3).
        velocities: Of these [m/s], (h, 3); if no rigid motion has them, the nearest counts.
        base_velocity: V and ω to which the motion of this solve is added, (6,).
    """
    radius = float(np.sqrt(np.einsum("ki,ki->k", body.lever_arms, body.lever_arms).mean()))
    points, sizes = radius * TRIANGLE_CORNERS, np.array([1.0, 1.0, 1.0, radius, radius, radius])
    # a = S u is as large as the velocities of the points are
    of_points, S, back = CORNER_MATRIX * sizes, R_FACTOR * sizes, INVERSE_R_FACTOR / sizes[:, None]
    motions, prescribed = np.eye(6), np.zeros(6)
    if body.core.hinge is not None:
        motions, prescribed = _hinge_dof(body, S)
        prescribed = prescribed - base_velocity
    if len(held):
        motions, prescribed = _constrained_dofs(motions, prescribed, back, velocity_matrices(held), velocities.ravel())
    basis = Q_FACTOR @ motions
    projector = basis @ basis.T
    return CoreDofs(body, points, of_points, prescribed, back @ Q_FACTOR.T @ projector, projector, motions.shape[1])


def velocity_matrices(arms: Floats) -> Floats:
    """Returns (3 k, 6) matrices (I, −[r]×): velocities of points at r [m], (k, 3), ← V and ω."""
    x, y, z = arms.T
    o = np.zeros_like(x)
    turning = np.stack([np.stack([o, z, -y]), np.stack([-z, o, x]), np.stack([y, -x, o])]).transpose(2, 0, 1)
    moving = np.broadcast_to(np.eye(3), turning.shape)
    return np.concatenate([moving, turning], axis=2).reshape(-1, 6)


# velocities of the corners ← u, of a core of radius 1, and its factors
CORNER_MATRIX = velocity_matrices(TRIANGLE_CORNERS)
Q_FACTOR, R_FACTOR = np.linalg.qr(CORNER_MATRIX)
INVERSE_R_FACTOR = np.linalg.inv(R_FACTOR)


def _hinge_dof(body: CoreBody, S: Floats) -> tuple[Floats, Floats]:
    """Returns the free motion of a hinged core, S u of length one, (6, 1), and its motion with its axis, (6,)."""
    hinge = body.core.hinge
    assert hinge is not None
    n, arm = hinge.before[:3, 2], body.centre - hinge.before[:3, 3]
    motion = S @ np.concatenate([cross_each(n, arm), n])
    V, omega = axis_speed(body.core)
    return (motion / np.linalg.norm(motion))[:, None], np.concatenate([V + cross_each(omega, arm), omega])


def _constrained_dofs(
    motions: Floats, prescribed: Floats, back: Floats, held: Floats, velocities: Floats
) -> tuple[Floats, Floats]:
    """Returns those of the `motions` that held points leave free, and the velocity that these points prescribe."""
    # many nodes may be held, so these rows become as many as there are motions first
    basis, rows = np.linalg.qr(held @ back @ motions)
    U, sizes, Vt = np.linalg.svd(rows)
    count = int((sizes > MIN_SINGULAR_RATIO * np.sqrt(len(held) / 3.0)).sum())
    lacking = U[:, :count].T @ (basis.T @ (velocities - held @ prescribed)) / sizes[:count]
    return motions @ Vt[count:].T, prescribed + back @ (motions @ (Vt[:count].T @ lacking))
