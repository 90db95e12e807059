# SPDX-License-Identifier: GPL-3.0-or-later
"""The system of a step with what acts between points of two tets: a wider matrix."""

from __future__ import annotations

import numpy as np

from ..arrays import Floats, floats
from ..linear.pairs import add_pairs, pair_pattern
from ..linear.pattern import BlockPattern
from ..model import Model
from .outside import Pairs


def with_pairs(
    model: Model, pattern: BlockPattern, pairs: Pairs, dt: float, values: Floats, b: Floats
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
    patterns = pair_pattern(pattern, model.tets)
    across = patterns.across(pattern, pairs.tet, pairs.other)
    wide = patterns.wide
    across.widened.spread(values, wide)
    add_pairs(
        dt, pairs.tet, pairs.weights, pairs.other, pairs.other_weights, floats(pairs.stiffness).reshape(-1, 9),
        pairs.force, across.place,
        model.tets, across.pattern.corner_block, across.widened.added, wide, b,
    )  # fmt: skip
    return across.pattern, wide


def lost_by(model: Model, pairs: Pairs, dt: float, v: Floats) -> Floats:
    """Returns Δt times what pairs lose by velocities v [m/s], of nodes [N s], (n, 3) each."""
    lost = np.zeros_like(v)
    if len(pairs):
        forces = np.einsum("kij,kj->ki", dt * pairs.stiffness, pairs.relative(v, model.tets))
        _push(model, pairs, forces, dt, lost)
    return lost


def forces_of(model: Model, pairs: Pairs, dt: float, v: Floats) -> Floats:
    """Returns what pairs push nodes with [N], (n, 3), at the end of a step of velocities v [m/s], (n, 3)."""
    out = np.zeros_like(v)
    if len(pairs):
        lost = np.einsum("kij,kj->ki", dt * pairs.stiffness, pairs.relative(v, model.tets))
        _push(model, pairs, pairs.force - lost, 1.0, out)
    return out


def _push(model: Model, pairs: Pairs, forces: Floats, dt: float, out: Floats) -> None:
    """Adds Δt times forces on the points p, (k, 3), and what answers them, to nodes, (n, 3)."""
    none, blocks = np.zeros((0, 9)), np.zeros((0, 4), np.uint32)
    add_pairs(
        dt, pairs.tet, pairs.weights, pairs.other, pairs.other_weights, none, floats(forces), np.zeros(0, np.int64),
        model.tets, blocks, np.zeros(0, np.uint32), none, out,
    )  # fmt: skip
