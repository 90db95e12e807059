# SPDX-License-Identifier: GPL-3.0-or-later
"""Joints in the incremental potential: their coordinates at every iterate, held by the method of multipliers.

A row with the value q, limits [l, h] and the largest force f has, with e = s − min(max(s, l), h) and s = q + λ / k, the
energy of a spring that gives way at f:

    ½ k e²  up to k |e| = f,  f |e| − f² / 2k  beyond;    λ ← its derivative by q once an iteration has converged.

So what is held is held to any accuracy with a finite k (Hestenes 1969, Powell 1969), and a limit only pushes. Rows are
those of `JointStep`: six coordinates and two motors. Springs and dampers have the energy ½ k q² + ½ (d / Δt) (q − q0)².

Frames are those of the tets of both ends, axes A = F a and B: so translations are A_i · (o_B − o_A), and angles are
functions of A_i · B_j. Each gradient is then a sum of at most four weights of nodes times vectors, which is a stencil
of points in tets. The Hessian is k times the square of the gradient: semidefinite, without what turns of the force add.

Source: Hestenes (1969), Powell (1969).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...constraints.joints.joint_frames import JointEnd
from ...constraints.joints.joint_step import MAX_GAP_RATIO, ROW_COUNT, JointStep
from ...runtime.arrays import Floats, floats, indices
from ...scene.joint import AXIS_COUNT
from .link_stencils import LinkStencils

MIN_COSINE = 1.0e-3  # of the middle angle, beyond which its gradient grows no more
MIN_SQUARE = 1.0e-12  # of what an angle is the direction of


class _Frames(NamedTuple):
    """Both frames of k joints.

    Attributes:
        gap: From the first origin to the second one [m], (k, 3).
        first, second: Axes, columns, (k, 3, 3).
    """

    gap: Floats
    first: Floats
    second: Floats


class JointPotential:
    """The joints of a step.

    Attributes:
        step: Its rows, limits and loads λ, which change.
    """

    def __init__(self, step: JointStep) -> None:
        """Begins with the loads that the step has."""
        self.step, rows = step, step.rows
        self._first_axes, self._second_axes = _axis_weights(rows.first), _axis_weights(rows.second)
        back = step.start_turns.transpose(0, 2, 1)  # second axes as they would be had nothing turned in the step
        self._turned_axes = np.einsum("kaj,kjm->kam", self._second_axes, back)
        self._back = back

    def energy(self, x: Floats) -> float:
        """Returns the energy of all joints [J] with nodes at x [m], (n, 3)."""
        values, step = self._values(self._frames(x)), self.step
        beyond, most = self._beyond(values), step.rows.most
        force = step.stiffness * np.abs(beyond)
        gives = force > most
        finite = np.where(gives, most, 0.0)
        held = np.where(gives, finite * np.abs(beyond) - 0.5 * finite**2 / step.stiffness, 0.5 * force * np.abs(beyond))
        q, rows = values[:, :AXIS_COUNT], step.rows
        springs = rows.spring_stiffness * q**2 + rows.spring_damping / step.dt * (q - step.start) ** 2
        return float(held.sum() + 0.5 * springs.sum())

    def stencils(self, x: Floats) -> LinkStencils:
        """Returns gradient and Hessian of the energy with nodes at x [m], (n, 3)."""
        frames, step = self._frames(x), self.step
        values = self._values(frames)
        force = step.stiffness * self._beyond(values)
        stiffness = np.where((force != 0.0) & (np.abs(force) < step.rows.most), step.stiffness, 0.0)
        force = np.clip(force, -step.rows.most, step.rows.most)
        force[:, :AXIS_COUNT] += self._spring_forces(values)
        stiffness[:, :AXIS_COUNT] += step.spring_stiffness
        parts = [
            self._stencil(row, frames, force[:, row], stiffness[:, row])
            for row in range(ROW_COUNT)
            if force[:, row].any() or stiffness[:, row].any()
        ]
        if not parts:
            return LinkStencils(
                np.zeros((0, 4), np.int32), np.zeros((0, 4, 4)), np.zeros((0, 12)), np.zeros((0, 12, 12))
            )
        return LinkStencils(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))

    def settle(self, x: Floats) -> bool:
        """Takes what rows push with at x [m], (n, 3), as their loads; returns whether that changes next to nothing."""
        values, step = self._values(self._frames(x)), self.step
        before = step.load
        step.load = np.clip(step.stiffness * self._beyond(values), -step.rows.most, step.rows.most)
        step.spring_load = self._spring_forces(values)
        error = np.abs(step.load - before) / step.stiffness / step.rows.units
        return bool(error.max(initial=0.0) <= MAX_GAP_RATIO)

    def _beyond(self, values: Floats) -> Floats:
        """Returns e of the rows, (k, 8)."""
        reached = values + self.step.load / self.step.stiffness
        return floats(reached - np.minimum(np.maximum(reached, self.step.low), self.step.high))

    def _spring_forces(self, values: Floats) -> Floats:
        step = self.step
        return floats(step.spring_stiffness * values[:, :AXIS_COUNT] - step.rows.spring_damping / step.dt * step.start)

    def _frames(self, x: Floats) -> _Frames:
        rows, tets, animated = self.step.rows, self.step.tets, self.step.animated
        first, second = (end.frames(floats(x), tets, animated) for end in (rows.first, rows.second))
        return _Frames(second[0] - first[0], first[1], second[1])

    def _values(self, frames: _Frames) -> Floats:
        """Returns the values of the rows, (k, 8)."""
        gap, A, B = frames
        R, values = A.transpose(0, 2, 1) @ B, np.empty((len(gap), ROW_COUNT))
        values[:, :3] = np.einsum("kij,ki->kj", A, gap)
        values[:, 3] = np.arctan2(-R[:, 1, 2], R[:, 2, 2])
        values[:, 4] = np.arcsin(np.clip(R[:, 0, 2], -1.0, 1.0))
        values[:, 5] = np.arctan2(-R[:, 0, 1], R[:, 0, 0])
        values[:, 6] = values[:, 0] - self.step.start[:, 0]
        turned = A.transpose(0, 2, 1) @ B @ self._back
        values[:, 7] = np.arctan2(turned[:, 2, 1] - turned[:, 1, 2], turned[:, 1, 1] + turned[:, 2, 2])
        return values

    def _stencil(self, row: int, frames: _Frames, force: Floats, stiffness: Floats) -> LinkStencils:
        """Returns one row of all joints, with its forces and stiffnesses, (k,) each."""
        first, second = self.step.rows.first, self.step.rows.second
        count = len(force)
        tets, weights, vectors = np.full((count, 4), -1, np.int32), np.zeros((count, 4, 4)), np.zeros((count, 4, 3))
        for corner, (end, own, vector) in enumerate(self._products(row, frames)):
            tets[:, corner] = (first, second)[end].tet
            weights[:, corner], vectors[:, corner] = own, vector
        along = vectors.reshape(count, 12)
        hessian = stiffness[:, None, None] * along[:, :, None] * along[:, None, :]
        return LinkStencils(indices(tets, -1, 4), weights, floats(force[:, None] * along), hessian)

    def _products(self, row: int, frames: _Frames) -> list[tuple[int, Floats, Floats]]:
        """Returns the gradient of a row as ends, weights of nodes, (k, 4), and vectors, (k, 3)."""
        gap, A, B = frames
        DA, DB, rows = self._first_axes, self._second_axes, self.step.rows
        R = A.transpose(0, 2, 1) @ B

        def mixed(values: Floats, i: int, by: Floats, j: int, with_: Floats) -> Floats:
            return floats(by[:, None] * values[:, :, i] + with_[:, None] * values[:, :, j])

        if row in {0, 1, 2, 6}:
            i = row % 6
            return [
                (0, rows.first.weights, -A[:, :, i]),
                (0, DA[:, :, i], gap),
                (1, rows.second.weights, A[:, :, i]),
            ]
        if row == 3:
            one, other = _turn_rates(R[:, 1, 2], R[:, 2, 2])
            return [(0, mixed(DA, 1, one, 2, other), B[:, :, 2]), (1, DB[:, :, 2], mixed(A, 1, one, 2, other))]
        if row == 4:
            rate = 1.0 / np.maximum(np.sqrt(np.maximum(1.0 - R[:, 0, 2] ** 2, 0.0)), MIN_COSINE)
            return [(0, rate[:, None] * DA[:, :, 0], B[:, :, 2]), (1, rate[:, None] * DB[:, :, 2], A[:, :, 0])]
        if row == 5:
            one, other = _turn_rates(R[:, 0, 1], R[:, 0, 0])
            return [(0, DA[:, :, 0], mixed(B, 1, one, 0, other)), (1, mixed(DB, 1, one, 0, other), A[:, :, 0])]
        C, DC = B @ self._back, self._turned_axes
        sine = (A[:, :, 2] * C[:, :, 1] - A[:, :, 1] * C[:, :, 2]).sum(axis=1)
        cosine = (A[:, :, 1] * C[:, :, 1] + A[:, :, 2] * C[:, :, 2]).sum(axis=1)
        square = np.maximum(sine**2 + cosine**2, MIN_SQUARE)
        s, c = sine / square, cosine / square
        return [
            (0, DA[:, :, 1], mixed(C, 2, -c, 1, -s)),
            (0, DA[:, :, 2], mixed(C, 1, c, 2, -s)),
            (1, DC[:, :, 1], mixed(A, 2, c, 1, -s)),
            (1, DC[:, :, 2], mixed(A, 1, -c, 2, -s)),
        ]


def _turn_rates(across: Floats, along: Floats) -> tuple[Floats, Floats]:
    """Returns the derivatives of atan2(−across, along) by both, (k,) each."""
    square = np.maximum(across**2 + along**2, MIN_SQUARE)
    return floats(-along / square), floats(across / square)


def _axis_weights(end: JointEnd) -> Floats:
    """Returns the weights of the four nodes of tets that give the axes of frames there, (k, 4, 3)."""
    inner = end.inverse_edges @ end.axes
    weights = np.concatenate([-inner.sum(axis=1, keepdims=True), inner], axis=1)
    return floats(np.where(end.is_body[:, None, None], weights, 0.0))


def joined_stencils(one: LinkStencils, other: LinkStencils) -> LinkStencils:
    """Returns the stencils of both."""
    return LinkStencils(
        indices(np.concatenate([one.tets, other.tets]), -1, 4),
        np.concatenate([one.weights, other.weights]),
        np.concatenate([one.gradient, other.gradient]),
        np.concatenate([one.hessian, other.hessian]),
    )
