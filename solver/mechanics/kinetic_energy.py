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
    return np.maximum(
        kinetic_energies(model, v), kinetic_energies(model, v + dt * model.gravity_scale[:, None] * gravity)
    )


@kernel()
def _sum_kinetic_energies(island_start, mass, v, out):
    for island in range(len(island_start) - 1):
        twice = 0.0
        for node in range(island_start[island], island_start[island + 1]):
            twice += mass[node] * (v[node, 0] * v[node, 0] + v[node, 1] * v[node, 1] + v[node, 2] * v[node, 2])
        out[island] = 0.5 * twice
