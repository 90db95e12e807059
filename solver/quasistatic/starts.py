# SPDX-License-Identifier: GPL-3.0-or-later
"""Where Newton's method begins: with the rest shape as it is held, or free nodes strewn, heaped, flat, mirrored."""

from __future__ import annotations

import numpy as np

from ..arrays import Bools, Floats
from .held import Held

NOISE = 1.0e-3  # of the longest side: what keeps nodes apart that are heaped in one point


def along(X: Floats, held: Held) -> Floats:
    """Returns rest positions X [m], (n, 3), moved rigidly as the held nodes are on the whole.

    The motion has the least Σ ‖R X + t − x‖² over the held nodes. Where they leave turns open, it turns least.
    """
    return moved_as(X, X[held.nodes], held.positions)


def moved_as(X: Floats, rest: Floats, there: Floats) -> Floats:
    """Returns rest positions X [m], (n, 3), moved rigidly as some points are on the whole.

    Args:
        X: Moved.
        rest, there: Where the points are at rest, and where they have to go [m], (k, 3).
    """
    middle, target = rest.mean(axis=0), there.mean(axis=0)
    H = (there - target).T @ (rest - middle)
    spread = np.trace(H.T @ H) ** 0.5
    # turns that the held nodes leave open, such as about the line on which they all are, become none
    U, _, Vt = np.linalg.svd(H + 1.0e-9 * spread * np.eye(3) if spread else np.eye(3))
    R = U @ np.diag([1.0, 1.0, np.sign(np.linalg.det(U @ Vt))]) @ Vt
    return np.asarray((X - middle) @ R.T + target)


def scattered(X: Floats, held: Held, sides: float, seed: int) -> Floats:
    """Returns free nodes anywhere in a cube `sides` times the longest side of the mesh, about its middle.

    Source: S07, figure 3.1.
    """
    low, high = X.min(axis=0), X.max(axis=0)
    half = 0.5 * sides * float((high - low).max())
    x = 0.5 * (low + high) + np.random.default_rng(seed).uniform(-half, half, X.shape)
    x[held.nodes] = held.positions
    return x


def heaped(X: Floats, held: Held, seed: int) -> Floats:
    """Returns free nodes in the middle of the mesh, but for noise of `NOISE` of its longest side."""
    noise = NOISE * float(np.ptp(X, axis=0).max()) * np.random.default_rng(seed).uniform(-1.0, 1.0, X.shape)
    return _pressed(X, held, np.zeros(3)) + noise * held.is_free(len(X))[:, None]


def flattened(X: Floats, held: Held) -> Floats:
    """Returns free nodes in the plane through the middle of the mesh, across its longest side."""
    return _pressed(X, held, np.where(_longest(X), 0.0, 1.0))


def mirrored(X: Floats, held: Held) -> Floats:
    """Returns free nodes on the other side of that plane, so that every tet between them is inside out."""
    return _pressed(X, held, np.where(_longest(X), -1.0, 1.0))


def _pressed(X: Floats, held: Held, factors: Floats) -> Floats:
    middle = 0.5 * (X.min(axis=0) + X.max(axis=0))
    x = middle + factors * (X - middle)
    x[held.nodes] = held.positions
    return x


def _longest(X: Floats) -> Bools:
    return np.arange(3, dtype=np.int64) == np.argmax(np.ptp(X, axis=0))
