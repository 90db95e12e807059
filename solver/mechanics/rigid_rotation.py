# SPDX-License-Identifier: GPL-3.0-or-later
"""Lets pieces that spin turn instead of growing.

A step moves nodes along straight lines. The nodes of a piece that turns by an angle θ in a step are then √(1 + θ²)
times as far from its axis: what spins grows, is stressed by that, and breaks again. Bodies turn little in a step;
splinters may turn by a radian. So the rigid part of a piece's motion, found from its momentum and its angular
momentum about its centre, is taken out of the step and made again as a rotation. Both momenta stay as they are.
"""

from __future__ import annotations

import numpy as np

from ..runtime.arrays import Bools, Floats
from .model import Model
from .state import State
from .topology import TETS_FIELD

MIN_ANGLE = 1.0e-4  # [rad]: slower turning grows by less than 5e-9
MIDPOINT_ITERATIONS = 3  # in which the middle of a step is found
MIN_INERTIA_SHARE = 1.0e-9  # of the trace of the inertia, where a piece has hardly any about an axis


def rotate_free_islands(model: Model, state: State, before: Floats, is_held: Bools | None, dt: float) -> None:
    """Changes positions and velocities in `state` at the end of a step of `dt` [s], if something has broken.

    Args:
        model: Of the step.
        state: At its end.
        before: Positions at its begin [m], (n, 3).
        is_held: Nodes that are held, (n,), or None: a piece with one of them does not turn freely.
        dt: [s].
    """
    if TETS_FIELD not in state.fields:
        return
    start: np.ndarray = np.asarray(model.pattern.island_start, np.int64)
    is_free = np.ones(len(start) - 1, bool)
    if is_held is not None:
        is_free = ~np.logical_or.reduceat(is_held, start[:-1])
    state.x, state.v = rotated_motion(start, model.mass, before, state.x, state.v, is_free, dt)


def rotated_motion(
    start: np.ndarray, mass: Floats, before: Floats, x: Floats, v: Floats, is_free: Bools, dt: float
) -> tuple[Floats, Floats]:
    """Returns positions [m] and velocities [m/s] at the end of a step, (n, 3) each, with free pieces turned.

    Args:
        start: Where the pieces' nodes begin, (k + 1,).
        mass: Of the nodes [kg], (n,).
        before: Positions at the begin of the step [m], (n, 3).
        x, v: At its end, x = before + dt · v, (n, 3).
        is_free: Which pieces, (k,).
        dt: [s].
    """
    if not is_free.any():
        return x, v
    first, piece = start[:-1], np.repeat(np.arange(len(start) - 1, dtype=np.int64), np.diff(start))
    total = np.add.reduceat(mass, first)
    centre = np.add.reduceat(mass[:, None] * before, first) / total[:, None]
    speed = np.add.reduceat(mass[:, None] * v, first) / total[:, None]
    arm, rest = before - centre[piece], v - speed[piece]
    angular = np.add.reduceat(mass[:, None] * np.cross(arm, rest), first)
    inertia = inertia_tensors(mass, arm, first)
    omega = _solve_inertia(inertia, angular)
    turns = is_free & (np.linalg.norm(omega, axis=1) * dt > MIN_ANGLE)
    if not turns.any():
        return x, v
    R = rotation_matrices(midpoint_angular_velocity(inertia, angular, omega, dt) * dt)[piece]
    strain = rest - np.cross(omega[piece], arm)
    arm_after = np.einsum("nij,nj->ni", R, arm + dt * strain)
    strain = np.einsum("nij,nj->ni", R, strain)
    left = angular - np.add.reduceat(mass[:, None] * np.cross(arm_after, strain), first)
    spin = _solve_inertia(inertia_tensors(mass, arm_after, first), left)
    moves = turns[piece][:, None]
    x_after = centre[piece] + dt * speed[piece] + arm_after
    v_after = speed[piece] + np.cross(spin[piece], arm_after) + strain
    return np.where(moves, x_after, x), np.where(moves, v_after, v)


def with_finite_rotations(
    start: np.ndarray, mass: Floats, about: Floats, x: Floats, which: Bools
) -> tuple[Floats, Floats]:
    """Returns where straight ways lead if what they have of a turn is made as a rotation.

    Args:
        start: Where the pieces' nodes begin, (k + 1,).
        mass: Of the nodes [kg], (n,).
        about, x: Positions at both ends of the ways [m], (n, 3).
        which: Which pieces turn, (k,); the others get to x.

    Returns:
        Positions [m], (n, 3), and the angles by which pieces have turned, zero of the others [rad], (k,).
    """
    if not which.any():
        return x, np.zeros(len(which))
    first, piece = start[:-1], np.repeat(np.arange(len(start) - 1, dtype=np.int64), np.diff(start))
    total = np.add.reduceat(mass, first)[:, None]
    middle = (np.add.reduceat(mass[:, None] * x, first) / total)[piece]
    arm = about - (np.add.reduceat(mass[:, None] * about, first) / total)[piece]
    way = x - middle - arm
    turn = _solve_inertia(inertia_tensors(mass, arm, first), np.add.reduceat(mass[:, None] * np.cross(arm, way), first))
    angle = np.where(which, np.linalg.norm(turn, axis=1), 0.0)
    turns = angle > MIN_ANGLE
    if not turns.any():
        return x, angle
    strain = way - np.cross(turn[piece], arm)
    there = middle + np.einsum("nij,nj->ni", rotation_matrices(turn)[piece], arm + strain)
    return np.where(turns[piece][:, None], there, x), angle


def chord_stretch_energy(model: Model, angle: Floats, dt: float) -> Floats:
    """Returns about what energy islands would get if they turned along straight ways [J], (k,).

    What turns by θ along chords is stretched by θ²/2, and damped as if by that strain in one step.

    Args:
        model: The bodies.
        angle: By which every island turns [rad], (k,).
        dt: In which time [s].
    """
    row = model.pattern.island_of_row
    stiffness = model.mu * model.volume * (1.0 + model.stiffness_damping / dt)
    return np.bincount(row[model.tets[:, 0]], stiffness, len(angle)) * angle**4


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
    first, piece = start[:-1], np.repeat(np.arange(len(start) - 1, dtype=np.int64), np.diff(start))
    total = np.add.reduceat(mass, first)[:, None]
    arm = x - (np.add.reduceat(mass[:, None] * x, first) / total)[piece]
    rest = v - (np.add.reduceat(mass[:, None] * v, first) / total)[piece]
    inertia = inertia_tensors(mass, arm, first)
    spin = _solve_inertia(inertia, angular)
    omega = np.linalg.norm(_solve_inertia(inertia, np.add.reduceat(mass[:, None] * np.cross(arm, rest), first)), axis=1)
    most = omega * np.minimum(omega * dt, 1.0) ** 2
    size = np.linalg.norm(spin, axis=1)
    share = most / np.maximum(np.maximum(size, most), np.finfo(float).tiny)
    return v + np.cross((share[:, None] * spin)[piece], arm)


def inertia_tensors(mass: Floats, arm: Floats, first: np.ndarray) -> Floats:
    """Returns Σ m (|r|² − r rᵀ) [kg m²] of pieces, (k, 3, 3), a little larger about axes without any."""
    square = np.einsum("ni,ni->n", arm, arm)
    each = mass[:, None, None] * (square[:, None, None] * np.eye(3) - arm[:, :, None] * arm[:, None, :])
    inertia = np.add.reduceat(each, first)
    size = np.trace(inertia, axis1=1, axis2=2)
    return inertia + (MIN_INERTIA_SHARE * size + np.finfo(float).tiny)[:, None, None] * np.eye(3)


def midpoint_angular_velocity(inertia: Floats, angular: Floats, omega: Floats, dt: float) -> Floats:
    """Returns ω in the middle of a step of free pieces [rad/s], (k, 3): that of its start lets tumbling gain energy."""
    middle = omega
    for _ in range(MIDPOINT_ITERATIONS):
        half = rotation_matrices(0.5 * dt * middle)
        middle = _solve_inertia(half @ inertia @ half.transpose(0, 2, 1), angular)
    return middle


def _solve_inertia(inertia: Floats, angular: Floats) -> Floats:
    return np.linalg.solve(inertia, angular[:, :, None])[:, :, 0]


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
