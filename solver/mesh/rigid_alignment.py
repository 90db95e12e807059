# SPDX-License-Identifier: GPL-3.0-or-later
"""The rigid motion that fits the motion of some points best."""

from __future__ import annotations

import numpy as np

from ..runtime.arrays import Floats

MIN_WIDTH = 1.0e-5  # of points over their length, below which float32 does not say how they have turned
ENOUGH_POINTS = 200  # of a rigid body, of which it is known how it moves


def kabsch_rotation(H: Floats) -> Floats:
    """Returns the proper rotation R that has the largest tr(Rᵀ H), (…, 3, 3), for H = Σ m (x − x̄) (X − X̄)ᵀ.

    Source: Kabsch (1976).
    """
    U, _, Vt = np.linalg.svd(H)
    U[..., 2] *= np.sign(np.linalg.det(U @ Vt))[..., None]
    return np.asarray(U @ Vt)


def stride_of_enough_points(count: int) -> int:
    """Returns s ≥ 1: every s-th of so many points of a rigid body say as well as all how it moves."""
    return max(1, count // ENOUGH_POINTS)


def fit_rigid_motions(rest: Floats, there: Floats) -> Floats | None:
    """Returns the rigid motions g(X) = R X + t that have the smallest Σ |g(X) − x|², (k, 4, 4).

    Args:
        rest: Points X, (n, 3).
        there: Where they have gone, (k, n, 3).

    Returns:
        The motions; None where the points are in a line, about which any turn fits.
    """
    middle, target = rest.mean(axis=0), there.mean(axis=1)
    sizes = np.linalg.svd(rest - middle, compute_uv=False)
    if len(sizes) < 2 or sizes[1] <= MIN_WIDTH * sizes[0]:
        return None
    motions = np.tile(np.eye(4), (len(there), 1, 1))
    motions[:, :3, :3] = kabsch_rotation(np.einsum("kni,nj->kij", there - target[:, None], rest - middle))
    motions[:, :3, 3] = target - motions[:, :3, :3] @ middle
    return motions


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
