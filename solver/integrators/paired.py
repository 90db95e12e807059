# SPDX-License-Identifier: GPL-3.0-or-later
"""The system of a step with what acts between points of two tets: a wider matrix."""

from __future__ import annotations

from ..arrays import Floats
from ..linear.pairs import add_pairs, pair_pattern
from ..linear.pattern import BlockPattern
from ..model import Model
from .outside import Pairs


def with_pairs(model: Model, pairs: Pairs, dt: float, values: Floats, b: Floats) -> tuple[BlockPattern, Floats]:
    """Returns pattern and blocks of the matrix of `values`, (b, 9), with pairs; without any just these.

    Args:
        model: The bodies.
        pairs: What acts between two tets.
        dt: Δt [s].
        values: Blocks in the model's pattern, not changed.
        b: Right-hand side [N s], (n, 3), to which Δt f is added.
    """
    if not len(pairs):
        return model.pattern, values
    patterns = pair_pattern(model.pattern, model.tets)
    across = patterns.across(pairs.tet, pairs.other)
    wide = patterns.wide
    across.widened.spread(values, wide)
    add_pairs(
        dt, pairs.tet, pairs.weights, pairs.other, pairs.other_weights, pairs.stiffness, pairs.force, across.place,
        model.tets, across.pattern.corner_block, across.widened.added, wide, b,
    )  # fmt: skip
    return across.pattern, wide
