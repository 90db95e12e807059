# SPDX-License-Identifier: GPL-3.0-or-later
"""The system of a step with what acts between points of two tets: a wider matrix."""

from __future__ import annotations

import numpy as np

from ...constraints.external_forces import PairForces
from ...linalg.block_pattern import BlockPattern
from ...linalg.pair_terms import PairArrays, add_pair_terms
from ...mechanics.model import Model
from ...runtime.arrays import Floats, floats
from .workspace import workspace


def add_pair_blocks(
    model: Model, pattern: BlockPattern, pairs: PairForces, dt: float, values: Floats, b: Floats
) -> tuple[BlockPattern, Floats]:
    """Returns pattern and blocks of a matrix with pairs; without any just those that it has.

    Args:
        model: The bodies.
        pattern, values: Of the matrix, not changed, (b, 9).
        pairs: What acts between two tets.
        dt: Δt [s].
        b: Right-hand side [N s], (n, 3), to which Δt f is added.
    """
    if not len(pairs):
        return pattern, values
    patterns = workspace(model.pattern).pair_patterns.widened(pattern, model.tets)
    across = patterns.pair_blocks(pattern, pairs.tet, pairs.other)
    wide = patterns.wide
    across.widened.scatter(values, wide)
    stiffness = floats(pairs.stiffness).reshape(-1, 9)
    arrays = PairArrays(pairs.tet, pairs.weights, pairs.other, pairs.other_weights, stiffness, pairs.force)
    blocks = across.pattern.corner_block, across.widened.added_blocks
    add_pair_terms(dt, arrays, across.place, model.tets, *blocks, wide, b)
    return across.pattern, wide


def pair_stiffness_impulse(model: Model, pairs: PairForces, dt: float, v: Floats) -> Floats:
    """Returns Δt times what pairs lose by velocities v [m/s], of nodes [N s], (n, 3) each."""
    lost = np.zeros_like(v)
    if len(pairs):
        forces = np.einsum("kij,kj->ki", dt * pairs.stiffness, pairs.relative_positions(v, model.tets))
        _scatter_pair_impulses(model, pairs, forces, dt, lost)
    return lost


def pair_forces(model: Model, pairs: PairForces, dt: float, v: Floats) -> Floats:
    """Returns what pairs push nodes with [N], (n, 3), at the end of a step of velocities v [m/s], (n, 3)."""
    out = np.zeros_like(v)
    if len(pairs):
        lost = np.einsum("kij,kj->ki", dt * pairs.stiffness, pairs.relative_positions(v, model.tets))
        _scatter_pair_impulses(model, pairs, pairs.force - lost, 1.0, out)
    return out


def _scatter_pair_impulses(model: Model, pairs: PairForces, forces: Floats, dt: float, out: Floats) -> None:
    """Adds Δt times forces on the points p, (k, 3), and what answers them, to nodes, (n, 3)."""
    none, blocks = np.zeros((0, 9)), np.zeros((0, 4), np.uint32)
    arrays = PairArrays(pairs.tet, pairs.weights, pairs.other, pairs.other_weights, none, floats(forces))
    add_pair_terms(dt, arrays, np.zeros(0, np.int64), model.tets, blocks, np.zeros(0, np.uint32), none, out)
