# SPDX-License-Identifier: GPL-3.0-or-later
"""How a core moves as a whole: its centre of mass, its momentum, the six numbers of its velocity, its pose."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...mechanics.model import Model
from ...mechanics.rigid_core import RigidCore
from ...mesh.rigid_alignment import kabsch_rotation
from ...runtime.arrays import Floats


@dataclass(frozen=True)
class CoreBody:
    """A core at some node positions.

    Attributes:
        core: Its nodes.
        mass: Of these [kg], (k,).
        centre: Of mass, c [m], (3,).
        lever_arms: x − c [m], (k, 3).
        inertia: About c [kg m²], (3, 3).
    """

    core: RigidCore
    mass: Floats
    centre: Floats
    lever_arms: Floats
    inertia: Floats

    def moved(self, x: Floats) -> CoreBody:
        """Returns the core where the nodes of its model are at x [m], (n, 3)."""
        own = x[self.core.nodes]
        centre = mass_mean(self.mass, own)
        return CoreBody(self.core, self.mass, centre, own - centre, inertia_of(self.mass, own - centre))

    def motion(self, v: Floats) -> tuple[Floats, Floats]:
        """Returns V [m/s] and ω [rad/s] of the rigid motion with the momenta of its nodes' velocities v, (k, 3)."""
        V = mass_mean(self.mass, v)
        return V, np.linalg.solve(self.inertia, angular_momentum(self.mass, self.lever_arms, v - V))

    def velocities(self, V: Floats, omega: Floats) -> Floats:
        """Returns V + ω × (x − c) [m/s], (k, 3)."""
        return V + cross_each(omega, self.lever_arms)


def core_body(model: Model, core: RigidCore, x: Floats) -> CoreBody:
    """Returns a core where nodes are at x [m], (n, 3)."""
    mass, own = model.mass[core.nodes], x[core.nodes]
    centre = mass_mean(mass, own)
    arms = own - centre
    return CoreBody(core, mass, centre, arms, inertia_of(mass, arms))


def mass_mean(mass: Floats, values: Floats) -> Floats:
    """Returns the mean of values per node, (k, 3), by mass, (3,); in an order that no number of threads changes."""
    return np.einsum("k,ki->i", mass, values) / mass.sum()


def cross_each(omega: Floats, arms: Floats) -> Floats:
    """Returns ω × r for one ω, (3,), and many r, (k, 3): a tenth of the time of `np.cross`."""
    x, y, z = omega.tolist()
    return arms @ np.array([[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]])


def angular_momentum(mass: Floats, arms: Floats, v: Floats) -> Floats:
    """Returns Σ m r × v, (3,), for nodes with arms r and velocities v, (k, 3) each."""
    M = (mass[:, None] * arms).T @ v
    return np.array([M[1, 2] - M[2, 1], M[2, 0] - M[0, 2], M[0, 1] - M[1, 0]])


def momentum_along(mass: Floats, ways: Floats, v: Floats) -> float:
    """Returns Σ m w · v for nodes with directions w and velocities v, (k, 3) each."""
    return float(np.einsum("k,ki,ki->", mass, ways, v))


def inertia_of(mass: Floats, arms: Floats) -> Floats:
    """Returns Σ m (|r|² − r rᵀ) [kg m²], (3, 3), of nodes at arms r [m], (k, 3), not singular: tets are not flat."""
    second = (mass[:, None] * arms).T @ arms
    return np.trace(second) * np.eye(3) - second


def rigid_fit(mass: Floats, rest: Floats, x: Floats) -> tuple[Floats, Floats]:
    """Returns R and t of the rigid motion R X + t nearest to where points at rest, (k, 3), are now, x (k, 3) [m]."""
    X0, x0 = mass_mean(mass, rest), mass_mean(mass, x)
    R = kabsch_rotation((mass[:, None] * (x - x0)).T @ (rest - X0))
    return R, x0 - R @ X0


def hinge_angle(core: RigidCore, mass: Floats, rest: Floats, x: Floats) -> float:
    """Returns by how much a core is turned about its axis at the start of the step [rad]."""
    assert core.hinge is not None
    X, now = to_local(core.hinge.rest, rest), to_local(core.hinge.before, x)
    along = (mass * (X[:, 0] * now[:, 0] + X[:, 1] * now[:, 1])).sum()
    beside = (mass * (X[:, 0] * now[:, 1] - X[:, 1] * now[:, 0])).sum()
    return float(np.arctan2(beside, along))


def hinged_positions(core: RigidCore, rest: Floats, angle: float) -> Floats:
    """Returns where points of a core at rest [m], (k, 3), are at the end of a step, turned by an angle [rad]."""
    assert core.hinge is not None
    c, s = np.cos(angle), np.sin(angle)
    turned = to_local(core.hinge.rest, rest) @ np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
    return turned @ core.hinge.now[:3, :3].T + core.hinge.now[:3, 3]


def axis_speed(core: RigidCore) -> tuple[Floats, Floats]:
    """Returns the velocity of the origin of a core's axis [m/s] and its angular velocity [rad/s] in a step."""
    assert core.hinge is not None
    before, now, dt = core.hinge.before, core.hinge.now, core.hinge.dt
    return (now[:3, 3] - before[:3, 3]) / dt, rotation_vector(now[:3, :3] @ before[:3, :3].T) / dt


def rate_about_axis(core: RigidCore, body: CoreBody, frame: Floats, v: Floats) -> float:
    """Returns by how fast a core turns about its axis, besides what that does, by its angular momentum [rad/s].

    Args:
        core, body: The core, and where it is.
        frame: World ← the space of the axis there, (4, 4).
        v: Velocities of its nodes [m/s], (k, 3).
    """
    arms = body.centre - frame[:3, 3] + body.lever_arms
    speed, turning = axis_speed(core)
    radii, along = cross_each(frame[:3, 2], arms), speed + cross_each(turning, arms)
    return momentum_along(body.mass, radii, v - along) / momentum_along(body.mass, radii, radii)


def motion_about_axis(core: RigidCore, body: CoreBody, frame: Floats, rate: float) -> tuple[Floats, Floats]:
    """Returns V [m/s] and ω [rad/s] of a core that goes with its axis and turns about it at a rate [rad/s] besides."""
    speed, turning = axis_speed(core)
    omega = turning + rate * frame[:3, 2]
    return speed + cross_each(omega, body.centre - frame[:3, 3]), omega


def to_local(frame: Floats, points: Floats) -> Floats:
    """Returns points [m], (k, 3), in the space of a frame, world ← space, (4, 4)."""
    return (points - frame[:3, 3]) @ frame[:3, :3]


def rotation_vector(R: Floats) -> Floats:
    """Returns axis times angle [rad] of a rotation by less than π, (3,)."""
    skew = 0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    sine, cosine = float(np.linalg.norm(skew)), 0.5 * (float(np.trace(R)) - 1.0)
    return skew * (np.arctan2(sine, cosine) / sine) if sine > 0.0 else skew
