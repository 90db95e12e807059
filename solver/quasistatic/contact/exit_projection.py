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

from dataclasses import dataclass

import numpy as np

from ...mechanics.model import Model
from ...mesh.geometry.closest_on_triangle import closest_on_triangle
from ...mesh.geometry.closest_point import box_distance2
from ...mesh.geometry.triangle_bvh import STACK_SIZE, Bvh
from ...mesh.geometry.winding_number import winding_number
from ...runtime.arrays import Floats, Indices
from ...runtime.jit import kernel
from ...runtime.threads.thread_pool import run_in_chunks
from .contact_candidates import EnclosedPoints, SurfacePenetrations
from .flesh_surface import FleshSurface

INSIDE_WINDING_NUMBER = 0.5  # winding number from which a place is inside
MAX_OPPOSING_COSINE = -0.1  # cosine between two normals from which they face each other
MAX_WALK_STEPS = 32  # of a walk over the surface at most
MIN_DIRECTION_DEPTH = 1.0e-9  # depth over the size of the triangle below which the way out is along its normal
MAX_NEW_DEPTH_RATIO = 0.8  # depth over that of the place before below which a new place is taken instead
MAX_LOST_DEPTH = 0.25  # depth in tet sizes above which a contact that is not found again is over
POINTS_PER_TASK = 64


@dataclass(frozen=True, eq=False)
class SurfaceSnapshot:
    """The skin at one look.

    Attributes:
        vertices: [m], (v, 3).
        faces, at_vertices: Normals of triangles, of length one or zero, (t, 3), and of vertices, of any length, (v, 3).
        points: All points [m], (p, 3).
        facing: Where their own surface faces, of length one, (p, 3).
    """

    vertices: Floats
    face_normals: Floats
    vertex_normals: Floats
    points: Floats
    point_normals: Floats


def project_to_surface(
    skin: FleshSurface, model: Model, now: SurfaceSnapshot, found: EnclosedPoints
) -> SurfacePenetrations:
    """Returns where points that lie in tets are pushed to; those that are not inside are left out.

    Of several places on one part of a body that a point could be pushed to, it is the nearest.
    """
    count = len(found.point)
    material = np.einsum("ca,cai->ci", found.weights, model.X[model.tets[found.tet]])
    first = np.full(count, -1, np.int32)
    island = skin.island[found.tet]
    for number in np.unique(island):
        shell = skin.shells[number]
        if shell is None:
            continue
        which = np.flatnonzero(island == number)

        def work(part: slice, which: np.ndarray = which, shell: Bvh = shell) -> None:
            find_nearest_facing(
                which[part],
                found.point,
                now.point_normals,
                material,
                *shell.arrays,
                shell.order,
                now.face_normals,
                first,
            )

        run_in_chunks(len(which), work, POINTS_PER_TASK)
    kept = np.flatnonzero(first >= 0)
    met = project_by_walk(skin, now, found.point[kept], first[kept])
    return _nearest_of_each(skin, met)


def project_by_walk(skin: FleshSurface, now: SurfaceSnapshot, point: np.ndarray, first: Indices) -> SurfacePenetrations:
    """Returns where walks over the surface from triangles `first`, (c,), end that points, (c,), take to get out."""
    count = len(point)
    triangle, weights = np.empty(count, np.int32), np.zeros((count, 3))
    normal, depth = np.zeros((count, 3)), np.zeros(count)

    def work(part: slice) -> None:
        walk_to_exit(
            point[part],
            first[part],
            now.points,
            now.point_normals,
            now.vertices,
            skin.triangles,
            skin.ring_start,
            skin.ring,
            now.face_normals,
            now.vertex_normals,
            triangle[part],
            weights[part],
            normal[part],
            depth[part],
        )

    run_in_chunks(count, work, POINTS_PER_TASK)
    return SurfacePenetrations(point, triangle, weights, normal, depth).select(triangle >= 0)


def keep_previous(
    skin: FleshSurface, now: SurfaceSnapshot, fresh: SurfacePenetrations, known: SurfacePenetrations, tet_size: Floats
) -> SurfacePenetrations:
    """Returns the contacts of a look, with those of the look before where they go on.

    What decides whether a contact is found may change from look to look, and so may the place that is nearest.
    A contact that was there goes on until its point is out, or a place clearly nearer is found.

    Args:
        skin, now, fresh, known: The surfaces, and the contacts of this look and of the one before.
        tet_size: Of the body of each point [m], (p,).
    """
    if not len(known.point):
        return fresh
    again = project_by_walk(skin, now, known.point, known.triangle)
    fresh_depth = dict(zip(_keys(skin, fresh).tolist(), fresh.depth.tolist(), strict=True))
    goes_on, replaced = np.zeros(len(again.point), np.bool_), set()
    for i, key in enumerate(_keys(skin, again).tolist()):
        new = fresh_depth.get(key)
        if new is None:
            goes_on[i] = again.depth[i] <= MAX_LOST_DEPTH * tet_size[again.point[i]]
        elif new >= MAX_NEW_DEPTH_RATIO * again.depth[i]:
            goes_on[i] = True
            replaced.add(key)
    stays = np.array([key not in replaced for key in _keys(skin, fresh).tolist()], np.bool_)
    return SurfacePenetrations.merge(fresh.select(stays), again.select(goes_on))


def _nearest_of_each(skin: FleshSurface, met: SurfacePenetrations) -> SurfacePenetrations:
    """Returns the nearest place of every point on every part of a body, in the order of the points."""
    keys = _keys(skin, met)
    order = np.lexsort((met.depth, keys))
    is_first = np.ones(len(order), np.bool_)
    is_first[1:] = keys[order][1:] != keys[order][:-1]
    return met.select(order[is_first])


def _keys(skin: FleshSurface, met: SurfacePenetrations) -> np.ndarray:
    """Returns one number for the point of a contact and the part that it meets, (c,)."""
    return met.point * len(skin.shells) + skin.island[skin.tet[skin.triangles[met.triangle, 0]]]


@kernel()
def find_nearest_facing(which, point, facing, material, boxes, tree, corners, moments, order, faces, first):
    """Writes the triangle nearest to each place in `which` that is inside at rest; −1 stays where there is none."""
    stack = np.empty(STACK_SIZE, np.int64)
    for k in range(len(which)):
        c = which[k]
        x, y, z = material[c, 0], material[c, 1], material[c, 2]
        if winding_number(tree, corners, moments, x, y, z) > INSIDE_WINDING_NUMBER:
            first[c] = closest_facing(boxes, tree, corners, order, faces, facing[point[c]], x, y, z, stack)


@kernel()
def walk_to_exit(
    point, first, points, facing, vertices, triangles, ring_start, ring, faces, at_vertices, triangle, weights,
    normal, depth,
):  # fmt: skip
    """Writes triangle, weights, normal and depth at which the walk of each point ends; −1 where that is no way out."""
    corner = np.empty((1, 9))
    for c in range(len(point)):
        p = point[c]
        x, y, z, n = points[p, 0], points[p, 1], points[p, 2], facing[p]
        t, d2, u, v, w = walk_to_closest(
            np.int64(first[c]), x, y, z, n, vertices, triangles, ring_start, ring, faces, corner
        )
        write_corners(vertices, triangles, t, corner)
        triangle[c], depth[c] = -1, np.sqrt(d2)
        weights[c, 0], weights[c, 1], weights[c, 2] = u, v, w
        out, out_there, edge2 = 0.0, 0.0, 0.0
        for i in range(3):
            r = u * corner[0, i] + v * corner[0, 3 + i] + w * corner[0, 6 + i] - points[p, i]
            normal[c, i] = r
            out += r * faces[t, i]
            out_there += r * (
                u * at_vertices[triangles[t, 0], i]
                + v * at_vertices[triangles[t, 1], i]
                + w * at_vertices[triangles[t, 2], i]
            )
            edge2 += (corner[0, 3 + i] - corner[0, i]) ** 2
        if not (out > 0.0 and out_there > 0.0):
            continue
        triangle[c] = t
        is_touching = d2 <= MIN_DIRECTION_DEPTH * MIN_DIRECTION_DEPTH * edge2
        for i in range(3):
            normal[c, i] = faces[t, i] if is_touching else normal[c, i] / depth[c]


@kernel(device_only=True)
def closest_facing(boxes, tree, corners, order, faces, n, x, y, z, stack):
    """Returns the triangle of the surface closest to a place at rest of those that face against n, −1: none does."""
    best, found = np.inf, np.int64(-1)
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
                if faces[t, 0] * n[0] + faces[t, 1] * n[1] + faces[t, 2] * n[2] < MAX_OPPOSING_COSINE:
                    d2, _, _, _ = closest_on_triangle(corners, s, x, y, z)
                    if d2 < best:
                        best, found = d2, np.int64(t)
            continue
        near, far = node + 1, second
        if box_distance2(boxes, far, x, y, z) < box_distance2(boxes, near, x, y, z):
            near, far = far, near
        stack[top], stack[top + 1] = far, near
        top += 2
    return found


@kernel()
def walk_to_closest(t, x, y, z, n, vertices, triangles, ring_start, ring, faces, corner):
    """Returns the triangle at which a walk from t to ever nearer triangles ends, its squared distance and weights."""
    write_corners(vertices, triangles, t, corner)
    best, bu, bv, bw = closest_on_triangle(corner, 0, x, y, z)
    for _step in range(MAX_WALK_STEPS):
        here = t
        for k in range(3):
            vertex = triangles[here, k]
            for at in range(ring_start[vertex], ring_start[vertex + 1]):
                s = np.int64(ring[at])
                if s == here or not faces[s, 0] * n[0] + faces[s, 1] * n[1] + faces[s, 2] * n[2] < MAX_OPPOSING_COSINE:
                    continue
                write_corners(vertices, triangles, s, corner)
                d2, u, v, w = closest_on_triangle(corner, 0, x, y, z)
                if d2 < best:
                    best, t, bu, bv, bw = d2, s, u, v, w
        if t == here:
            break
    return t, best, bu, bv, bw


@kernel(device_only=True)
def write_corners(vertices, triangles, t, corner):
    """Writes the corners of triangle t [m], (1, 9)."""
    for k in range(3):
        for axis in range(3):
            corner[0, 3 * k + axis] = vertices[triangles[t, k], axis]
