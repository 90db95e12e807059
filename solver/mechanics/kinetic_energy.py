# SPDX-License-Identifier: GPL-3.0-or-later
"""Kinetic energies of islands, the pieces of the mesh that share no node."""

from __future__ import annotations

import numpy as np

from ..runtime.arrays import Floats, floats
from ..runtime.jit import kernel
from .model import Model


def kinetic_energies(model: Model, v: Floats) -> Floats:
    """Returns ½ Σ m v² of every island [J], (k,), for velocities v [m/s], (n, 3)."""
    out = np.empty(model.pattern.island_count)
    _sum_kinetic_energies(model.pattern.island_start, model.mass, floats(v), out)
    return out


def kinetic_energy_bound(model: Model, v: Floats, gravity: Floats, dt: float) -> Floats:
    """Returns the larger kinetic energy of islands: at v [m/s], (n, 3), or after `dt` [s] of free fall [J], (k,)."""
    out = np.empty(model.pattern.island_count)
    _bound_kinetic_energies(
        model.pattern.island_start, model.mass, floats(v), dt, model.gravity_scale, floats(gravity), out
    )
    return out


def work_of_gravity(model: Model, v: Floats, gravity: Floats, dt: float) -> Floats:
    """Returns the work of gravity on islands that move on at v [m/s], (n, 3), for `dt` [s]: [J], (k,)."""
    weight = model.mass * model.gravity_scale
    row, count = model.pattern.island_of_row, model.pattern.island_count
    return floats(np.bincount(row, dt * weight * (v @ gravity), count))


@kernel(no_refcount=True)
def _sum_kinetic_energies(island_start, mass, v, out):
    for island in range(len(island_start) - 1):
        twice = 0.0
        for node in range(island_start[island], island_start[island + 1]):
            twice += mass[node] * (v[node, 0] * v[node, 0] + v[node, 1] * v[node, 1] + v[node, 2] * v[node, 2])
        out[island] = 0.5 * twice


@kernel(no_refcount=True)
def _bound_kinetic_energies(island_start, mass, v, dt, gravity_scale, gravity, out):
    for island in range(len(island_start) - 1):
        twice_now = twice_fallen = 0.0
        for node in range(island_start[island], island_start[island + 1]):
            fall = dt * gravity_scale[node]
            x, y, z = v[node, 0], v[node, 1], v[node, 2]
            twice_now += mass[node] * (x * x + y * y + z * z)
            x, y, z = x + fall * gravity[0], y + fall * gravity[1], z + fall * gravity[2]
            twice_fallen += mass[node] * (x * x + y * y + z * z)
        out[island] = np.maximum(0.5 * twice_now, 0.5 * twice_fallen)
