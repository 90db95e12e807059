# SPDX-License-Identifier: GPL-3.0-or-later
"""Unites a muscle and tendons as level sets, and smooths the seam between them by mean curvature.

Source: S07, section 2.3.3 and figure 2.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.ndimage
from scipy.spatial import cKDTree

from ...runtime.arrays import Bools, Floats, Indices
from ..geometry.signed_distance_interface import SignedDistance
from .curvature_flow import fill_creases
from .distance_grid import grid_of_blocks, sample_distance
from .surface_nets import SurfaceNet, surface_net
from .voxel_grid import VoxelGrid

SEAM_REACH = 1.5  # [voxels] from both surfaces: nodes that count as the seam
FLOW_SHARE = 0.125  # time of the motion over the square of the width of the seam
MAX_PROJECTION = 0.25  # [voxels] that a vertex moves along the normal, once it is fitted to planes
MEAN_WEIGHT = 0.02  # λ per crossing


@dataclass(frozen=True, eq=False)
class JoinedSurface:
    """A muscle and its tendons as one closed surface of quads.

    Attributes:
        vertices: [m], (n, 3).
        quads: (q, 4).
        is_tendon: Which vertices are nearer to the inside of a tendon than to that of the muscle, (n,).
        seam: 1 on the seam to 0 where the surface is that of the muscle or of a tendon, (n,).
        pieces: How many pieces there are that do not touch.
        has_seam: Whether the surfaces meet anywhere.
    """

    vertices: Floats
    quads: Indices
    is_tendon: Bools
    seam: Floats
    pieces: int
    has_seam: bool


def join_surfaces(
    muscle: SignedDistance, tendons: Sequence[SignedDistance], box: tuple[Floats, Floats], voxel: float, width: float
) -> JoinedSurface:
    """Returns the union of a muscle with its tendons, the seam filled and smoothed within a width.

    Args:
        muscle: Signed distance from its surface.
        tendons: From those of one tendon or more.
        box: Least and greatest coordinates of all of them [m].
        voxel: Size [m].
        width: How far from the seam the surface may move [m]; 0: nowhere.
    """
    grid, surfaces = grid_of_blocks(*box, voxel), (muscle, *tendons)
    belly = sample_distance(grid, muscle)
    rods = np.min([sample_distance(grid, each) for each in tendons], axis=0)
    union = np.minimum(belly, rods)
    is_seam = np.maximum(np.abs(belly), np.abs(rods)) <= SEAM_REACH * voxel
    tree = cKDTree(grid.positions(grid.chosen(is_seam))) if is_seam.any() else None
    if tree is not None and width > 0.0:
        weight = _seam_weights(grid, tree, width, union)
        union = fill_creases(union, weight, voxel, FLOW_SHARE * width**2)
    pieces = int(scipy.ndimage.label(union < 0.0)[1])
    net = surface_net(union, grid)
    seam = np.zeros(len(net.vertices)) if tree is None else _falloff(tree, net.vertices, width)
    vertices = net.vertices + (1.0 - seam)[:, None] * (fit_planes(net, surfaces, voxel) - net.vertices)
    own = muscle(vertices)[0]
    others = np.min([each(vertices)[0] for each in tendons], axis=0)
    return JoinedSurface(vertices, net.quads, others < own, seam, pieces, tree is not None)


def _seam_weights(grid: VoxelGrid, tree: cKDTree, width: float, union: Floats) -> Floats:
    """Returns where the surface may move, 0 to 1, (x, y, z)."""
    weight = np.zeros(grid.shape)
    low = np.floor((tree.mins - width - grid.origin) / grid.voxel).astype(np.int64)
    high = np.ceil((tree.maxes + width - grid.origin) / grid.voxel).astype(np.int64) + 1
    box = tuple(slice(max(a, 1), min(b, n - 1)) for a, b, n in zip(low, high, grid.shape, strict=True))
    is_close = np.zeros(grid.shape, np.bool_)
    is_close[box] = np.abs(union[box]) <= width + grid.voxel
    nodes = grid.chosen(is_close)
    weight[tuple(nodes.T)] = _falloff(tree, grid.positions(nodes), width)
    return weight


def _falloff(tree: cKDTree, points: Floats, width: float) -> Floats:
    """Returns 1 at the seam, falling smoothly to 0 at a width from it, (k,)."""
    if width <= 0.0:
        return np.zeros(len(points))
    distance, _ = tree.query(points, distance_upper_bound=width)
    share = np.clip(1.0 - distance / width, 0.0, 1.0)
    return np.asarray(share * share * (3.0 - 2.0 * share))


def fit_planes(net: SurfaceNet, surfaces: Sequence[SignedDistance], voxel: float) -> Floats:
    """Returns the vertices of a surface net, (n, 3), moved onto the union of surfaces, its edges and corners too.

    With the points q of the union that are closest to the crossings of a cell, and their normals n, it minimises
    Σ (n · (x − q))² + λ |x − m|², m the mean of the crossings, within the cell.

    Source: Ju, Losasso, Schaefer and Warren (2002), Dual contouring of Hermite data, section 2.

    Args:
        net: Of the union.
        surfaces: Signed distances.
        voxel: Size [m].
    """
    distance, normal = _union(net.crossings, surfaces)
    apart = net.crossings - distance[:, None] * normal - net.vertices[net.vertex]
    count = len(net.vertices)
    along = np.einsum("ki,ki->k", normal, apart)
    matrix = np.stack(
        [np.bincount(net.vertex, normal[:, i] * normal[:, j], count) for i in range(3) for j in range(3)], axis=1
    ).reshape(-1, 3, 3)
    right = np.stack([np.bincount(net.vertex, along * normal[:, i], count) for i in range(3)], axis=1)
    held = MEAN_WEIGHT * np.bincount(net.vertex, minlength=count)[:, None, None] * np.eye(3)
    fitted = net.vertices + np.linalg.solve(matrix + held, right[:, :, None])[:, :, 0]
    fitted = np.clip(fitted, net.middles - 0.5 * voxel, net.middles + 0.5 * voxel)
    distance, normal = _union(fitted, surfaces)
    step = np.clip(distance, -MAX_PROJECTION * voxel, MAX_PROJECTION * voxel)
    return fitted - step[:, None] * normal


def _union(points: Floats, surfaces: Sequence[SignedDistance]) -> tuple[Floats, Floats]:
    """Returns the least of signed distances, (k,) [m], and the direction in which it grows, (k, 3)."""
    distance, direction = surfaces[0](points)
    for each in surfaces[1:]:
        found, towards = each(points)
        is_less = found < distance
        distance, direction = np.where(is_less, found, distance), np.where(is_less[:, None], towards, direction)
    return distance, direction
