# SPDX-License-Identifier: GPL-3.0-or-later
"""What a cluster of triangles looks like from far away: a dipole and its first moment.

With n_t the area vector and c_t the centroid of triangle t, a cluster has
    N = Σ n_t,   p = Σ |n_t| c_t / Σ |n_t|,   M = Σ n_t ⊗ (c_t − p)  (its symmetric part is enough),
and a row of `moments` is p (3), (β r)² with r the cluster's greatest distance from p, N (3), M (6: xx, yy, zz,
xy + yx, xz + zx, yz + zy).
"""

from __future__ import annotations

import numpy as np

from ..jit import kernel

# A cluster seen from more than this many radii away is replaced by its expansion (β of Barill et al.).
ACCURACY = 2.0


@kernel()
def fill_moments(tree, corners, boxes, moments):
    """Fills the moments of each node, leaves from their triangles, the others from their children.

    Args:
        tree: See `Bvh`, (k, 4).
        corners: Triangles in the order of the leaves [m], (t, 9).
        boxes: Boxes of the nodes [m], (k, 6).
        moments: See above, (k, 13); filled.

    Source: Barill, Dickson, Schmidt, Levin and Jacobson (2018), Fast Winding Numbers for Soups and Clouds,
        section 3; the centroid of a triangle stands for its integral.
    """
    areas = np.empty(tree.shape[0])
    for node in range(tree.shape[0] - 1, -1, -1):
        m = moments[node]
        m[:] = 0.0
        second = tree[node, 0]
        area = 0.0
        if second < 0:
            first = tree[node, 1]
            end = first + tree[node, 2]
            for t in range(first, end):
                n, c, size = area_vector(corners, t)
                area += size
                for i in range(3):
                    m[i] += size * c[i]
            set_centre(boxes, node, area, m)
            for t in range(first, end):
                n, c, size = area_vector(corners, t)
                add_moment(n[0], n[1], n[2], c[0], c[1], c[2], m)
        else:
            area = areas[node + 1] + areas[second]
            for child in range(2):
                below = node + 1 if child == 0 else second
                for i in range(3):
                    m[i] += areas[below] * moments[below, i]
            set_centre(boxes, node, area, m)
            for child in range(2):
                k = moments[node + 1 if child == 0 else second]
                add_moment(k[4], k[5], k[6], k[0], k[1], k[2], m)
                for i in range(7, 13):
                    m[i] += k[i]
        areas[node] = area


@kernel()
def area_vector(corners, t):
    """Returns the area vector of triangle t [m²], its centroid [m] and its area [m²]."""
    ux = corners[t, 3] - corners[t, 0]
    uy = corners[t, 4] - corners[t, 1]
    uz = corners[t, 5] - corners[t, 2]
    vx = corners[t, 6] - corners[t, 0]
    vy = corners[t, 7] - corners[t, 1]
    vz = corners[t, 8] - corners[t, 2]
    n = (0.5 * (uy * vz - uz * vy), 0.5 * (uz * vx - ux * vz), 0.5 * (ux * vy - uy * vx))
    c = (corners[t, 0] + (ux + vx) / 3.0, corners[t, 1] + (uy + vy) / 3.0, corners[t, 2] + (uz + vz) / 3.0)
    return n, c, np.sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2])


@kernel()
def set_centre(boxes, node, area, m):
    """Turns Σ |n| c in `m` into the centre p, and sets (β r)² from the farthest corner of the node's box."""
    radius = 0.0
    for i in range(3):
        if area > 0.0:
            m[i] /= area
        else:
            m[i] = 0.5 * (boxes[node, i] + boxes[node, 3 + i])
        reach = max(m[i] - boxes[node, i], boxes[node, 3 + i] - m[i])
        radius += reach * reach
    m[3] = ACCURACY * ACCURACY * radius


@kernel()
def add_moment(nx, ny, nz, cx, cy, cz, m):
    """Adds an area vector at c to N, and its first moment about the centre to M."""
    x = cx - m[0]
    y = cy - m[1]
    z = cz - m[2]
    m[4] += nx
    m[5] += ny
    m[6] += nz
    m[7] += nx * x
    m[8] += ny * y
    m[9] += nz * z
    m[10] += nx * y + ny * x
    m[11] += nx * z + nz * x
    m[12] += ny * z + nz * y
