# SPDX-License-Identifier: GPL-3.0-or-later
"""The rigid motion that fits the motion of some points best."""

from __future__ import annotations

import numpy as np

from ..runtime.arrays import Floats


def kabsch_rotation(H: Floats) -> Floats:
    """Returns the proper rotation R that has the largest tr(Rᵀ H), (3, 3), for H = Σ m (x − x̄) (X − X̄)ᵀ.

    Source: Kabsch (1976).
    """
    U, _, Vt = np.linalg.svd(H)
    return np.asarray(U @ np.diag([1.0, 1.0, np.sign(np.linalg.det(U @ Vt))]) @ Vt)


def align_rigidly(X: Floats, rest: Floats, there: Floats) -> Floats:
    """Returns rest positions X [m], (n, 3), moved rigidly as some points are on the whole.

    Args:
        X: Moved.
        rest, there: Where the points are at rest, and where they have to go [m], (k, 3).
    """
    middle, target = rest.mean(axis=0), there.mean(axis=0)
    H = (there - target).T @ (rest - middle)
    spread = np.trace(H.T @ H) ** 0.5
    # turns that the held nodes leave open, such as about the line on which they all are, become none
    R = kabsch_rotation(H + 1.0e-9 * spread * np.eye(3) if spread else np.eye(3))
    return np.asarray((X - middle) @ R.T + target)
