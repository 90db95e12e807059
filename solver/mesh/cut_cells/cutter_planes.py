# SPDX-License-Identifier: GPL-3.0-or-later
"""The planes of cutting triangles: one that holds the triangle, and one through each of its edges that bounds it.

Neighbours share the plane through their common edge, so the three planes there have one line in common and what one
triangle covers ends exactly where the other's part begins.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...runtime.arrays import Floats, Indices, floats, indices
from ...runtime.jit import kernel
from ...runtime.union_find import union_pairs
from ..geometry.exact_orientation import EXPANSION_SIZE, orientation_sign


class CutterPlanes(NamedTuple):
    """Planes of t triangles; p planes.

    Attributes:
        points: Three points in each plane, (p, 3, 3).
        corner_start: First of its `corners` for each plane, and their number at the end, (p + 1,).
        corners: Vertices of the cutter that the plane holds by how it is made, rising for each plane, (c,).
        of_triangle: The plane that holds each triangle, one for neighbours in one plane, and those through the edges
            from corner 0 to 1, 1 to 2 and 2 to 0, (t, 4).
        inner_side: On which side of the latter it lies, 1 or −1, (t, 3).
        triangles: Vertices of the cutter at the corners of triangles, (t, 3).
        triangle_corners: Corners of the triangles, (t, 3, 3).
    """

    points: Floats
    corner_start: Indices
    corners: Indices
    of_triangle: Indices
    inner_side: Indices
    triangles: Indices
    triangle_corners: Floats


def make_cutter_planes(vertices: Floats, triangles: Indices) -> CutterPlanes:
    """Returns the planes of triangles that all have an area.

    Args:
        vertices: (v, 3).
        triangles: (t, 3).
    """
    vertices, triangles = floats(vertices, -1, 3), indices(triangles, -1, 3)
    corner = vertices[triangles]
    normal = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    ends = np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=2).reshape(-1, 2)
    edges, edge_of = np.unique(np.sort(ends, axis=1), axis=0, return_inverse=True)
    edge_of = edge_of.ravel()
    start, end = vertices[edges[:, 0]], vertices[edges[:, 1]]
    aside = _mean_normals(edges, edge_of, normal, start, end)
    length = np.linalg.norm(end - start, axis=1, keepdims=True)
    points = np.concatenate([corner, np.stack([start, end, (start + end) / 2 + length * aside], axis=1)])
    count = len(triangles)
    group = _coplanar_groups(vertices, triangles, edge_of, len(edges))
    held = np.concatenate([np.repeat(group, 3), count + np.repeat(np.arange(len(edges), dtype=np.int64), 2)])
    held = np.unique(np.stack([held, np.concatenate([triangles.ravel(), edges.ravel()])], axis=1), axis=0)
    of_edge = points[count:][edge_of]
    opposite = np.roll(corner, -2, axis=1).reshape(-1, 3)
    return CutterPlanes(
        floats(points, -1, 3, 3),
        indices(np.searchsorted(held[:, 0], np.arange(len(points) + 1, dtype=np.int64))),
        indices(held[:, 1]),
        indices(np.concatenate([group[:, None], count + edge_of.reshape(-1, 3)], axis=1), -1, 4),
        indices(np.where(_heights(of_edge, opposite) > 0.0, 1, -1).reshape(-1, 3), -1, 3),
        triangles,
        corner,
    )


def _coplanar_groups(vertices: Floats, triangles: Indices, edge_of: Indices, edge_count: int) -> Indices:
    """Returns for each triangle the first of those that edges between triangles in one plane connect it with, (t,)."""
    order = np.argsort(edge_of, kind="stable")
    start = np.searchsorted(edge_of[order], np.arange(edge_count, dtype=np.int64))
    fan = start.repeat(np.diff(np.append(start, len(order))))  # all sides at an edge are compared with its first
    one, other = order[fan], order
    opposite = triangles[other // 3, (other + 2) % 3]
    label = np.arange(len(triangles), dtype=np.int32)
    flat = np.empty(len(order), np.bool_)
    fill_coplanar(vertices, triangles[one // 3], opposite, flat)
    union_pairs((one[flat] // 3).astype(np.int32), (other[flat] // 3).astype(np.int32), label)
    return label


@kernel()
def fill_coplanar(vertices, triangles, points, flat):
    """Fills whether points, (k,), lie in the planes of triangles, (k, 3), without error."""
    scratch = np.empty(EXPANSION_SIZE)
    for k in range(len(points)):
        a, b, c = triangles[k]
        flat[k] = orientation_sign(vertices[a], vertices[b], vertices[c], vertices[points[k]], scratch) == 0


def _mean_normals(edges: Indices, edge_of: Indices, normal: Floats, start: Floats, end: Floats) -> Floats:
    """Returns a direction across each edge that lies in none of the two planes there, (e, 3).

    It is the mean normal; where neighbours lie back to back, so that their normals cancel, that of one of them.
    """
    sums = np.zeros((len(edges), 3))
    of_corner = np.repeat(normal, 3, axis=0)
    np.add.at(sums, edge_of, of_corner)
    first = np.zeros((len(edges), 3))
    first[edge_of[::-1]] = of_corner[::-1]
    sums = np.where(np.linalg.norm(sums, axis=1, keepdims=True) > 0.1, sums, first)
    along = (end - start) / np.linalg.norm(end - start, axis=1, keepdims=True)
    sums -= np.einsum("ei,ei->e", sums, along)[:, None] * along
    return sums / np.linalg.norm(sums, axis=1, keepdims=True)


def _heights(points: Floats, of: Floats) -> Floats:
    edges = points[:, 1:] - points[:, :1]
    return np.einsum("ki,ki->k", np.cross(edges[:, 0], edges[:, 1]), of - points[:, 0])
