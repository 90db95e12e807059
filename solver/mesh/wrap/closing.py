# SPDX-License-Identifier: GPL-3.0-or-later
"""The morphological closing of a level set by a ball: what no ball of radius r outside can reach.

The set is grown by r to D = {φ ≤ r}, and D is shrunk by r: a point is in the closing where it is at least r from
the outside of D. A groove into which the ball does not fit is bridged by its arc. The border of D is taken as a
surface, so distances from it are finer than the grid.

Source: Serra (1982), Image Analysis and Mathematical Morphology.
"""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Floats, indices
from ..geometry.closest_point import closest_points
from ..geometry.triangle_bvh import build_bvh
from ..level_set.surface_nets import surface_net
from ..level_set.voxel_grid import VoxelGrid
from ..tetrahedralize.morphology import label_regions


def closing(distance: Floats, grid: VoxelGrid, radius: float, depth: float) -> Floats:
    """Returns the signed distance from the closing of a set by a ball, near its surface.

    Args:
        distance: φ of the set at the points of the grid [m], cut off beyond `radius` + `depth`, (x, y, z).
        grid: The grid; the set is farther than `radius` from its border.
        radius: r of the ball [m].
        depth: Distance from the surface up to which the result is exact [m].
    """
    grown = distance - radius
    net = surface_net(grown, grid)
    if not len(net.quads):
        return distance
    bvh = build_bvh(net.vertices, indices(quad_triangles(net.quads)))
    is_asked = (grown < 0.0) & (distance >= -depth)
    index = np.argwhere(is_asked)
    found = closest_points(bvh, grid.positions(index), radius + depth).distance
    closed = np.where(grown < 0.0, -depth, distance)
    closed[is_asked] = radius - np.minimum(found, radius + depth)
    # the closing has all of the set; only rounding by the grid says otherwise
    return np.minimum(closed, distance)


def fill_cavities(values: Floats, depth: float) -> None:
    """Makes values, (x, y, z), −`depth` at points outside that the border of the grid does not reach, in place."""
    regions, _ = label_regions(values >= 0.0)
    values[(values >= 0.0) & (regions != regions[0, 0, 0])] = -depth


def quad_triangles(quads: np.ndarray) -> np.ndarray:
    """Returns two triangles of each quad, (q, 4), as (2 q, 3)."""
    return np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
