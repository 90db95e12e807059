# SPDX-License-Identifier: GPL-3.0-or-later
"""How thick the thin parts of a mesh are, by rays from its surface inwards.

Source: SSC08, the shape diameter function; with one ray per sample, along the normal, since a quantile of all samples
is wanted instead of a field.
"""

from __future__ import annotations

import numpy as np
from mathutils import Vector
from mathutils.bvhtree import BVHTree

from ...solver.runtime.arrays import Floats, Indices

SAMPLES = 300  # rays
THIN_SHARE = 0.2  # of the surface that is over parts as thin as the result, or thinner
START_DEPTH = 1.0e-5  # of the longest side: where a ray begins, below the face that it leaves


def thin_thickness(points: Floats, faces: Indices) -> float | None:
    """Returns the thickness below which a fifth of the surface is, in the unit of `points`; None for an open sheet.

    Args:
        points: Vertices, (n, 3).
        faces: Triangles, (t, 3).
    """
    a, b, c = (points[faces[:, i]] for i in range(3))
    normals = np.cross(b - a, c - a)
    doubled_area = np.linalg.norm(normals, axis=1)
    total, size = doubled_area.sum(), float(np.ptp(points, axis=0).max(initial=0.0))
    if not total > 0.0:
        return None
    enclosed = np.einsum("ij,ij->", a - points.mean(axis=0), normals)
    inwards = -normals if enclosed >= 0.0 else normals
    # as many samples on equal areas as there are rays, each in the middle of its triangle
    shares = (np.arange(SAMPLES, dtype=np.int64) + 0.5) / SAMPLES
    chosen = np.searchsorted(np.cumsum(doubled_area, dtype=float) / total, shares).clip(max=len(faces) - 1)
    middles = (a + b + c)[chosen] / 3.0
    directions = inwards[chosen] / doubled_area[chosen, None]
    tree = BVHTree.FromPolygons(points.tolist(), faces.tolist(), all_triangles=True)
    starts = middles + START_DEPTH * size * directions
    hits = (tree.ray_cast(Vector(s), Vector(d))[3] for s, d in zip(starts.tolist(), directions.tolist(), strict=True))
    found = [distance for distance in hits if distance is not None]
    return float(np.quantile(found, THIN_SHARE)) if len(found) > SAMPLES // 2 else None
