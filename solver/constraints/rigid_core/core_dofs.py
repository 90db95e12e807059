# SPDX-License-Identifier: GPL-3.0-or-later
"""In which ways a core may move in a step: its six unknowns as the velocities of three points.

As rows of a matrix the points are nodes like any other: a motion of everything as a whole is one of theirs, too, which
the solver tells apart and finds exactly. They have nine numbers, y. What a core cannot do, stretching the three, and
what a hinge or held nodes keep it from, is no part of u = u0 + C y = (V, ω).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...runtime.arrays import Floats
from .core_motion import CoreBody, axis_speed, cross_each

POINT_COUNT = 3
# the corners of a triangle about the centre, in units of the core's radius
TRIANGLE_CORNERS = np.sqrt(2.0) * (np.eye(POINT_COUNT) - 1.0 / POINT_COUNT)
MIN_SINGULAR_RATIO = 1.0e-6  # singular value, over the largest, from which a way to move is held


@dataclass(frozen=True)
class CoreDofs:
    """How a core may move.

    Attributes:
        body: The core where the step begins.
        points: Where its three points are from its centre [m], (3, 3).
        from_points: Velocities of the points ← u, (9, 6).
        given: u0: its motion where y is zero [m/s, rad/s], (6,).
        C: u ← y, (6, 9).
        left: Projector on the y that move it, (9, 9).
        dof_count: How many there are, 0 to 6.
    """

    body: CoreBody
    points: Floats
    from_points: Floats
    given: Floats
    C: Floats
    left: Floats
    dof_count: int

    def unknowns(self, v: Floats) -> Floats:
        """Returns y for velocities of the core's nodes [m/s], (k, 3), as (3, 3)."""
        u = np.concatenate(self.body.motion(v)) - self.given
        return (self.left @ (self.from_points @ u)).reshape(POINT_COUNT, 3)

    def unknowns_change(self, v: Floats) -> Floats:
        """Returns by how much y changes where velocities do by v [m/s], (k, 3), as (3, 3)."""
        u = np.concatenate(self.body.motion(v))
        return (self.left @ (self.from_points @ u)).reshape(POINT_COUNT, 3)

    def velocities(self, y: Floats) -> Floats:
        """Returns the velocities of the core's nodes [m/s], (k, 3)."""
        u = self.given + self.C @ y.ravel()
        return self.body.velocities(u[:3], u[3:])


def core_dofs(body: CoreBody, held: Floats, velocities: Floats, so_far: Floats) -> CoreDofs:
    """Returns how a core may move.

    Args:
        body: The core.
        held: Where its held nodes are from its centre [m], (h, 3).
        velocities: Of these [m/s], (h, 3); where they are not those of a rigid body, the nearest.
        so_far: V and ω that all this comes on top of, (6,).
    """
    radius = float(np.sqrt(np.einsum("ki,ki->k", body.lever_arms, body.lever_arms).mean()))
    points, sizes = radius * TRIANGLE_CORNERS, np.array([1.0, 1.0, 1.0, radius, radius, radius])
    # a = S u is as large as the velocities of the points are
    of_points, S, back = CORNER_MATRIX * sizes, R_FACTOR * sizes, INVERSE_R_FACTOR / sizes[:, None]
    ways, given = np.eye(6), np.zeros(6)
    if body.core.hinge is not None:
        ways, given = _hinge_dof(body, S)
        given = given - so_far
    if len(held):
        ways, given = _constrained_dofs(ways, given, back, velocity_matrices(held), velocities.ravel())
    basis = Q_FACTOR @ ways
    left = basis @ basis.T
    return CoreDofs(body, points, of_points, given, back @ Q_FACTOR.T @ left, left, ways.shape[1])


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
    """Returns the way in which a hinged core may move, S u of length one, (6, 1), and how its axis moves it, (6,)."""
    hinge = body.core.hinge
    assert hinge is not None
    n, arm = hinge.before[:3, 2], body.centre - hinge.before[:3, 3]
    way = S @ np.concatenate([cross_each(n, arm), n])
    V, omega = axis_speed(body.core)
    return (way / np.linalg.norm(way))[:, None], np.concatenate([V + cross_each(omega, arm), omega])


def _constrained_dofs(
    ways: Floats, given: Floats, back: Floats, held: Floats, velocities: Floats
) -> tuple[Floats, Floats]:
    """Returns the `ways` that are left where points are held, and the velocity that these points prescribe."""
    # many nodes may be held, so these rows become as many as there are ways first
    basis, rows = np.linalg.qr(held @ back @ ways)
    U, sizes, Vt = np.linalg.svd(rows)
    count = int((sizes > MIN_SINGULAR_RATIO * np.sqrt(len(held) / 3.0)).sum())
    lacking = U[:, :count].T @ (basis.T @ (velocities - held @ given)) / sizes[:count]
    return ways @ Vt[count:].T, given + back @ (ways @ (Vt[:count].T @ lacking))
