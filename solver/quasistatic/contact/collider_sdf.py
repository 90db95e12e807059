# SPDX-License-Identifier: GPL-3.0-or-later
"""Depths of points in colliders: signed distance φ, its gradient and the definite part of its second derivative.

The second derivative of ½ k φ² is k (∇φ∇φᵀ + φ ∂²φ). Inside a mesh, ∂²φ is zero if the closest place lies in a face; at
an edge φ ∂²φ is the projection on the direction perpendicular to the edge and to ∇φ, at a corner on all directions
perpendicular to ∇φ: both are definite. In the thickness around a mesh they are negative, and left out.

Source: S07, section 3.10.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...contact.colliders.collider_narrow_phase import MIN_FACING_COSINE, triangle_normal
from ...contact.colliders.rigid_colliders import BuiltCollider
from ...mesh.geometry.closest_point import box_distance2, closest_point
from ...mesh.geometry.triangle_bvh import STACK_SIZE
from ...mesh.geometry.winding_number import winding_number
from ...runtime.arrays import Bools, Floats
from ...runtime.jit import kernel
from ...runtime.threads.thread_pool import run_in_chunks

SURFACE_TOLERANCE = 1.0e-9  # distance in collider sizes below which the direction out is that of the triangle
CLEARANCE_ROUNDING = 1.0e-9  # of the size of a collider: by so much points are taken to be nearer
POINTS_PER_TASK = 256


@dataclass(frozen=True, eq=False)
class ColliderClearance:
    """By how much points may move before they may be in a collider, which stays where it is; written by every search.

    Attributes:
        origin: Where each point was when its distance was computed last [m], (k, 3).
        distance: By how much it may move from there, less than nothing where that is unknown [m], (k,).
    """

    origin: Floats
    distance: Floats

    @staticmethod
    def unknown(count: int, ignoring: Bools | None = None) -> ColliderClearance:
        """Returns that of points that have not been searched; those that ignore the collider, (k,), are never in it."""
        distance = np.full(count, -1.0)
        if ignoring is not None:
            distance[ignoring] = np.inf
        return ColliderClearance(np.zeros((count, 3)), distance)


class PenetratingPoints(NamedTuple):
    """Points in a collider: their numbers, (c,), and their φ, −∇φ and the definite part of ∂²(½ φ²)."""

    point: npt.NDArray[np.int64]
    depth: Floats
    normal: Floats
    curvature: Floats


class SearchedPoints(NamedTuple):
    """Points that may be in a collider, in space, k of them.

    Attributes:
        positions: [m], (k, 3).
        side: 1 or −1, the side of an open sheet that a point belongs to, (k,).
        reach: Depth behind an open sheet up to which it pushes [m], (k,).
        extra_thickness: Distance beyond the collider's thickness that points keep [m], (k,).
    """

    positions: Floats
    side: np.ndarray
    reach: Floats
    extra_thickness: Floats


def find_penetrating_points(
    collider: BuiltCollider,
    pose: Floats,
    points: SearchedPoints,
    clearance: ColliderClearance,
    is_asked: Bools | None = None,
) -> PenetratingPoints:
    """Returns the points that are in a collider.

    Args:
        collider, pose: The collider, and its pose as rows R | t, (4, 3).
        points: The points.
        clearance: By how much they may move; written.
        is_asked: Which points are looked at, (k,); None: all.
    """
    which = np.empty(len(points.positions), np.int64)
    which = which[: select_unclear(points.positions, clearance.origin, clearance.distance, which)]
    if is_asked is not None:
        which = which[is_asked[which]]
    R, t, count = pose[:3], pose[3], len(which)
    depth, normal, curvature = np.zeros(count), np.zeros((count, 3)), np.zeros((count, 3, 3))
    if collider.bvh is None:
        height = (points.positions[which] - t) @ R @ collider.normal
        depth[:] = np.maximum(collider.thickness + points.extra_thickness[which] - height, 0.0)
        normal[:], curvature[:] = collider.normal, np.outer(collider.normal, collider.normal)
    else:
        given = collider.bvh.arrays, collider.is_closed, float(collider.thickness), np.ascontiguousarray(pose)

        def work(part: slice) -> None:
            found = depth[part], normal[part], curvature[part]
            fill_penetration_depths(*given, which[part], points, clearance.origin, clearance.distance, *found)

        run_in_chunks(count, work, POINTS_PER_TASK)
    inside = np.flatnonzero(depth > 0.0)
    return PenetratingPoints(which[inside], depth[inside], normal[inside] @ R.T, R @ curvature[inside] @ R.T)


def penetration_depths(collider: BuiltCollider, pose: Floats, points: SearchedPoints) -> Floats:
    """Returns the depths of points in a collider, 0 outside [m], (k,); see `find_penetrating_points`."""
    count = len(points.positions)
    found, depth = find_penetrating_points(collider, pose, points, ColliderClearance.unknown(count)), np.zeros(count)
    depth[found.point] = found.depth
    return depth


def sheet_sides(collider: BuiltCollider, pose: Floats, points: Floats) -> np.ndarray:
    """Returns the side of an open sheet, 1 or −1, on which points [m], (k, 3), are, (k,); 1 for other colliders."""
    sides = np.ones(len(points), np.int8)
    if collider.is_sheet and collider.bvh is not None:
        fill_sheet_sides(collider.bvh.arrays, (points - pose[3]) @ pose[:3], sides)
    return sides


@kernel()
def fill_sheet_sides(mesh, points, side):
    """Writes the side of the closest triangle of a mesh, `BvhArrays`, on which each point is."""
    boxes, tree, corners, _ = mesh
    stack, n = np.empty(STACK_SIZE, np.int64), np.empty(3)
    for k in range(len(points)):
        _, t, _, _, _ = closest_point(boxes, tree, corners, points[k, 0], points[k, 1], points[k, 2], np.inf, stack)
        triangle_normal(corners, t, n)
        height = 0.0
        for i in range(3):
            height += n[i] * (points[k, i] - corners[t, i])
        side[k] = 1 if height >= 0.0 else -1


@kernel()
def select_unclear(points, origin, distance, which):
    """Writes the numbers of points that have moved so far from their origins that they may touch; returns how many."""
    count = 0
    for k in range(len(points)):
        moved = 0.0
        for i in range(3):
            moved += (points[k, i] - origin[k, i]) ** 2
        which[count] = k
        count += 0 if distance[k] > 0.0 and moved < distance[k] * distance[k] else 1
    return count


@kernel()
def fill_penetration_depths(
    mesh, is_closed, own_thickness, pose, which, searched, origin, distance, depth, normal, curvature
):  # fmt: skip
    """Writes depths, directions out and definite curvatures of points in or near the box of a mesh, `BvhArrays`.

    Args:
        mesh, is_closed: The collider.
        own_thickness, pose: Its thickness [m] and pose, as rows R | t, (4, 3).
        which: Numbers of points, (w,).
        searched: All `SearchedPoints`.
        origin, distance: Of all points, out: `ColliderClearance`.
        depth, normal, curvature: Of these points, zeros at first, out, (w,), (w, 3), (w, 3, 3).
    """
    boxes, tree, corners, moments = mesh
    stack, n, r, p = np.empty(STACK_SIZE, np.int64), np.empty(3), np.empty(3), np.empty(3)
    size = 0.0
    for i in range(3):
        size = max(size, boxes[0, 3 + i] - boxes[0, i])
    for k in range(len(which)):
        point = which[k]
        for i in range(3):
            origin[point, i], p[i] = searched.positions[point, i], 0.0
        for i in range(3):
            along = searched.positions[point, i] - pose[3, i]
            for j in range(3):
                p[j] += along * pose[i, j]
        x, y, z = p[0], p[1], p[2]
        thickness = own_thickness + searched.extra_thickness[point]
        limit = thickness if is_closed else thickness + searched.reach[point]
        apart = math.sqrt(box_distance2(boxes, 0, x, y, z))
        distance[point] = clear_distance(apart, limit, size)
        if apart > limit:
            continue
        most = np.inf if is_closed else limit
        d2, t, u, v, w = closest_point(boxes, tree, corners, x, y, z, most * most, stack)
        if t < 0:
            continue
        triangle_normal(corners, t, n)
        d, height = math.sqrt(d2), 0.0
        for i in range(3):
            r[i] = p[i] - (u * corners[t, i] + v * corners[t, 3 + i] + w * corners[t, 6 + i])
            height += n[i] * r[i]
        is_on = d <= SURFACE_TOLERANCE * size
        if is_closed:
            is_inside = height < 0.0 if is_on else abs(winding_number(tree, corners, moments, x, y, z)) > 0.5
        else:
            if abs(height) < MIN_FACING_COSINE * d:
                continue
            for i in range(3):
                n[i] *= searched.side[point]
            is_inside = height * searched.side[point] < 0.0
        phi = thickness + d if is_inside else thickness - d
        if phi <= 0.0:
            if is_closed:
                distance[point] = clear_distance(d, thickness, size)
            continue
        depth[k] = phi
        sign = -1.0 if is_inside else 1.0
        for i in range(3):
            normal[k, i] = n[i] if is_on else sign * r[i] / d
        add_curvature(corners, t, u, v, w, is_inside and not is_on, normal[k], curvature[k])


@kernel(device_only=True)
def clear_distance(apart, thickness, size):
    """Returns by how much a point may move that is so far from a mesh before its thickness is reached [m]."""
    return apart - thickness - CLEARANCE_ROUNDING * size


@kernel(device_only=True)
def add_curvature(corners, t, u, v, w, is_inside, n, curvature):
    """Writes ∇φ∇φᵀ and, inside, the projection on the directions in which the closest place does not move."""
    zeros = (1 if u == 0.0 else 0) + (1 if v == 0.0 else 0) + (1 if w == 0.0 else 0)
    for i in range(3):
        for j in range(3):
            if is_inside and zeros == 2:
                curvature[i, j] = 1.0 if i == j else 0.0
            elif is_inside and zeros == 1:
                # the closest place moves along the side that it lies on
                a = 0 if w == 0.0 or v == 0.0 else 1
                b = 1 if w == 0.0 else 2
                length2 = 0.0
                for m in range(3):
                    length2 += (corners[t, 3 * b + m] - corners[t, 3 * a + m]) ** 2
                along = (corners[t, 3 * b + i] - corners[t, 3 * a + i]) * (
                    corners[t, 3 * b + j] - corners[t, 3 * a + j]
                )
                curvature[i, j] = (1.0 if i == j else 0.0) - along / max(length2, 1e-300)
            else:
                curvature[i, j] = n[i] * n[j]
