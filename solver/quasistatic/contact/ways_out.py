# SPDX-License-Identifier: GPL-3.0-or-later
"""The place on a surface of flesh that a point which has gone through it is pushed back to.

The point lies in a tet. It is carried to the rest shape, where its distance to the surface is looked up, and the place
found there is carried back. In the rest shape a place is known to be the right one however the body is folded; but in
space another place of the surface may be nearer. So from there one walks over the surface as long as that brings
nearer: then the way out is at right angles to the surface, and the force is the gradient of ½ k φ², which a step can
lower.

Only what faces the point's own surface counts, since what has gone through must have come from there: a point that is
more than half way through a limb goes back the way that it came, and a surface never pushes its own folds apart. A
place that lies on the wrong side of its own triangle would pull the point in, and does not count.

Source: S07, section 3.10; the walk and the facing are ours.
"""

from __future__ import annotations

import numpy as np

from ...arrays import Floats
from ...geometry.bvh import STACK_SIZE
from ...geometry.chunks import run_in_chunks
from ...geometry.closest import box_distance2
from ...geometry.closest_on_triangle import closest_on_triangle
from ...geometry.winding import winding_number
from ...jit import kernel
from ...model import Model
from .places import Meetings, Places
from .skin import Skin

INSIDE = 0.5  # winding number from which a place is inside
STEPS = 32  # of a walk over the surface at most
TOUCHING = 1.0e-9  # depth over the size of the triangle below which the way out is along its normal
PART = 64


def ways_out(
    skin: Skin, model: Model, vertices: Floats, points: Floats, facing: Floats, faces: Floats, found: Places
) -> Meetings:
    """Returns where points that lie in tets are pushed to; those that are not inside are left out.

    Args:
        skin: Of the bodies of `model`.
        model: The bodies.
        vertices: Of the skin, now [m], (v, 3).
        points, facing: The points [m], (p, 3), and where their own surface faces, (p, 3).
        faces: Normals of the triangles now, (t, 3).
        found: In which tets they lie.
    """
    count = len(found.point)
    material = np.einsum("ca,cai->ci", found.weights, model.X[model.tets[found.tet]])
    triangle, weights = np.full(count, -1, np.int32), np.zeros((count, 3))
    normal, depth = np.zeros((count, 3)), np.zeros(count)
    island = skin.island[found.tet]
    for number in np.unique(island):
        shell = skin.shells[number]
        which = np.flatnonzero(island == number)
        if shell is None:
            continue

        def work(part: slice, which: np.ndarray = which, shell=shell) -> None:  # type: ignore[no-untyped-def]
            find_ways_out(
                which[part], found.point, points, facing, material, *shell.arrays, shell.order, vertices,
                skin.triangles, skin.ring_start, skin.ring, faces, triangle, weights, normal, depth,
            )  # fmt: skip

        run_in_chunks(len(which), work, PART)
    kept = np.flatnonzero(triangle >= 0)
    # tets side by side hold a point on the face between them both: the same place twice
    at = np.lexsort((triangle[kept], found.point[kept]))
    point, to = found.point[kept][at], triangle[kept][at]
    is_first = np.ones(len(at), np.bool_)
    is_first[1:] = (point[1:] != point[:-1]) | (to[1:] != to[:-1])
    kept = kept[at[is_first]]
    return Meetings(found.point[kept], triangle[kept], weights[kept], normal[kept], depth[kept])


@kernel()
def find_ways_out(
    which, point, points, facing, material, boxes, tree, corners, moments, order, vertices, triangles, ring_start,
    ring, faces, triangle, weights, normal, depth,
):  # fmt: skip
    """Writes triangle, weights, normal and depth of the way out of each place in `which`; −1 where there is none."""
    stack = np.empty(STACK_SIZE, np.int64)
    corner = np.empty((1, 9))
    for k in range(len(which)):
        c = which[k]
        p = point[c]
        X, Y, Z = material[c, 0], material[c, 1], material[c, 2]
        if not winding_number(tree, corners, moments, X, Y, Z) > INSIDE:
            continue
        n = facing[p]
        t, d2, u, v, w = closest_facing(boxes, tree, corners, order, faces, n[0], n[1], n[2], X, Y, Z, stack)
        if t < 0:
            continue
        x, y, z = points[p, 0], points[p, 1], points[p, 2]
        t, d2, u, v, w = walk(t, x, y, z, n, vertices, triangles, ring_start, ring, faces, corner)
        put_corners(vertices, triangles, t, corner)
        r0 = u * corner[0, 0] + v * corner[0, 3] + w * corner[0, 6] - x
        r1 = u * corner[0, 1] + v * corner[0, 4] + w * corner[0, 7] - y
        r2 = u * corner[0, 2] + v * corner[0, 5] + w * corner[0, 8] - z
        out = r0 * faces[t, 0] + r1 * faces[t, 1] + r2 * faces[t, 2]
        if not out > 0.0:
            continue
        d = np.sqrt(d2)
        edge2 = (
            (corner[0, 3] - corner[0, 0]) ** 2 + (corner[0, 4] - corner[0, 1]) ** 2 + (corner[0, 5] - corner[0, 2]) ** 2
        )
        triangle[c], depth[c] = t, d
        weights[c, 0], weights[c, 1], weights[c, 2] = u, v, w
        if d2 > TOUCHING * TOUCHING * edge2:
            normal[c, 0], normal[c, 1], normal[c, 2] = r0 / d, r1 / d, r2 / d
        else:
            normal[c, 0], normal[c, 1], normal[c, 2] = faces[t, 0], faces[t, 1], faces[t, 2]


@kernel()
def closest_facing(boxes, tree, corners, order, faces, n0, n1, n2, x, y, z, stack):
    """Returns the triangle of the surface closest to a place at rest of those that face against n, −1 if there is none.

    With it, the squared distance [m²] and the weights of the closest point.
    """
    best, found, bu, bv, bw = np.inf, -1, 0.0, 0.0, 0.0
    stack[0] = 0
    top = 1
    while top > 0:
        top -= 1
        node = stack[top]
        if box_distance2(boxes, node, x, y, z) >= best:
            continue
        second = np.int64(tree[node, 0])
        if second < 0:
            for s in range(tree[node, 1], tree[node, 1] + tree[node, 2]):
                t = order[s]
                if not faces[t, 0] * n0 + faces[t, 1] * n1 + faces[t, 2] * n2 < 0.0:
                    continue
                d2, u, v, w = closest_on_triangle(corners, s, x, y, z)
                if d2 < best:
                    best, found, bu, bv, bw = d2, np.int64(t), u, v, w
            continue
        near, far = node + 1, second
        if box_distance2(boxes, far, x, y, z) < box_distance2(boxes, near, x, y, z):
            near, far = far, near
        stack[top], stack[top + 1] = far, near
        top += 2
    return found, best, bu, bv, bw


@kernel()
def walk(t, x, y, z, n, vertices, triangles, ring_start, ring, faces, corner):
    """Returns the triangle at which a walk from t to ever nearer triangles ends, its squared distance and weights."""
    put_corners(vertices, triangles, t, corner)
    best, bu, bv, bw = closest_on_triangle(corner, 0, x, y, z)
    for _step in range(STEPS):
        here = t
        for k in range(3):
            vertex = triangles[here, k]
            for at in range(ring_start[vertex], ring_start[vertex + 1]):
                s = ring[at]
                if s == here or not faces[s, 0] * n[0] + faces[s, 1] * n[1] + faces[s, 2] * n[2] < 0.0:
                    continue
                put_corners(vertices, triangles, s, corner)
                d2, u, v, w = closest_on_triangle(corner, 0, x, y, z)
                if d2 < best:
                    best, t, bu, bv, bw = d2, np.int64(s), u, v, w
        if t == here:
            break
    return t, best, bu, bv, bw


@kernel()
def put_corners(vertices, triangles, t, corner):
    """Writes the corners of triangle t [m], (1, 9)."""
    for k in range(3):
        for axis in range(3):
            corner[0, 3 * k + axis] = vertices[triangles[t, k], axis]
