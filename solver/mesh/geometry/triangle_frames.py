# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames that turn with triangles."""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Floats

MIN_VECTOR_LENGTH = 1.0e-30  # [m]; shorter vectors are divided by this


def triangle_frames(corners: Floats) -> Floats:
    """Returns an edge, the direction across it and the normal of triangles as rows, (k, 3, 3).

    Args:
        corners: [m], (k, 3, 3).
    """
    first = corners[:, 1] - corners[:, 0]
    normal = np.cross(first, corners[:, 2] - corners[:, 0])
    first = first / np.maximum(np.linalg.norm(first, axis=1), MIN_VECTOR_LENGTH)[:, None]
    normal = normal / np.maximum(np.linalg.norm(normal, axis=1), MIN_VECTOR_LENGTH)[:, None]
    return np.stack([first, np.cross(normal, first), normal], axis=1)
