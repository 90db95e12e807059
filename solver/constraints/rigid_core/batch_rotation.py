# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotates many rigid bodies of four nodes each, at the end of a step that has moved them along straight lines."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

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


@kernel(device_only=True)
def _write_momenta(mass, arms, v, V, L):
    """Writes the velocity of the centre of mass [m/s] and the angular momentum about it [kg m²/s], (3,) each."""
    total = 0.0
    for i in range(3):
        V[i], L[i] = 0.0, 0.0
    for node in range(NODES):
        total += mass[node]
        for i in range(3):
            V[i] += mass[node] * v[node, i]
    for i in range(3):
        V[i] /= total
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
