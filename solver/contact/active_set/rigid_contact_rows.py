# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts and forces on points as the six unknowns of rigid bodies see them: V and ω about their centres of mass."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...linalg.body_block_cholesky import SIZE
from ...runtime.arrays import Bools, Floats, Indices
from ...runtime.jit import kernel
from ...runtime.simd.vec3 import vec3_store
from .contact_springs import relative_motion, rest_depth


class ContactRows(NamedTuple):
    """How k contacts see the motion of rigid bodies: r = start + Δt (w₁ − w₂), with w = V + ω × arm of both sides.

    Attributes:
        body: First and second body, −1 where the other side is none, (k, 2).
        arm: From their centres to the point and to the place that it touches [m], (k, 2, 3).
        pair: Which pair of bodies these are, −1 without a second, (k,).
        start: r where nothing moves [m], (k, 3).
        may_push: Which contacts may begin to push, (k,).
    """

    body: Indices
    arm: Floats
    pair: Indices
    start: Floats
    may_push: Bools

    @staticmethod
    def allocate(count: int, may_push: Bools) -> ContactRows:
        """Returns arrays for `count` contacts without a second body, to be filled."""
        body, arm, start = np.empty((count, 2), np.int32), np.empty((count, 2, 3)), np.empty((count, 3))
        return ContactRows(body, arm, np.full(count, -1, np.int32), start, may_push)


class RigidBodyMotion(NamedTuple):
    """How n rigid bodies move at the end of a step.

    Attributes:
        u: V [m/s] and ω [rad/s], (n, 6).
        b: Momentum and angular momentum that they would have without contacts [kg m/s, kg m²/s], (n, 6).
        is_free: Which ones are not held, (n,).
    """

    u: Floats
    b: Floats
    is_free: Bools


class ContactForces(NamedTuple):
    """What contacts do at some u, k of them.

    Attributes:
        normal: N, negative where a contact would pull [N], (k,).
        shear: s [m], (k, 3).
        pushes: Whether each pushes, (k,).
        kappa: κ, the friction is −κ s [N/m], (k,).
        slides: Whether friction stays the same where the shear grows, (k,).
    """

    normal: Floats
    shear: Floats
    pushes: Bools
    kappa: Floats
    slides: Bools

    @staticmethod
    def allocate(count: int) -> ContactForces:
        """Returns arrays for `count` contacts, to be filled."""
        normal, kappa = np.empty((2, count))
        pushes, slides = np.empty((2, count), bool)
        return ContactForces(normal, np.empty((count, 3)), pushes, kappa, slides)


@kernel()
def write_contact_rows(carried, x, tets, attachment, body_of_tet, centre, rows):
    """Writes the bodies, arms and motions of `ContactRows`, for nodes at x where the step begins [m], (n, 3).

    Args:
        carried: See `ContactSet`, (k, 3).
        x, tets: Nodes and tets.
        attachment: `PairTets`, of one or two tets each.
        body_of_tet: The body of every tet, (m,).
        centre: Centres of mass [m], (n, 3).
        rows: Out.
    """
    end_tet, weights = attachment
    for c in range(len(rows.start)):
        vec3_store(rows.start, 3 * c, relative_motion(carried, c, x, tets, end_tet, weights))
        for side in range(2):
            tet = end_tet[c, side]
            rows.body[c, side] = body_of_tet[tet] if tet >= 0 else -1
            for i in range(3):
                at = 0.0
                if tet >= 0:
                    for a in range(4):
                        at += weights[c, 4 * side + a] * (x[tets[tet, a], i] - centre[body_of_tet[tet], i])
                rows.arm[c, side, i] = at


@kernel()
def add_point_terms(tet, weights, force, stiffness, damping, body_of_tet, x, tets, centre, dt, diagonal, b):
    """Adds `PointForces` on rigid bodies to A and b, (n, 6, 6) and (n, 6); nodes are at x where the step begins."""
    K, B, r = np.empty((3, 3)), np.empty((3, SIZE)), np.empty(3)
    for p in range(len(tet)):
        body = body_of_tet[tet[p]]
        for i in range(3):
            r[i] = 0.0
            for a in range(4):
                r[i] += weights[p, a] * (x[tets[tet[p], a], i] - centre[body, i])
            for j in range(3):
                K[i, j] = dt * damping[p, i, j] + dt * dt * stiffness[p, i, j]
        times_velocity(K, r, B)
        add_transposed(r, B, diagonal[body])
        for i in range(3):
            j, k = (i + 1) % 3, (i + 2) % 3
            b[body, i] += dt * force[p, i]
            b[body, 3 + i] += dt * (r[j] * force[p, k] - r[k] * force[p, j])


@kernel(device_only=True, no_refcount=True)
def measure_motion(which, rows, contacts, state, u, dt, normal_force, shear):
    """Writes N [N], (k,), and s [m], (k, 3), of some contacts where bodies move by u, (n, 6)."""
    body, arm, start = rows.body, rows.arm, rows.start
    for c in which:
        x, y, z = start[c, 0], start[c, 1], start[c, 2]
        for side in range(2):
            b = body[c, side]
            if b < 0:
                break
            factor = dt if side == 0 else -dt
            rx, ry, rz = arm[c, side, 0], arm[c, side, 1], arm[c, side, 2]
            x += factor * (u[b, 0] + u[b, 4] * rz - u[b, 5] * ry)
            y += factor * (u[b, 1] + u[b, 5] * rx - u[b, 3] * rz)
            z += factor * (u[b, 2] + u[b, 3] * ry - u[b, 4] * rx)
        n = contacts.normal[c]
        along = n[0] * x + n[1] * y + n[2] * z
        normal_force[c] = -state.k[c] * (rest_depth(contacts.gap[c], state.shift[c], state.size[c]) + along)
        shear[c, 0] = state.shear[c, 0] + x - along * n[0]
        shear[c, 1] = state.shear[c, 1] + y - along * n[1]
        shear[c, 2] = state.shear[c, 2] + z - along * n[2]


@kernel(inline=True, device_only=True, no_refcount=True)
def times_velocity(K, r, B):
    """Writes K J, (3, 6), for the velocity J u = V + ω × r of a point."""
    for i in range(3):
        B[i, 0], B[i, 1], B[i, 2] = K[i, 0], K[i, 1], K[i, 2]
        B[i, 3] = r[1] * K[i, 2] - r[2] * K[i, 1]
        B[i, 4] = r[2] * K[i, 0] - r[0] * K[i, 2]
        B[i, 5] = r[0] * K[i, 1] - r[1] * K[i, 0]


@kernel(inline=True, device_only=True, no_refcount=True)
def add_transposed(r, B, out):
    """Adds Jᵀ B, (6, 6), for the velocity J u = V + ω × r of a point and B, (3, 6)."""
    for j in range(SIZE):
        x, y, z = B[0, j], B[1, j], B[2, j]
        out[0, j] += x
        out[1, j] += y
        out[2, j] += z
        out[3, j] += r[1] * z - r[2] * y
        out[4, j] += r[2] * x - r[0] * z
        out[5, j] += r[0] * y - r[1] * x
