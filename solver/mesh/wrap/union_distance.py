# SPDX-License-Identifier: GPL-3.0-or-later
"""The signed distance from the union of meshes, at the points of a grid.

Near a surface the distance is that of its closest point; beyond a limit it is cut off. The sign is that of the
generalized winding number, so meshes may overlap, have holes and cross themselves.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...runtime.arrays import Floats
from ..geometry.closest_point import closest_points
from ..geometry.orient_outward import orient_outward
from ..geometry.triangle_bvh import Bvh, build_bvh
from ..geometry.triangle_surface import Surface
from ..geometry.winding_number import winding_numbers
from ..level_set.voxel_grid import VoxelGrid
from ..tetrahedralize.inside_classification import INSIDE_WINDING
from ..tetrahedralize.morphology import label_regions


def union_distance(surfaces: Sequence[Surface], grid: VoxelGrid, limit: float) -> Floats:
    """Returns φ at all points of a grid, negative inside any of the surfaces, between ± `limit` [m], (x, y, z)."""
    distance = np.full(grid.shape, limit, dtype=np.float64)
    for surface in surfaces:
        outward = orient_outward(surface).surface
        if not len(outward.triangles):
            continue
        low, high = outward.bounds
        part = grid.part(low - limit, high + limit)
        bvh = build_bvh(outward.vertices, outward.triangles)
        np.minimum(distance[part], _signed_distance(bvh, grid, part, limit), out=distance[part])
    return distance


def _signed_distance(bvh: Bvh, grid: VoxelGrid, part: tuple[slice, slice, slice], limit: float) -> Floats:
    """Returns the signed distance of one surface in a part of the grid, cut off at ± `limit`, (x, y, z)."""
    start = np.array([each.start for each in part], np.int64)
    counts = tuple(each.stop - each.start for each in part)
    index = np.stack(np.unravel_index(np.arange(int(np.prod(counts, dtype=np.int64)), dtype=np.int64), counts), axis=1)
    points = grid.positions(index + start)
    distance = closest_points(bvh, points, limit).distance
    is_near = np.isfinite(distance)
    winding = np.zeros(len(points))
    winding[is_near] = winding_numbers(bvh, points[is_near])
    # what is far from the surface is in or out with all that it is connected with
    regions, count = label_regions(~is_near.reshape(counts))
    region = regions.ravel()
    sample = np.zeros(count + 1, np.int64)
    sample[region] = np.arange(len(region), dtype=np.int64)
    of_region = winding_numbers(bvh, points[sample])
    winding[~is_near] = of_region[region[~is_near]]
    signed = np.where(is_near, distance, limit)
    return np.where(winding > INSIDE_WINDING, -signed, signed).reshape(counts)
