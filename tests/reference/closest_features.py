# SPDX-License-Identifier: GPL-3.0-or-later
"""Slow, obvious references: distances by trying every feature, derivatives by differences."""

from __future__ import annotations

import itertools

import numpy as np


def constrained_distance2(x, signs, groups):
    """Returns the least |Σ σᵢ wᵢ xᵢ|² over weights w ≥ 0 that sum to 1 in each group of corners.

    The least value is inside of some feature: on each set of corners, the least value without w ≥ 0 counts if w ≥ 0.

    Args:
        x: Corners, (4, 3).
        signs: 1 for one side, −1 for the other, (4,).
        groups: Corners of both sides.
    """
    best = np.inf
    for one in itertools.chain.from_iterable(itertools.combinations(groups[0], n) for n in (1, 2, 3)):
        for other in itertools.chain.from_iterable(itertools.combinations(groups[1], n) for n in (1, 2, 3)):
            chosen = [*one, *other]
            q = (signs[chosen, None] * x[chosen]).T
            constraints = np.array([[i in group for i in chosen] for group in (one, other)], float)
            size = len(chosen)
            system = np.block([[q.T @ q, constraints.T], [constraints, np.zeros((2, 2))]])
            weights = np.linalg.lstsq(system, np.concatenate([np.zeros(size), [1.0, 1.0]]), rcond=1e-14)[0][:size]
            if weights.min() > -1e-12 and np.allclose(constraints @ weights, 1.0, atol=1e-9):
                best = min(best, float(((q @ weights) ** 2).sum()))
    return best


def point_triangle_distance2(x):
    return constrained_distance2(x, np.array([1.0, -1.0, -1.0, -1.0]), ((0,), (1, 2, 3)))


def edge_edge_distance2(x):
    return constrained_distance2(x, np.array([1.0, 1.0, -1.0, -1.0]), ((0, 1), (2, 3)))


def differences(function, x, step):
    """Returns the derivative of a function of (4, 3) numbers by central differences, (…, 12)."""
    columns = []
    for i in range(x.size):
        moved = []
        for sign in (1.0, -1.0):
            other = x.copy().reshape(-1)
            other[i] += sign * step
            moved.append(np.array(function(other.reshape(x.shape))))
        columns.append((moved[0] - moved[1]) / (2.0 * step))
    return np.stack(columns, axis=-1)
