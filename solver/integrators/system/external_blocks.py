# SPDX-License-Identifier: GPL-3.0-or-later
"""Springs and contacts in the system of a step: blocks of the matrix, and impulses on the right-hand side.

Blocks of point forces join nodes of one tet. Those of pair forces join nodes of two tets, so the matrix gets a wider
pattern.
"""

from __future__ import annotations

import numpy as np

from ...constraints.pair_forces import PairForces
from ...constraints.point_forces import PointForces
from ...linalg.block_pattern import BlockPattern
from ...linalg.pair_stiffness_assembly import PairArrays, PairPatterns, add_pair_terms
from ...linalg.point_stiffness_assembly import add_point_terms
from ...linalg.tet_stiffness_assembly import add_tet_terms
from ...mechanics.linearised_tet_forces import TetForces
from ...mechanics.model import Model
from ...runtime.arrays import Floats, floats


def add_point_blocks(model: Model, points: PointForces, dt: float, values: Floats, b: Floats) -> None:
    """Adds Δt² K + Δt C of points to the blocks of the model's pattern, (b, 9), and Δt f to b [N s], (n, 3)."""
    stiffness, damping, corner_block = points.stiffness, points.damping, model.pattern.corner_block
    add_point_terms(
        dt, points.tet, points.weights, stiffness, damping, points.force, model.tets, corner_block, values, b
    )


def add_tet_blocks(model: Model, forces: TetForces, dt: float, values: Floats, b: Floats) -> None:
    """Adds Δt² K of tets to the blocks of the model's pattern, (b, 9), and Δt f to b [N s], (n, 3)."""
    if len(forces):
        corner_block = model.pattern.corner_block
        add_tet_terms(dt, forces.tet, forces.stiffness, forces.force, model.tets, corner_block, values, b)


def tet_stiffness_impulse(model: Model, forces: TetForces, dt: float, v: Floats) -> Floats:
    """Returns Δt² K v of tets on nodes [N s], (n, 3), for velocities v [m/s], (n, 3)."""
    impulse = np.zeros_like(v)
    if len(forces):
        np.add.at(impulse, model.tets[forces.tet], dt * dt * forces.stiffness_forces(v, model.tets))
    return impulse


def point_stiffness_impulse(model: Model, points: PointForces, dt: float, v: Floats) -> Floats:
    """Returns (Δt² K + Δt C) v of points on nodes [N s], (n, 3), for velocities v [m/s], (n, 3)."""
    impulse = np.zeros_like(v)
    if len(points):
        matrices, velocities = dt * points.stiffness + points.damping, points.positions(v, model.tets)
        force = np.einsum("kij,kj->ki", matrices, velocities)
        np.add.at(impulse, model.tets[points.tet], (dt * points.weights)[:, :, None] * force[:, None, :])
    return impulse


def add_pair_blocks(
    model: Model,
    system: tuple[BlockPattern, Floats],
    pairs: PairForces,
    dt: float,
    b: Floats,
    pair_patterns: PairPatterns,
) -> tuple[BlockPattern, Floats]:
    """Returns pattern and blocks of a matrix with those of pairs added; without pairs its own.

    Args:
        model: The bodies.
        system: Pattern and blocks of the matrix, not changed, (b, 9).
        pairs: The pair forces.
        dt: Δt [s].
        b: Right-hand side [N s], (n, 3), to which Δt f is added.
        pair_patterns: Of the workspace.
    """
    pattern, values = system
    if not len(pairs):
        return system
    patterns = pair_patterns.widened(pattern, model.tets)
    across = patterns.pair_blocks(pattern, pairs.tet, pairs.other)
    wide = patterns.wide
    across.widened.scatter(values, wide)
    stiffness = floats(pairs.stiffness).reshape(-1, 9)
    arrays = PairArrays(pairs.tet, pairs.weights, pairs.other, pairs.other_weights, stiffness, pairs.force)
    blocks = across.pattern.corner_block, across.widened.added_blocks
    add_pair_terms(dt, arrays, across.place, model.tets, *blocks, wide, b)
    return across.pattern, wide


def pair_stiffness_impulse(model: Model, pairs: PairForces, dt: float, v: Floats) -> Floats:
    """Returns Δt² K v of pairs on nodes [N s], (n, 3), for velocities v [m/s], (n, 3)."""
    impulse = np.zeros_like(v)
    if len(pairs):
        forces = np.einsum("kij,kj->ki", dt * pairs.stiffness, pairs.relative_positions(v, model.tets))
        _scatter_pair_impulses(model, pairs, forces, dt, impulse)
    return impulse


def pair_forces(model: Model, pairs: PairForces, dt: float, v: Floats) -> Floats:
    """Returns the pair forces on nodes [N], (n, 3), at the end of a step with velocities v [m/s], (n, 3)."""
    out = np.zeros_like(v)
    if len(pairs):
        forces = np.einsum("kij,kj->ki", dt * pairs.stiffness, pairs.relative_positions(v, model.tets))
        _scatter_pair_impulses(model, pairs, pairs.force - forces, 1.0, out)
    return out


def _scatter_pair_impulses(model: Model, pairs: PairForces, forces: Floats, dt: float, out: Floats) -> None:
    """Adds Δt times forces on the points p, (k, 3), and the opposite forces on the points q, to nodes, (n, 3)."""
    none, blocks = np.zeros((0, 9)), np.zeros((0, 4), np.uint32)
    arrays = PairArrays(pairs.tet, pairs.weights, pairs.other, pairs.other_weights, none, floats(forces))
    add_pair_terms(dt, arrays, np.zeros(0, np.int64), model.tets, blocks, np.zeros(0, np.uint32), none, out)
