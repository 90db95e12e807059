# SPDX-License-Identifier: GPL-3.0-or-later
"""Projects points inside flesh to the place on its surface to which a contact pushes them.

A point inside a tet is mapped to the rest shape, where the closest place on the surface is searched, and this place is
mapped back. In the rest shape the place is the right one however the body is folded; in space another place may be
closer. So a walk over the surface follows, as long as it comes closer: then the direction out is perpendicular to the
surface, and the force is the gradient of ½ k φ², which a step can lower.

Only triangles that face the point's own surface count, since a point must have come from there: a point more than half
way through a limb goes back where it came from, and a surface never pushes its own folds apart. A place on the wrong
side of its own triangle would pull the point in, and does not count.

Source: S07, section 3.10; the walk and the facing are own additions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...mechanics.model import Model
from ...mesh.geometry.closest_on_triangle import closest_on_triangle
from ...mesh.geometry.closest_point import box_distance2
from ...mesh.geometry.triangle_bvh import STACK_SIZE, Bvh
from ...mesh.geometry.winding_propagation import propagate_winding_numbers, winding_numbers_in_tets
from ...runtime.arrays import Floats, Indices
from ...runtime.frozen_memo import derived_from
from ...runtime.jit import kernel
from ...runtime.threads.thread_pool import run_in_chunks
from .enclosing_tets import EnclosedPoints
from .flesh_surface import FleshSurface

INSIDE_WINDING_NUMBER = 0.5  # winding number above which a place is inside
MAX_OPPOSING_COSINE = -0.1  # cosine between two normals below which their surfaces face each other
MAX_WALK_STEPS = 32  # steps of a walk over the surface
MIN_DIRECTION_DEPTH = 1.0e-9  # depth over the size of the triangle below which the direction out is its normal
MAX_NEW_DEPTH_RATIO = 0.8  # depth over that of the previous place below which a new place replaces it
MAX_LOST_DEPTH = 0.25  # depth in tet sizes above which a contact ends that is not found again
POINTS_PER_TASK = 64


@dataclass(frozen=True, eq=False)
class SurfacePenetrations:
    """Points that have penetrated a surface, c of them.

    Attributes:
        point: Number of the point, (c,).
        triangle, place: The place on the surface that it is pushed to: triangle, and barycentric weights in it, (c,)
            and (c, 3).
        normal: Unit vector from the point to that place, (c, 3).
        depth: Distance to that place [m], (c,).
    """

    point: npt.NDArray[np.int64]
    triangle: Indices
    place: Floats
    normal: Floats
    depth: Floats

    def select(self, which: np.ndarray) -> SurfacePenetrations:
        """Returns some of them, by mask or index."""
        return SurfacePenetrations(*(values[which] for values in vars(self).values()))

    @staticmethod
    def empty() -> SurfacePenetrations:
        """Returns no contacts."""
        return SurfacePenetrations(
            np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0)
        )

    @staticmethod
    def merge(first: SurfacePenetrations, second: SurfacePenetrations) -> SurfacePenetrations:
        """Returns the contacts of both, in the order of their points."""
        order = np.argsort(np.concatenate([first.point, second.point]), kind="stable")
        both = zip(vars(first).values(), vars(second).values(), strict=True)
        return SurfacePenetrations(*(np.concatenate(pair)[order] for pair in both))


class SurfaceSnapshot(NamedTuple):
    """The surface for one set of node positions.

    Attributes:
        vertices: [m], (v, 3).
        face_normals, vertex_normals: Of triangles, unit length or zero, (t, 3), and of vertices, any length, (v, 3).
        points: All points [m], (p, 3).
        point_normals: Unit normals of the surface at the points that may have penetrated it, (p, 3).
    """

    vertices: Floats
    face_normals: Floats
    vertex_normals: Floats
    points: Floats
    point_normals: Floats


def project_to_surface(
    surface: FleshSurface, model: Model, now: SurfaceSnapshot, found: EnclosedPoints
) -> SurfacePenetrations:
    """Returns the places that points inside tets are pushed to; points outside the surface are left out.

    Of several places on one part of a body, a point gets the nearest.
    """
    count = len(found.point)
    material = np.einsum("ca,cai->ci", found.weights, model.X[model.tets[found.tet]])
    first = np.full(count, -1, np.int32)
    island = surface.island[found.tet]
    start, winding = derived_from(
        surface, "winding numbers in tets", lambda: _winding_numbers_at_rest(surface, model), inputs=(model,)
    )
    for number in np.unique(island):
        shell = surface.shells[number]
        if shell is None:
            continue
        which = np.flatnonzero(island == number)
        tet = found.tet[which]
        is_inside = propagate_winding_numbers(shell, start[tet], winding[tet], material[which]) > INSIDE_WINDING_NUMBER
        which = which[is_inside]

        def work(part: slice, which: np.ndarray = which, shell: Bvh = shell) -> None:
            find_nearest_facing(which[part], found.point, now, material, shell.arrays, shell.order, first)

        run_in_chunks(len(which), work, POINTS_PER_TASK)
    kept = np.flatnonzero(first >= 0)
    return _nearest_of_each(surface, project_by_walk(surface, now, found.point[kept], first[kept]))


def _winding_numbers_at_rest(surface: FleshSurface, model: Model) -> tuple[Floats, Floats]:
    """Returns a place in each tet at rest [m], (m, 3), and how often the surface of its part winds around it, (m,)."""
    start, winding = np.zeros((model.tet_count, 3)), np.zeros(model.tet_count)
    for number, shell in enumerate(surface.shells):
        own = np.flatnonzero(surface.island == number)
        if shell is not None:
            start[own], winding[own] = winding_numbers_in_tets(shell, model.X[model.tets[own]])
    return start, winding


def project_by_walk(
    surface: FleshSurface, now: SurfaceSnapshot, point: np.ndarray, first: Indices
) -> SurfacePenetrations:
    """Returns the places where walks from triangles `first`, (c,), towards points, (c,), end.

    Dead ends are left out.
    """
    count = len(point)
    triangle, place = np.empty(count, np.int32), np.zeros((count, 3))
    normal, depth = np.zeros((count, 3)), np.zeros(count)

    def work(part: slice) -> None:
        walk_to_exit(
            point[part],
            first[part],
            now,
            surface.triangles,
            surface.rings,
            triangle[part],
            place[part],
            normal[part],
            depth[part],
        )

    run_in_chunks(count, work, POINTS_PER_TASK)
    return SurfacePenetrations(point, triangle, place, normal, depth).select(triangle >= 0)


def keep_previous(
    surface: FleshSurface,
    now: SurfaceSnapshot,
    fresh: SurfacePenetrations,
    previous: SurfacePenetrations,
    tet_size: Floats,
) -> SurfacePenetrations:
    """Returns the contacts of a search, together with previous ones that persist.

    Whether a search finds a contact may change from one search to the next, and so may the nearest place. A previous
    contact persists until its point is outside, or until a place is found that is clearly nearer.

    Args:
        surface, now, fresh, previous: The surface, and the contacts of this search and of the previous one.
        tet_size: Of the body of each point [m], (p,).
    """
    if not len(previous.point):
        return fresh
    again = project_by_walk(surface, now, previous.point, previous.triangle)
    fresh_depth = dict(zip(_keys(surface, fresh).tolist(), fresh.depth.tolist(), strict=True))
    persists, replaced = np.zeros(len(again.point), np.bool_), set()
    for i, key in enumerate(_keys(surface, again).tolist()):
        new = fresh_depth.get(key)
        if new is None:
            persists[i] = again.depth[i] <= MAX_LOST_DEPTH * tet_size[again.point[i]]
        elif new >= MAX_NEW_DEPTH_RATIO * again.depth[i]:
            persists[i] = True
            replaced.add(key)
    is_kept = np.array([key not in replaced for key in _keys(surface, fresh).tolist()], np.bool_)
    return SurfacePenetrations.merge(fresh.select(is_kept), again.select(persists))


def _nearest_of_each(surface: FleshSurface, contacts: SurfacePenetrations) -> SurfacePenetrations:
    """Returns the nearest place of every point on every part of a body, in the order of the points."""
    keys = _keys(surface, contacts)
    order = np.lexsort((contacts.depth, keys))
    is_first = np.ones(len(order), np.bool_)
    is_first[1:] = keys[order][1:] != keys[order][:-1]
    return contacts.select(order[is_first])


def _keys(surface: FleshSurface, contacts: SurfacePenetrations) -> np.ndarray:
    """Returns one number for the point of a contact and the part that it touches, (c,)."""
    part = surface.island[surface.tet[surface.triangles[contacts.triangle, 0]]]
    return contacts.point * len(surface.shells) + part


@kernel()
def find_nearest_facing(which, point, now, material, mesh, order, first):
    """Writes the triangle closest to each place in `which` at rest; −1 stays where there is none.

    Args:
        which: Rows of the other arrays.
        point: (c,).
        now: `SurfaceSnapshot`.
        material: Positions of the points in the rest shape [m], (c, 3).
        mesh, order: `BvhArrays` of the surface at rest, and its order.
        first: Out, (c,).
    """
    boxes, tree, corners, _ = mesh
    stack = np.empty(STACK_SIZE, np.int64)
    for k in range(len(which)):
        c = which[k]
        n = now.point_normals[point[c]]
        first[c] = closest_facing(
            boxes, tree, corners, order, now.face_normals, n, material[c, 0], material[c, 1], material[c, 2], stack
        )


@kernel()
def walk_to_exit(point, first, now, triangles, rings, triangle, place, normal, depth):
    """Writes the place where the walk of each point ends; triangle −1 if the point cannot leave there.

    Args:
        point, first: Points, and triangles where walks begin, (c,) each.
        now: `SurfaceSnapshot`.
        triangles, rings: See `FleshSurface`.
        triangle, place, normal, depth: Out, see `SurfacePenetrations`.
    """
    points, face_normals, vertex_normals = now.points, now.face_normals, now.vertex_normals
    corner = np.empty((1, 9))
    for c in range(len(point)):
        p = point[c]
        x, y, z, n = points[p, 0], points[p, 1], points[p, 2], now.point_normals[p]
        t, d2, u, v, w = walk_to_closest(
            np.int64(first[c]), x, y, z, n, now.vertices, triangles, rings, face_normals, corner
        )
        write_corners(now.vertices, triangles, t, corner)
        triangle[c], depth[c] = -1, np.sqrt(d2)
        place[c, 0], place[c, 1], place[c, 2] = u, v, w
        out_of_face, out_of_surface, edge2 = 0.0, 0.0, 0.0
        for i in range(3):
            r = u * corner[0, i] + v * corner[0, 3 + i] + w * corner[0, 6 + i] - points[p, i]
            normal[c, i] = r
            out_of_face += r * face_normals[t, i]
            out_of_surface += r * (
                u * vertex_normals[triangles[t, 0], i]
                + v * vertex_normals[triangles[t, 1], i]
                + w * vertex_normals[triangles[t, 2], i]
            )
            edge2 += (corner[0, 3 + i] - corner[0, i]) ** 2
        if not (out_of_face > 0.0 and out_of_surface > 0.0):
            continue
        triangle[c] = t
        is_touching = d2 <= MIN_DIRECTION_DEPTH * MIN_DIRECTION_DEPTH * edge2
        for i in range(3):
            normal[c, i] = face_normals[t, i] if is_touching else normal[c, i] / depth[c]


@kernel(device_only=True)
def closest_facing(boxes, tree, corners, order, face_normals, n, x, y, z, stack):
    """Returns the triangle closest to a place at rest among those that face the normal n, −1 for none."""
    best, closest = np.inf, np.int64(-1)
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
                if (
                    face_normals[t, 0] * n[0] + face_normals[t, 1] * n[1] + face_normals[t, 2] * n[2]
                    < MAX_OPPOSING_COSINE
                ):
                    d2, _, _, _ = closest_on_triangle(corners, s, x, y, z)
                    if d2 < best:
                        best, closest = d2, np.int64(t)
            continue
        near, far = node + 1, second
        if box_distance2(boxes, far, x, y, z) < box_distance2(boxes, near, x, y, z):
            near, far = far, near
        stack[top], stack[top + 1] = far, near
        top += 2
    return closest


@kernel(device_only=True)
def walk_to_closest(t, x, y, z, n, vertices, triangles, rings, face_normals, corner):
    """Returns the triangle at which a walk from t to ever closer triangles ends, its squared distance and weights.

    Only triangles that face the normal n count; see `walk_to_exit`.
    """
    write_corners(vertices, triangles, t, corner)
    best, bu, bv, bw = closest_on_triangle(corner, 0, x, y, z)
    for _step in range(MAX_WALK_STEPS):
        here = t
        for k in range(3):
            vertex = triangles[here, k]
            for at in range(rings.start[vertex], rings.start[vertex + 1]):
                s = np.int64(rings.triangle[at])
                m = face_normals[s]
                if s == here or not m[0] * n[0] + m[1] * n[1] + m[2] * n[2] < MAX_OPPOSING_COSINE:
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
