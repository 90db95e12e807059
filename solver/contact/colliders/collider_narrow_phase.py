# SPDX-License-Identifier: GPL-3.0-or-later
"""Narrow phase of points and a rigid collider: which points touch it during a step, and in which plane.

A contact is linear in the position p of its point at the end of the step:  gap(p) = gap + n · (p − c). Here c is the
position to which the collider would carry the point, and `gap` its distance there. So p − c is the motion relative to
the collider, for friction too, and a point that rides along keeps its gap.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...mesh.geometry.closest_point import closest_point
from ...mesh.geometry.triangle_bvh import STACK_SIZE
from ...mesh.geometry.winding_number import winding_number
from ...runtime.arrays import Floats, Indices
from ...runtime.jit import kernel
from .first_segment_crossing import first_crossing

MIN_FACING_COSINE = 0.7  # |n · d| / |d| from which a point lies over a triangle of an open sheet, and not beside it
# kinds of meshes: an open sheet with two sides, a mesh with an inside, a sheet whose back collides with nothing
SHEET, SOLID, FRONT_ONLY = 0, 1, 2
MAX_FRONT_PENETRATION = 1.0e-3  # depth behind a front, in reaches, up to which a new point counts as before it
SURFACE_TOLERANCE = 1.0e-7  # distance in collider sizes below which a direction is that of the triangle


class PlanarContacts(NamedTuple):
    """Contacts with one collider, written row by row: at most one for each of n points.

    Attributes:
        point: Its number, (n,).
        normal: n at the end of the step, (n, 3).
        gap: [m], (n,).
        carried: c [m], (n, 3).
        side: Side of an open sheet, 0 for other colliders, (n,) int8.
    """

    point: Indices
    normal: Floats
    gap: Floats
    carried: Floats
    side: np.ndarray

    @staticmethod
    def allocate(count: int) -> PlanarContacts:
        """Returns arrays for the contacts of `count` points."""
        point, side = np.empty(count, np.int32), np.zeros(count, np.int8)
        return PlanarContacts(point, np.empty((count, 3)), np.empty(count), np.empty((count, 3)), side)


@kernel()
def collide_plane(normal, pose, thickness, start, end, out):
    """Finds the points that would be below a plane at the end of the step; returns how many there are.

    Args:
        normal: Of the plane through the origin, in the collider's space, (3,).
        pose: Rotation and translation of the collider at start and end, rows R0 | t0 | R1 | t1, (8, 3).
        thickness: [m].
        start, end: The points at both ends of the step [m], (n, 3).
        out: `PlanarContacts`.
    """
    index, contact_normal, gap, carried, _ = out
    n0, n1 = np.empty(3), np.empty(3)
    for i in range(3):
        n0[i] = pose[i, 0] * normal[0] + pose[i, 1] * normal[1] + pose[i, 2] * normal[2]
        n1[i] = pose[4 + i, 0] * normal[0] + pose[4 + i, 1] * normal[1] + pose[4 + i, 2] * normal[2]
    count = 0
    for k in range(start.shape[0]):
        above = -thickness
        for i in range(3):
            above += n1[i] * (end[k, i] - pose[7, i])
        if above < 0.0:
            index[count] = k
            gap[count] = -thickness
            for i in range(3):
                gap[count] += n0[i] * (start[k, i] - pose[3, i])
                contact_normal[count, i] = n1[i]
            carry_with_collider(start[k], pose, carried[count])
            count += 1
    return count


@kernel()
def collide_mesh(mesh, kind, pose, thickness, start, end, reach, side, out):
    """Finds the points that would be inside a mesh, or behind a sheet, at the end of the step; returns how many.

    A solid mesh has an inside (winding number above ½ in size). An open sheet has two sides; a point belongs to the one
    it came from, stored in `side` while it is in contact. Through a sheet that only has a front, points pass from
    behind.

    Args:
        mesh: `BvhArrays` in the collider's space.
        kind: SHEET, FRONT_ONLY or SOLID.
        pose, thickness, start, end: See `collide_plane`.
        reach: Depth from which a point is still pushed out [m], (n,).
        side: 1 or −1, the side of an open sheet that a point belongs to, 0 where it is unknown, (n,).
        out: `PlanarContacts`.
    """
    boxes, tree, corners, _ = mesh
    stack = np.empty(STACK_SIZE, np.int64)
    a, b, n = np.empty(3), np.empty(3), np.empty(3)
    size = 0.0
    for i in range(3):
        size = max(size, boxes[0, 3 + i] - boxes[0, i])
    tolerance, count, is_closed = SURFACE_TOLERANCE * size, 0, kind == SOLID
    for k in range(start.shape[0]):
        length = write_local_path(start[k], end[k], pose, a, b)
        # a point that is pushed out of a closed mesh is in its box; a point behind a sheet need not be
        if path_misses_box(boxes, a, b, thickness if is_closed else thickness + reach[k]):
            continue
        limit = length + thickness + reach[k]
        d2, t, u, v, w = closest_point(boxes, tree, corners, a[0], a[1], a[2], limit * limit, stack)
        if t < 0:
            continue
        if is_closed:
            depth, own_side = start_depth_in_solid(mesh, a, t, u, v, w, math.sqrt(d2), tolerance, n), 0
        else:
            depth, own_side = start_depth_behind_sheet(
                corners, kind, a, t, u, v, w, math.sqrt(d2), tolerance, reach[k], side[k], n
            )
        # points that arrive next to a sheet need a side before rounding decides it
        ahead = 0.0 if is_closed else MAX_FRONT_PENETRATION * reach[k]
        level = -depth
        if depth < 0.0:
            is_hit, level, own_side = start_level_of_path(
                mesh, kind, a, b, length, ahead, thickness, tolerance, own_side, side[k], n, stack
            )
            if not is_hit:
                continue
        level -= thickness
        end_level = level
        for i in range(3):
            end_level += n[i] * (b[i] - a[i])
        if end_level < ahead:
            out.point[count], out.gap[count], out.side[count] = k, level, own_side
            for i in range(3):
                out.normal[count, i] = pose[4 + i, 0] * n[0] + pose[4 + i, 1] * n[1] + pose[4 + i, 2] * n[2]
            carry_with_collider(start[k], pose, out.carried[count])
            count += 1
    return count


@kernel(inline=True, device_only=True)
def write_local_path(start, end, pose, a, b):
    """Writes both ends of the path of a point in the collider's space [m], (3,) each; returns its length [m]."""
    squared = 0.0
    for i in range(3):
        a[i] = 0.0
        b[i] = 0.0
        for j in range(3):
            a[i] += pose[j, i] * (start[j] - pose[3, j])
            b[i] += pose[4 + j, i] * (end[j] - pose[7, j])
        squared += (b[i] - a[i]) ** 2
    return math.sqrt(squared)


@kernel(inline=True, device_only=True)
def path_misses_box(boxes, a, b, margin):
    """Returns whether the box of a path is farther than `margin` [m] from the box of the whole mesh."""
    for i in range(3):
        if min(a[i], b[i]) > boxes[0, 3 + i] + margin or max(a[i], b[i]) < boxes[0, i] - margin:
            return True
    return False


@kernel(device_only=True)
def height_above_triangle(corners, t, u, v, w, point, n):
    """Writes the unit normal of triangle t; returns the height of a point above its place with weights u, v, w [m]."""
    triangle_normal(corners, t, n)
    height = 0.0
    for i in range(3):
        height += n[i] * (point[i] - (u * corners[t, i] + v * corners[t, 3 + i] + w * corners[t, 6 + i]))
    return height


@kernel(device_only=True)
def start_depth_in_solid(mesh, a, t, u, v, w, distance, tolerance, n):
    """Returns the depth of a start point in a closed mesh [m], below zero outside, and writes the direction out.

    The point a is nearest to the place of triangle t with weights u, v, w, at `distance` [m].
    """
    _, tree, corners, moments = mesh
    height = height_above_triangle(corners, t, u, v, w, a, n)
    if distance <= tolerance:
        return -height
    if abs(winding_number(tree, corners, moments, a[0], a[1], a[2])) > 0.5:
        for i in range(3):
            q = u * corners[t, i] + v * corners[t, 3 + i] + w * corners[t, 6 + i]
            n[i] = (q - a[i]) / distance
        return distance
    return -1.0


@kernel(device_only=True)
def start_depth_behind_sheet(corners, kind, a, t, u, v, w, distance, tolerance, reach, side, n):
    """Returns the depth of a start point behind a sheet [m], below zero before it, and its side; writes the normal.

    `side` is the stored one, 0 for none; for the other arguments see `start_depth_in_solid`.
    """
    height = height_above_triangle(corners, t, u, v, w, a, n)
    own_side = side
    if kind == FRONT_ONLY and own_side == 0 and 0.0 > height >= -MAX_FRONT_PENETRATION * reach:
        own_side = 1
    if own_side == 0 or (abs(height) < MIN_FACING_COSINE * distance and distance > tolerance):
        return -1.0, 1 if height >= 0.0 else -1
    if own_side * height <= tolerance:
        for i in range(3):
            n[i] *= own_side
        return max(-own_side * height, 0.0), own_side
    return -1.0, own_side


@kernel(device_only=True)
def start_level_of_path(mesh, kind, a, b, length, ahead, thickness, tolerance, own_side, side, n, stack):
    """Returns whether the path a → b hits a mesh, the height of a over the plane there [m], and the side of a.

    Writes the normal of the plane. Without a crossing, the path hits if it ends within the thickness.
    """
    boxes, tree, corners, _ = mesh
    beyond = np.empty(3)
    for i in range(3):
        beyond[i] = b[i] + ahead * (b[i] - a[i]) / max(length, 1e-300)
    _, hit = first_crossing(boxes, tree, corners, a, beyond, stack)
    level = 0.0
    if hit >= 0:
        triangle_normal(corners, hit, n)
        for i in range(3):
            level += n[i] * (a[i] - corners[hit, i])
        if not level < (-tolerance if side > 0 else 0.0):
            return True, level, 1
        for i in range(3):
            n[i] = -n[i]
        return kind != FRONT_ONLY, -level, -1
    if not thickness > 0.0:
        return False, level, own_side
    d2, t, u, v, w = closest_point(boxes, tree, corners, b[0], b[1], b[2], thickness * thickness, stack)
    if t < 0 or d2 == 0.0 or (kind == FRONT_ONLY and own_side < 0):
        return False, level, own_side
    for i in range(3):
        q = u * corners[t, i] + v * corners[t, 3 + i] + w * corners[t, 6 + i]
        n[i] = (b[i] - q) / math.sqrt(d2)
        level += n[i] * (a[i] - q)
    return True, level, own_side


@kernel(device_only=True)
def carry_with_collider(point, pose, carried):
    """Writes the position of a point [m], (3,), that moves along with the collider: R1 R0ᵀ (p − t0) + t1."""
    x, y, z = point[0] - pose[3, 0], point[1] - pose[3, 1], point[2] - pose[3, 2]
    for i in range(3):
        carried[i] = pose[7, i]
    for j in range(3):
        local = pose[0, j] * x + pose[1, j] * y + pose[2, j] * z
        for i in range(3):
            carried[i] += pose[4 + i, j] * local


@kernel(device_only=True)
def triangle_normal(corners, t, n):
    """Writes the unit normal of a triangle, zero if it is degenerate."""
    ex, ey, ez = corners[t, 3] - corners[t, 0], corners[t, 4] - corners[t, 1], corners[t, 5] - corners[t, 2]
    fx, fy, fz = corners[t, 6] - corners[t, 0], corners[t, 7] - corners[t, 1], corners[t, 8] - corners[t, 2]
    n[0] = ey * fz - ez * fy
    n[1] = ez * fx - ex * fz
    n[2] = ex * fy - ey * fx
    length = math.sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2])
    if length > 0.0:
        n[0] /= length
        n[1] /= length
        n[2] /= length
