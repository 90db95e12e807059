# SPDX-License-Identifier: GPL-3.0-or-later
"""Predicts where nodes move before the first solve of a step, and which contact points can move at all."""

from __future__ import annotations

from ...runtime.jit import kernel


@kernel(no_refcount=True)
def predict_positions(x, v, dt, gravity_scale, gravity, without_gravity, with_gravity):
    """Writes the positions that nodes reach in Δt by their velocities [m], (n, 3), and those with gravity as well."""
    for i in range(len(x)):
        for axis in range(3):
            without_gravity[i, axis] = x[i, axis] + dt * v[i, axis]
            with_gravity[i, axis] = without_gravity[i, axis] + dt * dt * gravity_scale[i] * gravity[axis]


@kernel()
def find_movable_points(is_fixed, tets, tet, is_movable):
    """Writes which points have a node of their tet that is not fixed, (k,); returns whether all have."""
    all_movable = True
    for point in range(len(tet)):
        n = tets[tet[point]]
        is_movable[point] = not (is_fixed[n[0]] and is_fixed[n[1]] and is_fixed[n[2]] and is_fixed[n[3]])
        all_movable = all_movable and is_movable[point]
    return all_movable
