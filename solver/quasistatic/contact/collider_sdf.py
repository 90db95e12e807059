# SPDX-License-Identifier: GPL-3.0-or-later
"""Depths of points in colliders: signed distance φ, its gradient and the definite part of its second derivative.

The second derivative of ½ k φ² is k (∇φ∇φᵀ + φ ∂²φ). Inside a mesh, ∂²φ is zero if the closest place lies in a face; at
an edge φ ∂²φ is the projection on the direction perpendicular to the edge and to ∇φ, at a corner on all directions
perpendicular to ∇φ: both are definite. In the thickness around a mesh they are negative, and left out.

Source: S07, section 3.10.
"""

from __future__ import annotations

import math

import numpy as np

from ...contact.colliders.collider_narrow_phase import MIN_FACING_COSINE, triangle_normal
from ...contact.colliders.rigid_colliders import BuiltCollider
from ...mesh.geometry.closest_point import closest_point
from ...mesh.geometry.triangle_bvh import STACK_SIZE
from ...mesh.geometry.winding_number import winding_number
from ...runtime.arrays import Floats
from ...runtime.jit import kernel
from ...runtime.threads.thread_pool import run_in_chunks

SURFACE_TOLERANCE = 1.0e-9  # distance in collider sizes below which the direction out is that of the triangle
POINTS_PER_TASK = 256


def penetration_depths(
    collider: BuiltCollider, pose: Floats, points: Floats, side: np.ndarray, reach: Floats, extra_thickness: Floats
) -> tuple[Floats, Floats, Floats]:
    """Returns the depths of points in a collider.

    Args:
        collider, pose: Its pose as rows R | t, (4, 3).
        points: [m], (k, 3).
        side: 1 or −1, the side of an open sheet that a point belongs to, (k,).
        reach: Depth behind an open sheet up to which it pushes [m], (k,).
        extra_thickness: Distance beyond the collider's thickness that points keep [m], (k,).

    Returns:
        φ > 0 inside [m], 0 elsewhere, (k,); −∇φ, the direction out, (k, 3); the definite part of ∂²(½ φ²), (k, 3, 3).
    """
    R, t = pose[:3], pose[3]
    local, thickness = (points - t) @ R, collider.thickness + extra_thickness
    depth, normal, curvature = np.zeros(len(points)), np.zeros((len(points), 3)), np.zeros((len(points), 3, 3))
    if collider.bvh is None:
        depth[:] = np.maximum(thickness - local @ collider.normal, 0.0)
        normal[:] = collider.normal
        curvature[:] = np.outer(collider.normal, collider.normal)
        return depth, normal @ R.T, R @ curvature @ R.T
    arrays, is_closed = collider.bvh.arrays, collider.is_closed
    near = _points_near(arrays.boxes[0], local, thickness if is_closed else thickness + reach)
    given = thickness[near], local[near], side[near], reach[near]
    found = np.zeros(len(near)), np.zeros((len(near), 3)), np.zeros((len(near), 3, 3))

    def work(part: slice) -> None:
        fill_penetration_depths(arrays, is_closed, *(each[part] for each in given), *(each[part] for each in found))

    run_in_chunks(len(near), work, POINTS_PER_TASK)
    is_inside = found[0] > 0.0
    inside = near[is_inside]
    depth[inside] = found[0][is_inside]
    normal[inside] = found[1][is_inside] @ R.T
    curvature[inside] = R @ found[2][is_inside] @ R.T
    return depth, normal, curvature


def _points_near(box: Floats, points: Floats, margin: Floats) -> np.ndarray:
    """Returns the numbers of points that are in a box, (6,), enlarged by a margin [m], (k,)."""
    return np.flatnonzero(((points >= box[:3] - margin[:, None]) & (points <= box[3:] + margin[:, None])).all(axis=1))


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
def fill_penetration_depths(mesh, is_closed, thickness, points, side, reach, depth, normal, curvature):
    """Writes depths, directions out and definite curvatures of points in or near the box of a mesh, `BvhArrays`.

    See `penetration_depths`.
    """
    boxes, tree, corners, moments = mesh
    stack, n, r = np.empty(STACK_SIZE, np.int64), np.empty(3), np.empty(3)
    size = 0.0
    for i in range(3):
        size = max(size, boxes[0, 3 + i] - boxes[0, i])
    for k in range(len(points)):
        x, y, z = points[k, 0], points[k, 1], points[k, 2]
        limit = np.inf if is_closed else thickness[k] + reach[k]
        d2, t, u, v, w = closest_point(boxes, tree, corners, x, y, z, limit * limit, stack)
        if t < 0:
            continue
        triangle_normal(corners, t, n)
        d, height = math.sqrt(d2), 0.0
        for i in range(3):
            r[i] = points[k, i] - (u * corners[t, i] + v * corners[t, 3 + i] + w * corners[t, 6 + i])
            height += n[i] * r[i]
        is_on = d <= SURFACE_TOLERANCE * size
        if is_closed:
            if d2 > limit * limit:
                continue
            is_inside = height < 0.0 if is_on else abs(winding_number(tree, corners, moments, x, y, z)) > 0.5
        else:
            if abs(height) < MIN_FACING_COSINE * d:
                continue
            for i in range(3):
                n[i] *= side[k]
            is_inside = height * side[k] < 0.0
        phi = thickness[k] + d if is_inside else thickness[k] - d
        if phi <= 0.0:
            continue
        depth[k] = phi
        sign = -1.0 if is_inside else 1.0
        for i in range(3):
            normal[k, i] = n[i] if is_on else sign * r[i] / d
        add_curvature(corners, t, u, v, w, is_inside and not is_on, normal[k], curvature[k])


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
