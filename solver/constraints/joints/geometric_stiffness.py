# SPDX-License-Identifier: GPL-3.0-or-later
"""The geometric stiffness of joints: how the torque of a force on a rigid body changes as the body turns in a step.

A force f at r from the centre of mass has the torque r × f, which a turn θ changes by
(θ × r) × f = −(f · r) θ + r (f · θ). Of that the symmetric part that has no torque about r, about which f cannot turn
anything, is −K θ with

    K = (f · r) (I − r̂ r̂ᵀ).

A step takes joint forces at lever arms of its start. A light link under a large tension cannot bear that: it is
unstable once Δt² K is some four times the inertia. So what of Δt² K is above MAX_EXPLICIT_RATIO times the inertia is
added to the system, implicitly. Torques that it adds are not in balance between bodies, so below that there are none,
and angular momentum stays. What is negative, of forces that push, is left out, so that the matrix stays definite.

On bodies K is a set of points (`constraints/rigid_core/torque_points.py`).

Source: Tournier, Nesme, Gilles and Faure (2015), Stable Constrained Dynamics; Andrews, Teichmann and Kry
(2017), Geometric Stiffness for Real-time Constrained Multibody Dynamics, for the ratio.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...mechanics.finite_rotation_correction import rotation_matrices
from ...mechanics.model import Model
from ...mechanics.state import State
from ...mechanics.state_fields import VELOCITY_CHANGE
from ...runtime.arrays import Floats, Indices, floats
from ...runtime.frozen_memo import derived_from
from ...runtime.jit import kernel
from ..point_forces import PointForces
from ..rigid_core.rigid_body_momentum import CoreBody, core_body
from ..rigid_core.torque_points import TorquePoints, torque_points
from .joint_frame_kernels import SMALLEST
from .joint_frames import JointEnd

MAX_EXPLICIT_RATIO = 0.25  # Δt² K over the inertia, up to which K stays out of the system


@dataclass(frozen=True, eq=False)
class JointedCores:
    """The rigid parts that joints hold, at the start of a step, b of them.

    Attributes:
        model: All bodies.
        x: Where nodes are [m], (n, 3).
        dt: Δt [s].
        bodies: They.
        inertia: About their centres of mass [kg m²], (b, 3, 3).
        of_end: Which of them each end of each joint is, −1 where it is no body, (2, k).
        arms: From their centres of mass to the place of the joint [m], (2, k, 3).
    """

    model: Model
    x: Floats
    dt: float
    bodies: tuple[CoreBody, ...]
    inertia: Floats
    of_end: Indices
    arms: Floats

    def coasted(self, start: State) -> tuple[Floats, Floats]:
        """Returns where a step ends if velocities change as in the step before: displacements along straight lines,
        and places, (n, 3) each [m].

        They are those of the cores; other nodes stay.
        """
        straight, turned = np.zeros_like(start.x), start.x.copy()
        change = start.fields.get(VELOCITY_CHANGE)
        v = start.v if change is None else start.v + change
        for body in self.bodies:
            nodes = body.core.nodes
            V, omega = body.motion(v[nodes])
            straight[nodes] = self.dt * body.velocities(V, omega)
            R = rotation_matrices((self.dt * omega)[None])[0]
            turned[nodes] = body.centre + self.dt * V + body.lever_arms @ R.T
        return floats(straight), floats(turned)

    def _bears_explicitly(self, K: Floats) -> bool:
        """Whether the inertia bears K [N m], (b, 3, 3), in the step by Frobenius norms, as it does most often."""
        inner = self._inverse_factor @ K @ self._inverse_factor.transpose(0, 2, 1)
        return bool((self.dt**4 * np.einsum("bij,bij->b", inner, inner) <= MAX_EXPLICIT_RATIO**2).all())

    @cached_property
    def _inverse_factor(self) -> Floats:
        """L⁻¹ of the inertia L Lᵀ, (b, 3, 3)."""
        return floats(np.linalg.inv(np.linalg.cholesky(self.inertia)))

    @cached_property
    def points(self) -> TorquePoints:
        """The points by which they are stiff; most steps ask for none."""
        return torque_points(self.model, self.bodies, self.x)

    def forces(self, pull: Floats) -> PointForces:
        """Returns what is stiff about the cores where joints pull at the second end and push the first [N], (k, 3)."""
        K = np.zeros_like(self.inertia)
        add_geometric_stiffness(self.of_end, pull, self.arms, K)
        if self._bears_explicitly(K):
            return PointForces()
        K = above_explicit(K, self.inertia, self.dt)
        which = np.flatnonzero(K.any(axis=(1, 2)))
        points = self.points.selected(which)
        return points.point_forces(stiffness=points.torque_matrices(K[which]))


def jointed_cores(model: Model, ends: Sequence[JointEnd], places: Floats, x: Floats, dt: float) -> JointedCores:
    """Returns the rigid parts that joints hold at `places` [m], (k, 3), where nodes are at x [m], (n, 3)."""
    known, of_end = _held_cores(ends)
    bodies = tuple(core_body(model, model.cores[number], x) for number in known.tolist())
    inertia = floats(np.stack([body.inertia for body in bodies]))
    centre = floats(np.stack([body.centre for body in bodies]))
    return JointedCores(model, x, dt, bodies, inertia, of_end, places - centre[of_end])


def _held_cores(ends: Sequence[JointEnd]) -> tuple[Indices, Indices]:
    """Returns the cores that joints hold, rising, and which of these each end of each joint is, (2, k), or −1."""

    def number_cores() -> tuple[Indices, Indices]:
        known = np.unique(np.concatenate([end.core for end in ends]))
        known = known[known >= 0]
        of_end = np.stack([np.where(end.core >= 0, np.searchsorted(known, end.core), -1) for end in ends])
        return known, of_end.astype(np.int32)

    return derived_from(ends[0], "held cores", number_cores, inputs=tuple(ends[1:]))


@kernel()
def add_geometric_stiffness(of_end, pull, arms, K):
    """Adds the K of forces on both ends of k joints to those of the bodies that these are [N m].

    Args:
        of_end: Which body each end is, −1 where it is none, (2, k).
        pull: Forces on the second ends [N], (k, 3); those on the first ones are against them.
        arms: From the centres of the bodies [m], (2, k, 3).
        K: Changed, (b, 3, 3).
    """
    for end in range(2):
        for joint in range(len(pull)):
            body, r = of_end[end, joint], arms[end, joint]
            if body < 0:
                continue
            along, square = 0.0, SMALLEST
            for i in range(3):
                along += pull[joint, i] * r[i]
                square += r[i] * r[i]
            if end == 0:
                along = -along
            for i in range(3):
                K[body, i, i] += along
                for j in range(3):
                    K[body, i, j] -= along * r[i] * r[j] / square


def above_explicit(K: Floats, inertia: Floats, dt: float) -> Floats:
    """Returns what of K [N m] the inertia [kg m²] does not bear in a step of Δt [s], positive semi-definite.

    Args:
        K, inertia: (b, 3, 3) each.
        dt: Δt [s].
    """
    L = np.linalg.cholesky(inertia)
    inner = np.linalg.solve(L, np.linalg.solve(L, K).transpose(0, 2, 1))
    ratios, axes = np.linalg.eigh(dt**2 * inner)
    left = np.maximum(ratios - MAX_EXPLICIT_RATIO, 0.0)
    axes = L @ axes
    return floats((axes * left[:, None, :]) @ axes.transpose(0, 2, 1) / dt**2)
