# SPDX-License-Identifier: GPL-3.0-or-later
"""Islands of a model as rigid bodies: their masses and motions, and what impulses give to them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...brittle.rigid_mass import RigidMass, RigidMotion
from ...constraints.rigid_core.rigid_body_momentum import rigid_fit
from ...mechanics.finite_rotation_correction import rotation_matrices
from ...mechanics.model import Model
from ...mechanics.state import State
from ...runtime.arrays import Floats, floats


@dataclass(frozen=True, eq=False)
class IslandMotion:
    """An island in a step.

    Attributes:
        nodes: Of the model.
        x: Where they are taken to be: at the end of the step, or where the island touched a collider [m], (n, 3).
        mass: Of it there.
        motion: Where the step ended.
        before: Where the step began: with its momentum and its angular momentum then.
    """

    nodes: slice
    x: Floats
    mass: RigidMass
    motion: RigidMotion
    before: RigidMotion

    def field(self, motion: RigidMotion, x: Floats) -> Floats:
        """Returns the velocities of nodes [m/s], (n, 3), in a rigid motion, of nodes at x [m], (n, 3)."""
        return floats(motion.velocity + np.cross(motion.angular_velocity, x - self.mass.centre))


def island_motion(model: Model, start: State, end: State, island: int, x: Floats | None = None) -> IslandMotion:
    """Returns the motion of an island in a step from `start` to `end`.

    Args:
        model: The bodies.
        start, end: Of the step.
        island: Of the model.
        x: Where its nodes are taken to be [m], (n, 3); None: at the end.
    """
    nodes = slice(*(int(each) for each in model.pattern.island_start[island : island + 2]))
    mass, x = model.mass[nodes], end.x[nodes] if x is None else x
    there = _rigid_mass(mass, x)
    return IslandMotion(
        nodes,
        floats(x),
        there,
        _motion(mass, end.x[nodes], end.v[nodes], there),
        _motion(mass, start.x[nodes], start.v[nodes], there),
    )


def island_mass(model: Model, x: Floats, island: int) -> RigidMass:
    """Returns the mass of an island whose nodes are at x [m], (n, 3)."""
    nodes = slice(*(int(each) for each in model.pattern.island_start[island : island + 2]))
    return _rigid_mass(model.mass[nodes], x[nodes])


def moved_freely(model: Model, start: State, nodes: slice, pull: Floats, time: float) -> Floats:
    """Returns where nodes of a rigid body are that has flown on from `start` [m], (n, 3).

    Args:
        model: The bodies.
        start: Where and how it moved.
        nodes: Of the body.
        pull: What gravity gives to it [m/s²], (3,).
        time: How long it has flown [s].
    """
    mass, x = model.mass[nodes], start.x[nodes]
    body = _rigid_mass(mass, x)
    motion = _motion(mass, x, start.v[nodes], body)
    R = rotation_matrices((time * motion.angular_velocity)[None])[0]
    centre = body.centre + time * (motion.velocity + 0.5 * time * pull)
    return floats((x - body.centre) @ R.T + centre)


def rest_pose(model: Model, x: Floats, nodes: slice) -> tuple[Floats, Floats]:
    """Returns R and t, (3, 3) and [m], (3,), that take nodes of a rigid body from rest to x [m], (k, 3)."""
    R, t = rigid_fit(model.mass[nodes], model.X[nodes], x)
    return R, t


def _rigid_mass(mass: Floats, x: Floats) -> RigidMass:
    total = float(mass.sum())
    centre = floats(mass @ x / total)
    arms = x - centre
    moments = np.einsum("n,ni,nj->ij", mass, arms, arms)
    return RigidMass(total, centre, floats(np.trace(moments) * np.eye(3) - moments))


def _motion(mass: Floats, x: Floats, v: Floats, body: RigidMass) -> RigidMotion:
    """Returns the motion of a body with the momentum and the angular momentum, about their centre, of nodes."""
    velocity = floats(mass @ v / body.mass)
    arms = x - mass @ x / body.mass
    angular = np.einsum("n,ni->i", mass, np.cross(arms, v - velocity))
    return RigidMotion(velocity, floats(np.linalg.solve(body.inertia, angular)))
