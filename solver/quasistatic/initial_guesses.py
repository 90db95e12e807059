# SPDX-License-Identifier: GPL-3.0-or-later
"""Where Newton's method begins: with the rest shape as it is held, or free nodes strewn, heaped, flat, mirrored."""

from __future__ import annotations

import numpy as np

from ..mesh.rigid_alignment import align_rigidly
from ..runtime.arrays import Bools, Floats
from .fixed_nodes import FixedNodes

NOISE_AMPLITUDE = 1.0e-3  # of the longest side: what keeps nodes apart that are heaped in one point


def rigidly_aligned(X: Floats, fixed: FixedNodes) -> Floats:
    """Returns rest positions X [m], (n, 3), moved rigidly as the held nodes are on the whole.

    The motion has the least Σ ‖R X + t − x‖² over the held nodes. Where they leave turns open, it turns least.
    """
    return align_rigidly(X, X[fixed.nodes], fixed.positions)


def scattered(X: Floats, fixed: FixedNodes, sides: float, seed: int) -> Floats:
    """Returns free nodes anywhere in a cube `sides` times the longest side of the mesh, about its middle.

    Source: S07, figure 3.1.
    """
    low, high = X.min(axis=0), X.max(axis=0)
    half = 0.5 * sides * float((high - low).max())
    x = 0.5 * (low + high) + np.random.default_rng(seed).uniform(-half, half, X.shape)
    x[fixed.nodes] = fixed.positions
    return x


def collapsed(X: Floats, fixed: FixedNodes, seed: int) -> Floats:
    """Returns free nodes in the middle of the mesh, but for noise of `NOISE_AMPLITUDE` of its longest side."""
    noise = NOISE_AMPLITUDE * float(np.ptp(X, axis=0).max()) * np.random.default_rng(seed).uniform(-1.0, 1.0, X.shape)
    return _scaled(X, fixed, np.zeros(3)) + noise * fixed.is_free(len(X))[:, None]


def flattened(X: Floats, fixed: FixedNodes) -> Floats:
    """Returns free nodes in the plane through the middle of the mesh, across its longest side."""
    return _scaled(X, fixed, np.where(_longest_axis(X), 0.0, 1.0))


def mirrored(X: Floats, fixed: FixedNodes) -> Floats:
    """Returns free nodes on the other side of that plane, so that every tet between them is inside out."""
    return _scaled(X, fixed, np.where(_longest_axis(X), -1.0, 1.0))


def _scaled(X: Floats, fixed: FixedNodes, factors: Floats) -> Floats:
    middle = 0.5 * (X.min(axis=0) + X.max(axis=0))
    x = middle + factors * (X - middle)
    x[fixed.nodes] = fixed.positions
    return x


def _longest_axis(X: Floats) -> Bools:
    return np.arange(3, dtype=np.int64) == np.argmax(np.ptp(X, axis=0))
