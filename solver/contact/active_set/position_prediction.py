# SPDX-License-Identifier: GPL-3.0-or-later
"""Predicts where nodes move before the first solve of a step."""

from __future__ import annotations

from ...runtime.jit import kernel


@kernel(no_refcount=True)
def predict_positions(x, v, dt, gravity_scale, gravity, without_gravity, with_gravity):
    """Writes the positions that nodes reach in Δt by their velocities [m], (n, 3), and those with gravity as well."""
    for i in range(len(x)):
        for axis in range(3):
            without_gravity[i, axis] = x[i, axis] + dt * v[i, axis]
            with_gravity[i, axis] = without_gravity[i, axis] + dt * dt * gravity_scale[i] * gravity[axis]
