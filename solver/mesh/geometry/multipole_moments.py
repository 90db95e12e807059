# SPDX-License-Identifier: GPL-3.0-or-later
"""What a cluster of triangles looks like from far away: a dipole and its first moment.

With n_t the area vector and c_t the centroid of triangle t, a cluster has
    N = Σ n_t,   p = Σ |n_t| c_t / Σ |n_t|,   M = Σ n_t ⊗ (c_t − p)  (its symmetric part is enough),
and a row of `moments` is p (3), (β r)² with r the cluster's greatest distance from p, N (3), M (6: xx, yy, zz,
xy + yx, xz + zx, yz + zy).
"""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Floats, Indices

# A cluster seen from more than this many radii away is replaced by its expansion (β of Barill et al.).
FAR_FIELD_RADII = 2.0


def boxes_and_moments(tree: Indices, corners: Floats) -> tuple[Floats, Floats]:
    """Returns the boxes, (k, 6), and the moments, (k, 13), of all nodes: leaves from triangles, others from children.

    Args:
        tree: See `Bvh`, (k, 4).
        corners: Triangles in the order of the leaves [m], (t, 9).

    Source: Barill, Dickson, Schmidt, Levin and Jacobson (2018), Fast Winding Numbers for Soups and Clouds,
        section 3; the centroid of a triangle stands for its integral.
    """
    boxes, moments = np.empty((len(tree), 6)), np.zeros((len(tree), 13))
    points = corners.reshape(-1, 3, 3)
    normals = 0.5 * np.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0])
    centroids = points.mean(axis=1)
    areas = np.linalg.norm(normals, axis=1)
    levels = _levels(tree)
    leaves = np.flatnonzero(tree[:, 0] < 0)  # in the order of their triangles
    firsts, leaf = tree[leaves, 1], np.repeat(leaves, tree[leaves, 2])
    boxes[leaves, :3] = np.minimum.reduceat(points.min(axis=1), firsts)
    boxes[leaves, 3:] = np.maximum.reduceat(points.max(axis=1), firsts)
    area, centre = np.zeros(len(tree)), moments[:, :3]
    area[leaves] = np.add.reduceat(areas, firsts)
    centre[leaves] = np.add.reduceat(areas[:, None] * centroids, firsts)
    for nodes, first, second in levels:
        boxes[nodes, :3] = np.minimum(boxes[first, :3], boxes[second, :3])
        boxes[nodes, 3:] = np.maximum(boxes[first, 3:], boxes[second, 3:])
        area[nodes] = area[first] + area[second]
        centre[nodes] = centre[first] + centre[second]
    middle = 0.5 * (boxes[:, :3] + boxes[:, 3:])
    has_area = (area > 0.0)[:, None]
    centre[:] = np.where(has_area, centre / np.where(has_area, area[:, None], 1.0), middle)
    reach = np.maximum(centre - boxes[:, :3], boxes[:, 3:] - centre)
    moments[:, 3] = FAR_FIELD_RADII**2 * (reach * reach).sum(axis=1)
    moments[leaves, 4:7] = np.add.reduceat(normals, firsts)
    moments[leaves, 7:] = np.add.reduceat(_first_moment(normals, centroids - centre[leaf]), firsts)
    for nodes, first, second in levels:
        moments[nodes, 4:] = moments[first, 4:] + moments[second, 4:]
        for child in (first, second):
            moments[nodes, 7:] += _first_moment(moments[child, 4:7], centre[child] - centre[nodes])
    return boxes, moments


def _levels(tree: Indices) -> list[tuple[Indices, Indices, Indices]]:
    """Returns the nodes with children, and those children, level by level from the leaves to the root."""
    levels = []
    nodes = np.flatnonzero(tree[:1, 0] >= 0)
    while len(nodes):
        first, second = nodes + 1, tree[nodes, 0]
        levels.append((nodes, first, second))
        below = np.concatenate([first, second])
        nodes = below[tree[below, 0] >= 0]
    return levels[::-1]


def _first_moment(n: Floats, x: Floats) -> Floats:
    """Returns n ⊗ x + x ⊗ n without doubling its diagonal: xx, yy, zz, xy, xz, yz, (k, 6)."""
    diagonal = n * x
    others = [n[:, i] * x[:, j] + n[:, j] * x[:, i] for i, j in ((0, 1), (0, 2), (1, 2))]
    return np.concatenate([diagonal, np.stack(others, axis=1)], axis=1)
