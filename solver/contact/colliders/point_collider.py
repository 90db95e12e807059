# SPDX-License-Identifier: GPL-3.0-or-later
"""Which points touch a collider during a step, and the plane that each must not go through.

A contact is linear in where the point is at the end of the step, p:  gap(p) = gap + n · (p − c),  where c is
where the point would be had it been carried along with the collider, and `gap` its distance there. So
p − c is the motion relative to the collider, for friction too, and a point that rides along keeps its gap.
"""

from __future__ import annotations

import math

import numpy as np

from ...mesh.geometry.closest_point import closest_point
from ...mesh.geometry.triangle_bvh import STACK_SIZE
from ...mesh.geometry.winding_number import winding_number
from ...runtime.jit import kernel
from .segment_mesh import first_crossing

MIN_FACING_COSINE = (
    0.7  # |n · d| / |d| from which a point counts as lying over a triangle of an open sheet, and not beside it
)
# what a mesh is: an open sheet with two sides, one whose back meets nothing, or something with an inside
SHEET, SOLID, FRONT_ONLY = 0, 1, 2
MAX_FRONT_PENETRATION = (
    1.0e-3  # depth behind a front from which a point that nothing is known of counts as before it, in reaches
)
SURFACE_TOLERANCE = (
    1.0e-7  # distance below which the direction to the surface is taken from the triangle, in collider sizes
)


@kernel()
def collide_plane(start, end, normal, pose, thickness, index, contact_normal, gap, carried):
    """Finds the points that would be below a plane at the end of the step.

    Args:
        start, end: The points at both ends of the step [m], (n, 3).
        normal: Of the plane through the origin, in the collider's space, (3,).
        pose: Rotation and translation of the collider at start and end, rows R0 | t0 | R1 | t1, (8, 3).
        thickness: [m].
        index: Out, the points found, (n,).
        contact_normal, gap, carried: Out, their n at the end, gap [m] and c [m], (n, 3), (n,), (n, 3).

    Returns:
        How many were found.
    """
    n0 = np.empty(3)
    n1 = np.empty(3)
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
def collide_mesh(
    boxes,
    tree,
    corners,
    moments,
    kind,
    start,
    end,
    reach,
    side,
    pose,
    thickness,
    index,
    contact_normal,
    gap,
    carried,
    contact_side,
):
    """Finds the points that would be inside a mesh, or behind a sheet, at the end of the step.

    Solid meshes have an inside (winding number over ½ in size). Open sheets have two sides; a point belongs to
    the one that it came from, kept in `side` while it is in contact. Of sheets that only have a front, what comes
    from behind goes through.

    Args:
        boxes, tree, corners, moments: See `Bvh`; in the collider's space.
        kind: SHEET, FRONT_ONLY or SOLID.
        start, end: The points at both ends of the step [m], (n, 3).
        reach: Depth from which a point is still pushed out [m], (n,).
        side: 1 or -1, the side of an open sheet that a point belongs to, 0 where that is to be seen, (n,).
        pose: See `collide_plane`.
        thickness: [m].
        index: Out, the points found, (n,).
        contact_normal, gap, carried, contact_side: Out, as in `collide_plane`; the side of a sheet, (n,).

    Returns:
        How many were found.
    """
    stack = np.empty(STACK_SIZE, np.int64)
    a = np.empty(3)
    b = np.empty(3)
    c = np.empty(3)
    n = np.empty(3)
    size = 0.0
    for i in range(3):
        size = max(size, boxes[0, 3 + i] - boxes[0, i])
    tiny = SURFACE_TOLERANCE * size
    count = 0
    is_closed = kind == SOLID
    for k in range(start.shape[0]):
        far = False
        way2 = 0.0
        # a point that is pushed out of a closed mesh is in its box, one behind a sheet need not be
        margin = thickness if is_closed else thickness + reach[k]
        for i in range(3):
            a[i] = 0.0
            b[i] = 0.0
            for j in range(3):
                a[i] += pose[j, i] * (start[k, j] - pose[3, j])
                b[i] += pose[4 + j, i] * (end[k, j] - pose[7, j])
            far = far or min(a[i], b[i]) > boxes[0, 3 + i] + margin or max(a[i], b[i]) < boxes[0, i] - margin
            way2 += (b[i] - a[i]) ** 2
        if far:
            continue
        limit = math.sqrt(way2) + thickness + reach[k]
        d2, t, u, v, w = closest_point(boxes, tree, corners, a[0], a[1], a[2], limit * limit, stack)
        if t < 0:
            continue
        d = math.sqrt(d2)
        triangle_normal(corners, t, n)
        height = 0.0
        for i in range(3):
            height += n[i] * (a[i] - (u * corners[t, i] + v * corners[t, 3 + i] + w * corners[t, 6 + i]))
        # depth of a start that is already inside or behind, else negative
        own = 0
        depth = -1.0
        if is_closed:
            if d <= tiny:
                depth = -height
            elif abs(winding_number(tree, corners, moments, a[0], a[1], a[2])) > 0.5:
                depth = d
                for i in range(3):
                    q = u * corners[t, i] + v * corners[t, 3 + i] + w * corners[t, 6 + i]
                    n[i] = (q - a[i]) / d
        else:
            own = side[k]
            if kind == FRONT_ONLY and own == 0 and 0.0 > height >= -MAX_FRONT_PENETRATION * reach[k]:
                own = 1
            if own == 0 or (abs(height) < MIN_FACING_COSINE * d and d > tiny):
                own = 1 if height >= 0.0 else -1
            elif own * height <= tiny:
                depth = max(-own * height, 0.0)
                for i in range(3):
                    n[i] *= own
        # sheets have to know the side of what arrives next to them, before rounding decides it
        ahead = 0.0 if is_closed else MAX_FRONT_PENETRATION * reach[k]
        if depth >= 0.0:
            level = -depth
        else:
            for i in range(3):
                c[i] = b[i] + ahead * (b[i] - a[i]) / max(math.sqrt(way2), 1e-300)
            s, hit = first_crossing(boxes, tree, corners, a, c, stack)
            if hit >= 0:
                triangle_normal(corners, hit, n)
                level = 0.0
                for i in range(3):
                    level += n[i] * (a[i] - corners[hit, i])
                if level < (-tiny if side[k] > 0 else 0.0):
                    if kind == FRONT_ONLY:
                        continue
                    own = -1
                    level = -level
                    for i in range(3):
                        n[i] = -n[i]
                else:
                    own = 1
            elif thickness > 0.0:
                d2, t, u, v, w = closest_point(boxes, tree, corners, b[0], b[1], b[2], thickness * thickness, stack)
                if t < 0 or d2 == 0.0 or (kind == FRONT_ONLY and own < 0):
                    continue
                level = 0.0
                for i in range(3):
                    q = u * corners[t, i] + v * corners[t, 3 + i] + w * corners[t, 6 + i]
                    n[i] = (b[i] - q) / math.sqrt(d2)
                    level += n[i] * (a[i] - q)
            else:
                continue
        level -= thickness
        last = level
        for i in range(3):
            last += n[i] * (b[i] - a[i])
        if last < ahead:
            index[count] = k
            gap[count] = level
            contact_side[count] = own
            for i in range(3):
                contact_normal[count, i] = pose[4 + i, 0] * n[0] + pose[4 + i, 1] * n[1] + pose[4 + i, 2] * n[2]
            carry_with_collider(start[k], pose, carried[count])
            count += 1
    return count


@kernel(device_only=True)
def carry_with_collider(point, pose, carried):
    """Writes where a point [m], (3,), gets when it moves along with the collider: R1 R0ᵀ (p − t0) + t1."""
    x, y, z = point[0] - pose[3, 0], point[1] - pose[3, 1], point[2] - pose[3, 2]
    for i in range(3):
        carried[i] = pose[7, i]
    for j in range(3):
        local = pose[0, j] * x + pose[1, j] * y + pose[2, j] * z
        for i in range(3):
            carried[i] += pose[4 + i, j] * local


@kernel(device_only=True)
def triangle_normal(corners, t, n):
    """Writes the unit normal of a triangle (zero where it is flat)."""
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
