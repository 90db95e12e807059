# SPDX-License-Identifier: GPL-3.0-or-later
"""The nearest vertex to points, by Blender's tree of points."""

from __future__ import annotations

import numpy as np
from mathutils.kdtree import KDTree

from ...solver.runtime.arrays import Floats, Indices


def nearest_vertices(vertices: Floats, points: Floats) -> Indices:
    """Returns the number of the nearest of some vertices, (n, 3), to each of some points, (k, 3): (k,)."""
    tree = KDTree(len(vertices))
    for number, vertex in enumerate(vertices.tolist()):
        tree.insert(vertex, number)
    tree.balance()
    return np.array([tree.find(point)[1] for point in points.tolist()], np.int32)
