# SPDX-License-Identifier: GPL-3.0-or-later
"""The rigid bodies of a model all at once: those of which the solver knows at once how they may move.

A pile has hundreds of them, of four nodes each. What `core_dofs.py` and `rotation_update.py` do core by core is done
here for all that have neither an axis nor only some of their nodes held.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...mechanics.model import Model
from ...runtime.arrays import Bools, Floats, Indices, floats
from ...runtime.frozen_memo import derived
from .batch_motion import (
    BatchArrays,
    fit_rigid_motions,
    place_bodies,
    restore_shapes,
    rotate_bodies,
    write_velocities,
)
from .core_dofs import CORNER_MATRIX, INVERSE_R_FACTOR, POINT_COUNT, Q_FACTOR, TRIANGLE_CORNERS


@dataclass(frozen=True, eq=False)
class RigidBodyBatch:
    """Rigid bodies at some node positions, k of them.

    Attributes:
        numbers: Which cores of the model they are, (k,).
        nodes: Their four nodes, (k, 4).
        mass: Of these [kg], (k, 4).
        centre: Centres of mass [m], (k, 3).
        lever_arms: x − c [m], (k, 4, 3).
        inertia: About the centres [kg m²], (k, 3, 3).
    """

    numbers: Indices
    nodes: Indices
    mass: Floats
    centre: Floats
    lever_arms: Floats
    inertia: Floats

    def __len__(self) -> int:
        return len(self.numbers)

    @functools.cached_property
    def arrays(self) -> BatchArrays:
        """The bodies as kernels take them."""
        return BatchArrays(self.mass, self.centre, self.lever_arms, self.inertia)

    def motion(self, v: Floats) -> tuple[Floats, Floats]:
        """Returns V [m/s] and ω [rad/s], (k, 3), of the rigid motions with the momenta of velocities, (k, 4, 3)."""
        V, omega = np.empty((2, len(self), 3))
        fit_rigid_motions(self.arrays, floats(v, -1, 4, 3), V, omega)
        return V, omega

    def velocities(self, V: Floats, omega: Floats) -> Floats:
        """Returns V + ω × (x − c) [m/s], (k, 4, 3)."""
        out = np.empty((len(self), 4, 3))
        write_velocities(self.arrays, floats(V), floats(omega), out)
        return out

    def effective_forces(self, forces: Floats) -> Floats:
        """Returns m (V̇ + ω̇ × (x − c)), (k, 4, 3), of the rigid motion that forces, (k, 4, 3), give to the bodies."""
        of_motion = forces / self.mass[:, :, None]
        return self.mass[:, :, None] * self.velocities(*self.motion(of_motion))

    def rotated(
        self, model: Model, v: Floats, before: Floats, keeps_spin: Bools, damping: Floats, dt: float
    ) -> tuple[Floats, Floats]:
        """Returns positions [m] and velocities [m/s] at the end of a step, (k, 4, 3) each.

        Args:
            model: The bodies.
            v: Velocities that the step gave, (k, 4, 3).
            before: Velocities at its start, (k, 4, 3).
            keeps_spin: Whose angular momentum nothing but damping changes, (k,).
            damping: By mass [1/s], (k,).
            dt: Δt [s].
        """
        x, v_end = np.empty((2, *v.shape))
        rotate_bodies(self.arrays, floats(v), floats(before), keeps_spin, damping, dt, x, v_end)
        restore_shapes(self.mass, model.X[self.nodes], x)
        return x, v_end


@dataclass(frozen=True, eq=False)
class BatchDofs:
    """How the bodies of a batch may move in a solve, as `CoreDofs` says for one.

    Attributes:
        bodies: They.
        points: Three points of each, relative to its centre [m], (k, 3, 3).
        point_velocity_matrix: (k, 9, 6).
        prescribed_motion: Motion of those that are held [m/s, rad/s], zero of the others, (k, 6).
        C: (k, 6, 9).
        is_free: Which are not held, (k,).
    """

    bodies: RigidBodyBatch
    points: Floats
    point_velocity_matrix: Floats
    prescribed_motion: Floats
    C: Floats
    is_free: Bools

    def projectors(self) -> Floats:
        """Returns the projectors on the y that move a body, (k, 9, 9)."""
        return np.where(self.is_free[:, None, None], Q_FACTOR @ Q_FACTOR.T, 0.0)

    def unknowns(self, v: Floats) -> Floats:
        """Returns y for velocities or changes of them [m/s], (k, 4, 3), as (k, 3, 3); zero of bodies that are held."""
        u = np.concatenate(self.bodies.motion(v), axis=1)
        y = np.einsum("kij,kj->ki", self.projectors() @ self.point_velocity_matrix, u)
        return floats(y.reshape(-1, POINT_COUNT, 3))

    def velocities(self, y: Floats) -> Floats:
        """Returns the velocities of the nodes [m/s], (k, 4, 3), for y, (k, 3, 3)."""
        u = self.prescribed_motion + np.einsum("kij,kj->ki", self.C, y.reshape(-1, 3 * POINT_COUNT))
        return self.bodies.velocities(u[:, :3], u[:, 3:])


class RigidBodyNodes(NamedTuple):
    """The rigid bodies without an axis of a model, r of them: their cores, rising, (r,), and their nodes, (r, 4)."""

    numbers: Indices
    nodes: Indices


@derived
def rigid_body_nodes(model: Model) -> RigidBodyNodes:
    """Returns the rigid bodies without an axis, and their nodes."""
    whole = [number for number, core in enumerate(model.cores) if core.is_whole and core.hinge is None]
    nodes = np.array([model.cores[number].nodes for number in whole], np.int32).reshape(-1, 4)
    return RigidBodyNodes(np.array(whole, np.int32), nodes)


def batch_numbers(model: Model, is_held: Bools | None) -> Indices:
    """Returns which cores a batch may have, rising: rigid bodies without an axis, held by no node or by all.

    Args:
        model: The bodies.
        is_held: Which nodes are, (n,); None: none.
    """
    whole = rigid_body_nodes(model)
    if is_held is None:
        return whole.numbers
    held = is_held[whole.nodes]
    return whole.numbers[held.all(axis=1) | ~held.any(axis=1)]


def cores_outside(in_batch: Indices, count: int) -> list[int]:
    """Returns which of `count` cores are not in a batch, rising."""
    is_outside = np.ones(count, bool)
    is_outside[in_batch] = False
    return np.flatnonzero(is_outside).tolist()


def rigid_body_batch(model: Model, numbers: Indices, x: Floats) -> RigidBodyBatch:
    """Returns some rigid bodies without an axis, those cores of the model, where nodes are at x [m], (n, 3)."""
    whole = rigid_body_nodes(model)
    nodes = whole.nodes[np.searchsorted(whole.numbers, numbers)]
    mass, count = model.mass[nodes], len(nodes)
    centre, arms, inertia = np.empty((count, 3)), np.empty((count, 4, 3)), np.empty((count, 3, 3))
    place_bodies(mass, nodes, floats(x), centre, arms, inertia)
    return RigidBodyBatch(numbers, nodes, mass, centre, arms, inertia)


def batch_dofs(bodies: RigidBodyBatch, is_free: Bools, v: Floats) -> BatchDofs:
    """Returns how bodies may move: held ones, by `is_free` of nodes, (n,), as their velocities say [m/s], (n, 3)."""
    radius = np.sqrt(np.einsum("kai,kai->k", bodies.lever_arms, bodies.lever_arms) / 4.0)
    scales = np.repeat(np.stack([np.ones_like(radius), radius], axis=1), 3, axis=1)
    moves = is_free[bodies.nodes[:, 0]]
    prescribed = np.where(moves[:, None], 0.0, np.concatenate(bodies.motion(v[bodies.nodes]), axis=1))
    C = np.where(moves[:, None, None], (INVERSE_R_FACTOR / scales[:, :, None]) @ Q_FACTOR.T, 0.0)
    matrix = CORNER_MATRIX * scales[:, None]
    return BatchDofs(bodies, radius[:, None, None] * TRIANGLE_CORNERS, matrix, prescribed, floats(C), moves)
