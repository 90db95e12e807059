# SPDX-License-Identifier: GPL-3.0-or-later
"""Replaces the straight-line motion of spinning pieces by a rotation, at equal momenta.

A step moves nodes along straight lines. The nodes of a piece that turns by an angle θ in a step are then √(1 + θ²)
times as far from its axis: what spins grows, is stressed by that, and breaks again. Bodies turn little in a step;
splinters may turn by a radian. So the rigid part of a piece's motion, found from its momentum and its angular
momentum about its centre, is taken out of the step and made again as a rotation. Both momenta stay as they are.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..runtime.arrays import Bools, Floats, floats
from ..runtime.frozen_memo import derived
from ..runtime.jit import kernel
from .model import Model
from .state import State
from .topology_state import TETS_FIELD

MIN_ANGLE = 1.0e-4  # [rad]: slower turning grows by less than 5e-9
MIDPOINT_ITERATIONS = 3  # in which the middle of a step is found
MIN_INERTIA_SHARE = 1.0e-9  # of the trace of the inertia, where a piece has hardly any about an axis
SMALLEST_INERTIA = float(np.finfo(float).tiny)  # [kg m²]: so that a piece of one node can be divided by


def rotate_free_islands(model: Model, state: State, before: Floats, is_fixed: Bools | None, dt: float) -> None:
    """Changes positions and velocities in `state` at the end of a step of `dt` [s], if something has broken.

    Args:
        model: Of the step.
        state: At its end.
        before: Positions at its begin [m], (n, 3).
        is_fixed: Nodes that are held, (n,), or None: a piece with one of them does not turn freely.
        dt: [s].
    """
    if TETS_FIELD not in state.fields:
        return
    start: np.ndarray = np.asarray(model.pattern.island_start, np.int64)
    is_free = np.ones(len(start) - 1, bool)
    if is_fixed is not None:
        is_free = ~np.logical_or.reduceat(is_fixed, start[:-1])
    state.x, state.v = rotated_motion(start, model.mass, before, state.x, state.v, is_free, dt)


def rotated_motion(
    start: np.ndarray, mass: Floats, before: Floats, x: Floats, v: Floats, is_free: Bools, dt: float
) -> tuple[Floats, Floats]:
    """Returns positions [m] and velocities [m/s] at the end of a step, (n, 3) each, with free pieces turned.

    Args:
        start: Where the pieces' nodes begin, (k + 1,).
        mass: Of the nodes [kg], (n,).
        before: Positions at the start of the step [m], (n, 3).
        x, v: At its end, x = before + dt · v, (n, 3).
        is_free: Which pieces, (k,).
        dt: [s].
    """
    if not is_free.any():
        return x, v
    motion = rigid_motion(start, mass, before, v)
    inertia, angular, omega = motion.inertia, motion.angular_momentum, motion.angular_velocities()
    turns = is_free & (np.linalg.norm(omega, axis=1) * dt > MIN_ANGLE)
    if not turns.any():
        return x, v
    piece = _piece_of_nodes(start)
    centre, speed = motion.centre, motion.velocity
    arm, rest = before - centre[piece], v - speed[piece]
    R = rotation_matrices(midpoint_angular_velocity(inertia, angular, omega, dt) * dt)[piece]
    strain = rest - np.cross(omega[piece], arm)
    arm_after = np.einsum("nij,nj->ni", R, arm + dt * strain)
    strain = np.einsum("nij,nj->ni", R, strain)
    after = rigid_motion(start, mass, arm_after, strain)
    spin = _solve_inertia(after.inertia, angular - after.angular_momentum)
    moves = turns[piece][:, None]
    x_after = centre[piece] + dt * speed[piece] + arm_after
    v_after = speed[piece] + np.cross(spin[piece], arm_after) + strain
    return np.where(moves, x_after, x), np.where(moves, v_after, v)


def with_finite_rotations(
    start: np.ndarray, mass: Floats, about: Floats, x: Floats, which: Bools
) -> tuple[Floats, Floats]:
    """Returns the ends of straight displacements, with the turn in each piece's displacement made a rotation.

    Args:
        start: Where the pieces' nodes begin, (k + 1,).
        mass: Of the nodes [kg], (n,).
        about, x: Positions before and after the displacements [m], (n, 3).
        which: Which pieces turn, (k,); the others stay at x.

    Returns:
        Positions [m], (n, 3), and the angles by which pieces have turned, zero of the others [rad], (k,).
    """
    motion, turn, angle = _turns(start, mass, about, x)
    angle = np.where(which, angle, 0.0)
    turns = angle > MIN_ANGLE
    if not turns.any():
        return x, angle
    out = np.empty_like(x)
    _rotate_displacements(start, motion, turn, rotation_matrices(turn), turns, about, x, out)
    return out, angle


def turn_angles(start: np.ndarray, mass: Floats, about: Floats, x: Floats) -> Floats:
    """Returns the angles by which pieces turn from `about` to x [m], (n, 3) each: [rad], (k,)."""
    return _turns(start, mass, about, x)[2]


def _turns(start: np.ndarray, mass: Floats, about: Floats, x: Floats) -> tuple[RigidMotion, Floats, Floats]:
    """Returns the rigid part of displacements, the vectors of its turns [rad], (k, 3), and their lengths, (k,)."""
    count = len(start) - 1
    motion, turn, angle = RigidMotion.allocate(count), np.empty((count, 3)), np.empty(count)
    _find_turns(start, mass, np.add.reduceat(mass, start[:-1]), floats(about), floats(x), motion, turn, angle)
    return motion, turn, angle


def chord_stretch_energy(model: Model, angle: Floats, dt: float) -> Floats:
    """Returns the approximate energy that islands would gain if they turned along straight lines [J], (k,).

    A turn by θ along chords stretches an island by θ²/2; damping resists that strain within one step.

    Args:
        model: The bodies.
        angle: Of the turn of every island [rad], (k,).
        dt: Duration of the turn [s].
    """
    stiffness, damping = _chord_stiffness(model)
    return (stiffness + damping / dt) * angle**4


@derived
def _chord_stiffness(model: Model) -> tuple[Floats, Floats]:
    """Returns Σ μ V [J] and Σ μ V β [J s] of every island, (k,) each, with β of damping by stiffness."""
    row, count = model.pattern.island_of_row[model.tets[:, 0]], model.pattern.island_count
    stiffness = model.mu * model.volume
    damping = stiffness * model.stiffness_damping
    return floats(np.bincount(row, stiffness, count)), floats(np.bincount(row, damping, count))


def with_spin(start: np.ndarray, mass: Floats, x: Floats, v: Floats, angular: Floats, dt: float) -> Floats:
    """Returns velocities [m/s], (n, 3), with pieces spun about their centres by angular momenta [kg m²/s], (k, 3).

    A step of `dt` [s] takes a share (ω Δt)² from a spin ω. More is not given back: pieces that are squeezed askew would
    be flung about by what the forces that squeeze them are out of balance.

    Args:
        start: Where the pieces' nodes begin, (k + 1,).
        mass: Of the nodes [kg], (n,).
        x, v: Positions [m] and velocities [m/s], (n, 3).
        angular: What each piece gets.
        dt: [s].
    """
    motion = rigid_motion(start, mass, x, v)
    spin = _solve_inertia(motion.inertia, angular)
    omega = np.linalg.norm(motion.angular_velocities(), axis=1)
    most = omega * np.minimum(omega * dt, 1.0) ** 2
    size = np.linalg.norm(spin, axis=1)
    share = most / np.maximum(np.maximum(size, most), np.finfo(float).tiny)
    out = np.empty_like(v)
    _add_rotation(start, x, motion.centre, share[:, None] * spin, v, out)
    return out


class RigidMotion(NamedTuple):
    """The rigid part of the motion of pieces.

    Attributes:
        centre: Centre of mass [m], (k, 3).
        velocity: Of the centre [m/s], (k, 3).
        inertia: Σ m (|r|² − r rᵀ) about the centre [kg m²], (k, 3, 3), a little larger about axes without any.
        angular_momentum: Σ m r × v about the centre [kg m²/s], (k, 3).
    """

    centre: Floats
    velocity: Floats
    inertia: Floats
    angular_momentum: Floats

    @staticmethod
    def allocate(count: int) -> RigidMotion:
        """Returns arrays for `count` pieces, to be filled."""
        return RigidMotion(np.empty((count, 3)), np.empty((count, 3)), np.empty((count, 3, 3)), np.empty((count, 3)))

    def angular_velocities(self) -> Floats:
        """Returns ω [rad/s], (k, 3)."""
        return _solve_inertia(self.inertia, self.angular_momentum)


def rigid_motion(start: np.ndarray, mass: Floats, x: Floats, v: Floats) -> RigidMotion:
    """Returns the rigid part of velocities v [m/s], (n, 3), of nodes at x [m], (n, 3), piece by piece.

    Displacements [m] in the place of v give displacements and turns [rad] in the place of velocities.

    Args:
        start: Where the pieces' nodes begin, (k + 1,).
        mass: Of the nodes [kg], (n,).
        x, v: Positions and velocities.
    """
    motion = RigidMotion.allocate(len(start) - 1)
    _sum_rigid_motion(start, mass, np.add.reduceat(mass, start[:-1]), floats(x), floats(v), motion)
    return motion


def rigid_velocities(start: np.ndarray, mass: Floats, x: Floats, v: Floats) -> Floats:
    """Returns the velocities of the rigid part of a motion [m/s], (n, 3): v_c + ω × r; see `rigid_motion`.

    What is left has no angular momentum: ω is off by `MIN_INERTIA_SHARE`, so the rest is looked through once more.
    """
    x, v = floats(x), floats(v)
    found = _once_found_rigid_velocities(start, mass, x, v)
    return floats(found + _once_found_rigid_velocities(start, mass, x, v - found))


def _once_found_rigid_velocities(start: np.ndarray, mass: Floats, x: Floats, v: Floats) -> Floats:
    motion, out = rigid_motion(start, mass, x, v), np.empty_like(x)
    _add_rotation(start, x, motion.centre, motion.angular_velocities(), motion.velocity[_piece_of_nodes(start)], out)
    return out


def _piece_of_nodes(start: np.ndarray) -> np.ndarray:
    """Returns the number of every node's piece, (n,)."""
    return np.repeat(np.arange(len(start) - 1, dtype=np.int64), np.diff(start))


@kernel()
def _sum_rigid_motion(start, mass, total, x, v, motion):
    """Writes the rigid part of motions, see `rigid_motion`; `total` is the mass of each piece [kg], (k,)."""
    centre, velocity, inertia, angular = motion
    for island in range(len(start) - 1):
        begin, end = start[island], start[island + 1]
        for axis in range(3):
            moment = momentum = 0.0
            for node in range(begin, end):
                moment += mass[node] * x[node, axis]
                momentum += mass[node] * v[node, axis]
            centre[island, axis] = moment / total[island]
            velocity[island, axis] = momentum / total[island]
        tensor, spin = inertia[island], angular[island]
        tensor[:] = 0.0
        spin[:] = 0.0
        for node in range(begin, end):
            m = mass[node]
            r0, r1, r2 = x[node, 0] - centre[island, 0], x[node, 1] - centre[island, 1], x[node, 2] - centre[island, 2]
            u0 = v[node, 0] - velocity[island, 0]
            u1 = v[node, 1] - velocity[island, 1]
            u2 = v[node, 2] - velocity[island, 2]
            tensor[0, 0] += m * (r1 * r1 + r2 * r2)
            tensor[1, 1] += m * (r0 * r0 + r2 * r2)
            tensor[2, 2] += m * (r0 * r0 + r1 * r1)
            tensor[0, 1] -= m * r0 * r1
            tensor[0, 2] -= m * r0 * r2
            tensor[1, 2] -= m * r1 * r2
            spin[0] += m * (r1 * u2 - r2 * u1)
            spin[1] += m * (r2 * u0 - r0 * u2)
            spin[2] += m * (r0 * u1 - r1 * u0)
        tensor[1, 0], tensor[2, 0], tensor[2, 1] = tensor[0, 1], tensor[0, 2], tensor[1, 2]
        least = MIN_INERTIA_SHARE * (tensor[0, 0] + tensor[1, 1] + tensor[2, 2]) + SMALLEST_INERTIA
        for axis in range(3):
            tensor[axis, axis] += least


@kernel()
def _find_turns(start, mass, total, about, x, motion, turn, angle):
    """Writes what `_turns` returns; `total` is the mass of each piece [kg], (k,)."""
    _sum_rigid_motion(start, mass, total, about, x - about, motion)
    _solve_each(motion.inertia, motion.angular_momentum, turn)
    for island in range(len(angle)):
        w = turn[island]
        angle[island] = math.sqrt(w[0] * w[0] + w[2] * w[2] + w[1] * w[1])


@kernel()
def _rotate_displacements(start, motion, turn, R, turns, x, end, out):
    """Writes where nodes get from x [m], (n, 3), if the turns of their pieces towards `end` become rotations R."""
    for island in range(len(start) - 1):
        for node in range(start[island], start[island + 1]):
            if not turns[island]:
                out[node] = end[node]
                continue
            c, u, w = motion.centre[island], motion.velocity[island], turn[island]
            r0, r1, r2 = x[node, 0] - c[0], x[node, 1] - c[1], x[node, 2] - c[2]
            # without the turn, of which w × r is the straight line
            s0 = end[node, 0] - c[0] - u[0] - (w[1] * r2 - w[2] * r1)
            s1 = end[node, 1] - c[1] - u[1] - (w[2] * r0 - w[0] * r2)
            s2 = end[node, 2] - c[2] - u[2] - (w[0] * r1 - w[1] * r0)
            for axis in range(3):
                rotated = R[island, axis, 0] * s0 + R[island, axis, 1] * s1 + R[island, axis, 2] * s2
                out[node, axis] = c[axis] + u[axis] + rotated


@kernel()
def _add_rotation(start, x, centre, omega, v, out):
    """Writes v + ω × (x − centre) [m/s], (n, 3), with ω [rad/s] and the centre [m] of each piece, (k, 3)."""
    for island in range(len(start) - 1):
        w, c = omega[island], centre[island]
        for node in range(start[island], start[island + 1]):
            r0, r1, r2 = x[node, 0] - c[0], x[node, 1] - c[1], x[node, 2] - c[2]
            out[node, 0] = v[node, 0] + (w[1] * r2 - w[2] * r1)
            out[node, 1] = v[node, 1] + (w[2] * r0 - w[0] * r2)
            out[node, 2] = v[node, 2] + (w[0] * r1 - w[1] * r0)


def midpoint_angular_velocity(inertia: Floats, angular: Floats, omega: Floats, dt: float) -> Floats:
    """Returns ω in the middle of a step of free pieces [rad/s], (k, 3): that of its start lets tumbling gain energy."""
    middle = omega
    for _ in range(MIDPOINT_ITERATIONS):
        half = rotation_matrices(0.5 * dt * middle)
        middle = _solve_inertia(half @ inertia @ half.transpose(0, 2, 1), angular)
    return middle


def _solve_inertia(inertia: Floats, angular: Floats) -> Floats:
    out = np.empty((len(inertia), 3))
    _solve_each(floats(inertia), floats(angular), out)
    return out


@kernel()
def _solve_each(matrix, right, out):
    """Solves positive definite systems of three unknowns, (k, 3, 3), (k, 3) and (k, 3)."""
    for i in range(len(matrix)):
        solve_symmetric(matrix[i], right[i], out[i])


@kernel(device_only=True)
def solve_symmetric(A, b, x):
    """Solves a positive definite system of three unknowns by L D Lᵀ, (3, 3), (3,) and (3,)."""
    d0 = A[0, 0]
    l10, l20 = A[1, 0] / d0, A[2, 0] / d0
    d1 = A[1, 1] - l10 * A[1, 0]
    l21 = (A[2, 1] - l20 * A[1, 0]) / d1
    d2 = A[2, 2] - l20 * A[2, 0] - l21 * l21 * d1
    y1 = b[1] - l10 * b[0]
    y2 = b[2] - l20 * b[0] - l21 * y1
    x[2] = y2 / d2
    x[1] = y1 / d1 - l21 * x[2]
    x[0] = b[0] / d0 - l10 * x[1] - l20 * x[2]


def rotation_matrices(angle: Floats) -> Floats:
    """Returns the rotations (k, 3, 3) about vectors of angles [rad], (k, 3): Rodrigues' formula."""
    size = np.linalg.norm(angle, axis=1)
    near = np.maximum(size, np.finfo(float).tiny)
    axis = angle / near[:, None]
    cross = np.zeros((len(angle), 3, 3))
    cross[:, [2, 0, 1], [1, 2, 0]] = axis
    cross[:, [1, 2, 0], [2, 0, 1]] = -axis
    s, c = np.sin(size)[:, None, None], 1.0 - np.cos(size)[:, None, None]
    return np.eye(3) + s * cross + c * (cross @ cross)
