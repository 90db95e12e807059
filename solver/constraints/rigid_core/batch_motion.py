# SPDX-License-Identifier: GPL-3.0-or-later
"""How many rigid bodies of four nodes each move, and how they are rotated at the end of a step (kernels)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...mechanics.elements.nearest_rotation import nearest_rotation
from ...mechanics.finite_rotation_correction import MIDPOINT_ITERATIONS, solve_symmetric
from ...runtime.arrays import Floats
from ...runtime.jit import kernel

NODES = 4


class BatchArrays(NamedTuple):
    """The arrays of `RigidBodyBatch` that the kernel takes."""

    mass: Floats
    centre: Floats
    lever_arms: Floats
    inertia: Floats


@kernel()
def place_bodies(mass, nodes, x, centre, lever_arms, inertia):
    """Writes centres of mass [m], (k, 3), lever arms [m], (k, 4, 3), and inertias [kg m²], (k, 3, 3), of bodies.

    Args:
        mass: Of nodes [kg], (k, 4).
        nodes: Of the bodies, (k, 4).
        x: Where nodes are [m], (n, 3).
        centre, lever_arms, inertia: Out, see `RigidBodyBatch`.
    """
    for body in range(len(nodes)):
        arms, J = lever_arms[body], inertia[body]
        for node in range(NODES):
            for i in range(3):
                arms[node, i] = x[nodes[body, node], i]
        _write_mean(mass[body], arms, centre[body])
        J[:] = 0.0
        for node in range(NODES):
            m = mass[body, node]
            for i in range(3):
                arms[node, i] -= centre[body, i]
            for i in range(3):
                for j in range(3):
                    J[i, j] -= m * arms[node, i] * arms[node, j]
        trace = J[0, 0] + J[1, 1] + J[2, 2]
        for i in range(3):
            J[i, i] -= trace


@kernel()
def fit_rigid_motions(bodies, v, V, omega):
    """Writes V [m/s] and ω [rad/s], (k, 3), of the rigid motions with the momenta of velocities v [m/s], (k, 4, 3)."""
    L = np.empty(3)
    for body in range(len(v)):
        _write_momenta(bodies.mass[body], bodies.lever_arms[body], v[body], V[body], L)
        solve_symmetric(bodies.inertia[body], L, omega[body])


@kernel()
def write_velocities(bodies, V, omega, out):
    """Writes V + ω × (x − c) [m/s], (k, 4, 3), for V [m/s] and ω [rad/s], (k, 3) each."""
    for body in range(len(V)):
        for node in range(NODES):
            for i in range(3):
                j, k = (i + 1) % 3, (i + 2) % 3
                r, w = bodies.lever_arms[body, node], omega[body]
                out[body, node, i] = V[body, i] + (w[j] * r[k] - w[k] * r[j])


@kernel()
def rotate_bodies(bodies, v, before, keeps_spin, damping, dt, x_out, v_out):
    """Writes positions [m] and velocities [m/s] at the end of a step, (k, 4, 3) each.

    Args:
        bodies: `BatchArrays`.
        v, before, keeps_spin, damping, dt: See `RigidBodyBatch.rotated`.
        x_out, v_out: Out.
    """
    V, V_before, L, omega, after = np.empty(3), np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    R, turned = np.empty((3, 3)), np.empty((3, 3))
    for body in range(len(v)):
        mass, arms, inertia = bodies.mass[body], bodies.lever_arms[body], bodies.inertia[body]
        _write_momenta(mass, arms, v[body], V, L)
        solve_symmetric(inertia, L, omega)
        for _ in range(MIDPOINT_ITERATIONS):
            _write_rotation(omega, 0.5 * dt, R)
            _write_rotated_inertia(R, inertia, turned)
            solve_symmetric(turned, L, omega)
        _write_rotation(omega, dt, R)
        if keeps_spin[body]:
            _write_momenta(mass, arms, before[body], V_before, L)
            for i in range(3):
                L[i] /= 1.0 + dt * damping[body]
        _write_rotated_inertia(R, inertia, turned)
        solve_symmetric(turned, L, omega)
        for node in range(NODES):
            r = arms[node]
            for i in range(3):
                after[i] = R[i, 0] * r[0] + R[i, 1] * r[1] + R[i, 2] * r[2]
            for i in range(3):
                j, k = (i + 1) % 3, (i + 2) % 3
                x_out[body, node, i] = bodies.centre[body, i] + dt * V[i] + after[i]
                v_out[body, node, i] = V[i] + omega[j] * after[k] - omega[k] * after[j]


@kernel()
def restore_shapes(mass, rest, x):
    """Moves the nodes of bodies, (k, 4, 3) [m], to where their shape at rest comes nearest to them.

    What round-off does to a shape does not add up.

    Args:
        mass: Of nodes [kg], (k, 4).
        rest: Where these are at rest [m], (k, 4, 3).
        x: Changed.
    """
    centre, rest_centre, H = np.empty(3), np.empty(3), np.empty((3, 3))
    for body in range(len(x)):
        _write_mean(mass[body], x[body], centre)
        _write_mean(mass[body], rest[body], rest_centre)
        for i in range(3):
            for j in range(3):
                H[i, j] = 0.0
                for node in range(NODES):
                    arm = rest[body, node, j] - rest_centre[j]
                    H[i, j] += mass[body, node] * (x[body, node, i] - centre[i]) * arm
        a, b, c, d, e, f, g, h, k = nearest_rotation(
            H[0, 0], H[0, 1], H[0, 2], H[1, 0], H[1, 1], H[1, 2], H[2, 0], H[2, 1], H[2, 2]
        )
        for node in range(NODES):
            r = rest[body, node]
            p, q, s = r[0] - rest_centre[0], r[1] - rest_centre[1], r[2] - rest_centre[2]
            x[body, node, 0] = centre[0] + (a * p + b * q + c * s)
            x[body, node, 1] = centre[1] + (d * p + e * q + f * s)
            x[body, node, 2] = centre[2] + (g * p + h * q + k * s)


@kernel(device_only=True)
def _write_mean(mass, values, out):
    """Writes the mean of values, (4, 3), by mass, (3,)."""
    total = 0.0
    for i in range(3):
        out[i] = 0.0
    for node in range(NODES):
        total += mass[node]
        for i in range(3):
            out[i] += mass[node] * values[node, i]
    for i in range(3):
        out[i] /= total


@kernel(device_only=True)
def _write_momenta(mass, arms, v, V, L):
    """Writes the velocity of the centre of mass [m/s] and the angular momentum about it [kg m²/s], (3,) each."""
    _write_mean(mass, v, V)
    L[:] = 0.0
    for node in range(NODES):
        for i in range(3):
            j, k = (i + 1) % 3, (i + 2) % 3
            L[i] += mass[node] * (arms[node, j] * (v[node, k] - V[k]) - arms[node, k] * (v[node, j] - V[j]))


@kernel(device_only=True)
def _write_rotation(omega, time, R):
    """Writes the rotation by ω over a time [s], (3, 3), as `rotation_matrices` does."""
    size = math.sqrt(omega[0] * omega[0] + omega[1] * omega[1] + omega[2] * omega[2])
    s, c = math.sin(time * size), 2.0 * math.sin(0.5 * time * size) ** 2  # c is 1 − cos
    scale = 1.0 / size if size > 0.0 else 0.0
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        a, b = omega[i] * scale, omega[j] * scale
        R[i, i] = 1.0 - c * (1.0 - a * a) if size > 0.0 else 1.0
        R[i, j] = c * a * b - s * omega[k] * scale
        R[j, i] = c * a * b + s * omega[k] * scale


@kernel(device_only=True)
def _write_rotated_inertia(R, inertia, out):
    """Writes R J Rᵀ, (3, 3)."""
    for i in range(3):
        for j in range(3):
            total = 0.0
            for a in range(3):
                for b in range(3):
                    total += R[i, a] * inertia[a, b] * R[j, b]
            out[i, j] = total
