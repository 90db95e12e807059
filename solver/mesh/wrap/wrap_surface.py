# SPDX-License-Identifier: GPL-3.0-or-later
"""One smooth closed surface around meshes: their union, closed by a ball, smoothed, and taken as an iso-surface."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import scipy.ndimage

from ...runtime.arrays import Floats, Indices
from ...runtime.errors import BadInput
from ...scene.serialisation.schema_constraints import at_least, greater_than
from ..geometry.closest_point import closest_points
from ..geometry.triangle_bvh import build_bvh
from ..geometry.triangle_surface import Surface
from ..level_set.surface_nets import surface_net, well_composed
from ..level_set.voxel_grid import VoxelGrid
from ..tetrahedralize.morphology import label_regions
from .closing import closing, fill_cavities
from .union_distance import union_distance

MAX_POINTS = 40_000_000  # of the grid: 2 GB
BAND_VOXELS = 3.0  # around the surface in which distances are exact
FILTER_REACH = 4.0  # standard deviations of the Gaussian


@dataclass(frozen=True)
class WrapOptions:
    """How meshes are wrapped.

    Attributes:
        width: Grooves narrower than this are bridged [m]; the ball is half as large.
        offset: How far the wrap is outside of the meshes [m].
        smoothing: Standard deviation of the Gaussian filter of the level set, which fills creases [m]; 0: none.
        voxel: Edge length of the quads [m].
    """

    width: Annotated[float, greater_than(0.0, "Width", "m")]
    offset: Annotated[float, at_least(0.0, "Offset", "m")]
    smoothing: Annotated[float, at_least(0.0, "Smoothing", "m")]
    voxel: Annotated[float, greater_than(0.0, "Voxel Size", "m")]


@dataclass(frozen=True)
class WrapSurface:
    """A wrap.

    Attributes:
        vertices: [m], (n, 3).
        quads: That face outward, (q, 4).
        nearest: The number of the nearest of the wrapped meshes, (n,).
        distance: To that [m], (n,).
        part_count: How many separate surfaces there are: 1 where everything is bridged.
    """

    vertices: Floats
    quads: Indices
    nearest: Indices
    distance: Floats
    part_count: int

    @property
    def tunnel_count(self) -> int:
        """How many tunnels go through it: its genus, by Euler's formula, since quads have twice as many edges."""
        return self.part_count - (len(self.vertices) - len(self.quads)) // 2


def wrap_surface(surfaces: Sequence[Surface], options: WrapOptions) -> WrapSurface:
    """Returns the wrap of one or more surfaces.

    Raises:
        BadInput: "wrap-too-fine": the grid would be too large; "wrap-empty": nothing of the meshes is inside.
    """
    radius, voxel = 0.5 * options.width, options.voxel
    depth = max(BAND_VOXELS * voxel, FILTER_REACH * options.smoothing + voxel) + options.offset
    low = np.min([surface.bounds[0] for surface in surfaces], axis=0)
    high = np.max([surface.bounds[1] for surface in surfaces], axis=0)
    grid = VoxelGrid.around(low, high, radius + depth + 2.0 * voxel, voxel)
    if grid.point_count > MAX_POINTS:
        finest = voxel * (grid.point_count / MAX_POINTS) ** (1.0 / 3.0)
        raise BadInput("wrap-too-fine", voxel=f"{voxel:.3g}", least=f"{finest:.2g}")
    distance = union_distance(surfaces, grid, radius + depth)
    values = closing(distance, grid, radius, depth) - options.offset
    fill_cavities(values, depth)
    values = np.clip(values, -depth, depth)
    if options.smoothing > 0.0:
        filtered = scipy.ndimage.gaussian_filter(
            values, options.smoothing / voxel, mode="nearest", truncate=FILTER_REACH
        )
        # the filter fills creases; it would also thin what is round, and the meshes have to stay inside
        values = np.minimum(values, filtered)
        fill_cavities(values, depth)
    values = well_composed(values, voxel)
    part_count = label_regions(values < 0.0)[1]
    if part_count == 0:
        raise BadInput("wrap-empty")
    net = surface_net(values, grid)
    nearest, away = _nearest_surface(surfaces, net.vertices)
    return WrapSurface(net.vertices, net.quads, nearest, away, part_count)


def _nearest_surface(surfaces: Sequence[Surface], points: Floats) -> tuple[Indices, Floats]:
    """Returns which surface is nearest to each point, (n,), and how far it is [m], (n,)."""
    away = np.stack([closest_points(build_bvh(each.vertices, each.triangles), points).distance for each in surfaces])
    nearest = np.argmin(away, axis=0)
    return nearest.astype(np.int32), away[nearest, np.arange(len(points), dtype=np.int64)]
