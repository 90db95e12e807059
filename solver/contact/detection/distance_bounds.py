# SPDX-License-Identifier: GPL-3.0-or-later
"""How far points are known to be from a mesh, so that most need not be looked at again until they have moved so far.

A point that was outside, with nothing of the mesh within some radius, touches nothing as long as it goes on within that
radius. This is kept from step to step; it never changes what is found, so a resumed bake may begin without it.
"""

from __future__ import annotations

import math

import numpy as np

from ...mesh.geometry.closest_point import closest_point
from ...mesh.geometry.triangle_bvh import STACK_SIZE
from ...mesh.geometry.winding_number import winding_number
from ...runtime.arrays import Floats, Indices
from ...runtime.jit import kernel
from ...runtime.threads.thread_pool import run_ranges
from ..colliders.build_colliders import BuiltCollider
from .contact_points import ContactPoints

DISTANCE_SAFETY_FACTOR = 0.999  # share of a distance that rounding leaves
MIN_NEAR_DISTANCE = 0.01  # what counts as near in any case, in sizes of tets
MIN_POINTS_TO_MEASURE = 64  # points that are looked at rather than known about
POINTS_PER_TASK = 512  # points that are looked at in one go


class DistanceBounds:
    """Which points are far from one mesh.

    Attributes:
        at: Where they were found to be far from it, in its space [m], (p, 3).
        radius: How far nothing is there [m], 0 where that is not known, (p,).
    """

    def __init__(self, count: int) -> None:
        """Begins with nothing known of `count` points."""
        self.measured_at, self.radius = np.zeros((count, 3)), np.zeros(count)

    def possible_contacts(
        self, collider: BuiltCollider, pose: Floats, points: ContactPoints, which: Indices, start: Floats,
        end: Floats, known: Indices,
    ) -> Indices:  # fmt: skip
        """Returns which rows of some points may touch a mesh during a step, rising.

        Args:
            collider, pose: See `points_near`.
            points: All points.
            which, start, end: Points, and where they are at both ends [m], (k,), (k, 3), (k, 3).
            known: Those of them that touch it by memory, rising; they are never left out.
        """
        rows = np.empty(len(which), np.int32)
        count = find_unbounded_points(which, start, end, pose, known, self.measured_at, self.radius, rows)
        bvh, kept = collider.bvh, rows[:count]
        if bvh is None or count <= MIN_POINTS_TO_MEASURE:
            return kept
        is_near = np.ones(count, bool)

        def look(first: int, last: int) -> None:
            measure_distance_bounds(
                *bvh.arrays,
                collider.is_closed,
                kept[first:last],
                which,
                start,
                end,
                points.tet_size,
                collider.max_thickness,
                pose,
                known,
                self.measured_at,
                self.radius,
                is_near[first:last],
            )

        run_ranges(0, count, POINTS_PER_TASK, look)
        return kept[is_near]


def distance_bounds_of(collider: BuiltCollider, points: ContactPoints) -> DistanceBounds:
    """Returns what is known of points and a collider, kept with the points."""
    return points.distance_bounds.setdefault(collider.key, DistanceBounds(len(points)))


@kernel(device_only=True)
def to_collider_space(pose, first, point, out):
    """Writes where a point [m] is in the collider's space at one end of the step, `first` 0 or 4, (3,)."""
    for i in range(3):
        out[i] = 0.0
        for j in range(3):
            out[i] += pose[first + j, i] * (point[j] - pose[first + 3, j])


@kernel()
def find_unbounded_points(which, start, end, pose, known, at, radius, rows):
    """Writes the rows of points that do not stay where nothing is; returns how many; for arguments see
    `DistanceBounds`.
    """
    a, b = np.empty(3), np.empty(3)
    count, k = 0, 0
    for row in range(len(which)):
        point = which[row]
        while k < len(known) and known[k] < point:
            k += 1
        is_known = k < len(known) and known[k] == point
        if radius[point] > 0.0 and not is_known:
            to_collider_space(pose, 0, start[row], a)
            to_collider_space(pose, 4, end[row], b)
            first, last = 0.0, 0.0
            for i in range(3):
                first += (a[i] - at[point, i]) ** 2
                last += (b[i] - at[point, i]) ** 2
            if max(first, last) < radius[point] ** 2:
                continue
        rows[count] = row
        count += 1
    return count


@kernel()
def measure_distance_bounds(
    boxes, tree, corners, moments, is_closed, rows, which, start, end, tet_size, reach, pose, known, at, radius, is_near
):  # fmt: skip
    """Measures how far points are from a mesh, and writes which of the rows may touch it.

    Args:
        boxes, tree, corners, moments: See `Bvh`.
        is_closed: Whether it has an inside.
        rows, which, start, end, pose, known: See `Clearance.leave_out`.
        tet_size: Of all points [m].
        reach: Distance that is kept from it at most [m].
        at, radius: Changed, see `DistanceBounds`.
        is_near: Out, (r,).
    """
    stack = np.empty(STACK_SIZE, np.int64)
    a, b = np.empty(3), np.empty(3)
    for r in range(len(rows)):
        row = rows[r]
        point = which[row]
        is_near[r], radius[point] = True, 0.0
        k = np.searchsorted(known, point)
        if k < len(known) and known[k] == point:
            continue
        to_collider_space(pose, 0, start[row], a)
        to_collider_space(pose, 4, end[row], b)
        d2, t, _, _, _ = closest_point(boxes, tree, corners, a[0], a[1], a[2], np.inf, stack)
        free = DISTANCE_SAFETY_FACTOR * math.sqrt(d2) - reach - MIN_NEAR_DISTANCE * tet_size[point]
        if t < 0 or not free > 0.0:
            continue
        if is_closed and abs(winding_number(tree, corners, moments, a[0], a[1], a[2])) > 0.5:
            continue
        radius[point] = free
        way = 0.0
        for i in range(3):
            at[point, i] = a[i]
            way += (b[i] - a[i]) ** 2
        is_near[r] = not way < free * free
