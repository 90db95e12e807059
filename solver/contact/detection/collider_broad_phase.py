# SPDX-License-Identifier: GPL-3.0-or-later
"""Broad phase of points and rigid colliders: which points may touch a collider during a step.

A box test drops most points. Of the others, `DistanceBounds` drops those that are known to be far from a mesh: a point
that was outside, with nothing of the mesh within some radius, touches nothing while it stays within that radius. Bounds
are kept from step to step. They never change which contacts are found, so a resumed bake may begin without them.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...mesh.embedding import interpolate_point
from ...mesh.geometry.closest_point import closest_point
from ...mesh.geometry.triangle_bvh import STACK_SIZE
from ...mesh.geometry.winding_number import winding_number
from ...runtime.arrays import Bools, Floats, Indices
from ...runtime.jit import kernel
from ...runtime.threads.thread_pool import run_ranges
from ..colliders.rigid_colliders import BuiltCollider
from .contact_sample_points import ContactPoints
from .persistent_contacts import PersistentContacts

PUSH_OUT_REACH = 2.0  # depth inside a mesh from which a point is still pushed out, in tet sizes
BOX_ROUNDING_MARGIN = 1.0e-9  # by which boxes grow, over the largest distance that they are compared with
BOX_AXES = np.eye(3)
DISTANCE_SAFETY_FACTOR = 0.999  # share of a distance that is certain despite rounding
MIN_NEAR_DISTANCE = 0.01  # distance up to which a point is always near, in tet sizes
MIN_POINTS_TO_MEASURE = 64  # points without a bound from which distances are measured
POINTS_PER_TASK = 512  # points that a thread measures at a time


class BroadPhaseBox(NamedTuple):
    """A box around a collider, in its space: points that stay outside do not touch it.

    Attributes:
        directions: In which the box is measured, (d, 3).
        bounds: Least and greatest values along them [m], (2, d).
        includes_start: Whether points that are inside at the start of the step only may touch too.
    """

    directions: Floats
    bounds: Floats
    includes_start: bool


class NearbyPoints(NamedTuple):
    """Points that may touch a collider: numbers, rising, (k,), and positions at both ends [m], (k, 3) each.

    The end of a point in contact is moved back by the shift of the contact.
    """

    point: Indices
    start: Floats
    end: Floats

    def select(self, which: Indices | Bools | slice) -> NearbyPoints:
        """Returns some of them."""
        return NearbyPoints(self.point[which], self.start[which], self.end[which])


class MeasuredDistances(NamedTuple):
    """For every point of a scene: where it was measured, in the space of a mesh [m], (p, 3), and the radius around
    it that is free of the mesh, 0 where it is unknown [m], (p,).
    """

    position: Floats
    radius: Floats


def broad_phase_box(collider: BuiltCollider, max_depth: float) -> BroadPhaseBox:
    """Returns the box around a collider, for points that are pushed out from a depth of at most `max_depth` [m]."""
    if collider.bvh is None:
        return BroadPhaseBox(collider.normal.reshape(1, 3), np.array([[-np.inf], [collider.max_thickness]]), False)
    margin = collider.max_thickness if collider.is_closed else collider.max_thickness + max_depth
    box = collider.bvh.boxes[0].reshape(2, 3) + [[-margin], [margin]]
    return BroadPhaseBox(BOX_AXES, box, True)


def nearby_points(
    box: BroadPhaseBox,
    pose: Floats,
    points: ContactPoints,
    previous: PersistentContacts,
    tets: Indices,
    start: Floats,
    end: Floats,
    among: Indices | None = None,
) -> NearbyPoints:
    """Returns the points that may touch a collider while nodes move from `start` to `end`.

    Args:
        box, pose: Of the collider; its pose at both ends of the step, rows R0 | t0 | R1 | t1, (8, 3).
        points: All points.
        previous: Contacts with it in the step before; their points are always near.
        tets: Of the model, (m, 4).
        start, end: Node positions [m], (n, 3).
        among: No others are near (`near_points.py`), (q,); None: any may be.
    """
    arrays, own = points.arrays, previous.arrays
    if among is not None:
        in_contact = previous.id % len(points)
        is_among = np.zeros(len(points), bool)
        is_among[among] = True
        if not is_among[in_contact].all():
            among = np.union1d(among, in_contact).astype(np.int32)
        own = own._replace(id=np.searchsorted(among, in_contact))
        arrays = arrays._replace(tet=arrays.tet[among], weights=arrays.weights[among])  # of the others none is read
    k = len(arrays.tet)
    nearby = NearbyPoints(np.empty(k, np.int32), np.empty((k, 3)), np.empty((k, 3)))
    along, is_near = np.empty((2, len(start))), np.ones(k, bool)
    count = find_nearby_points(start, end, pose, box, tets, arrays, own, along, is_near, nearby)
    found = nearby.select(slice(count))
    return found if among is None else found._replace(point=among[found.point])


@kernel(no_refcount=True)
def find_nearby_points(start, end, pose, box, tets, points, previous, along, is_near, nearby):
    """Writes the points, rising, that come near a box, and their positions; returns how many there are.

    The coordinates of all nodes along few directions drop most points with four products each.

    Args:
        start, end: Node positions [m], (n, 3).
        pose: See `collide_plane`.
        box: `BroadPhaseBox`.
        tets: Of the model, (m, 4).
        points: `ContactPointArrays`.
        previous: `PersistentArrays` of the collider.
        along: Work space, (2, n).
        is_near: All true, (k,); changed.
        nearby: Out, `NearbyPoints`.
    """
    directions, bounds, first_end = box.directions, box.bounds, 0 if box.includes_start else 1
    tet, weights = points.tet, points.weights
    id, shift, normal = previous.id, previous.shift, previous.normal
    which, at_start, at_end = nearby
    for m in range(len(directions)):
        largest = project_nodes(start, end, pose, directions[m], first_end, along)
        margin = BOX_ROUNDING_MARGIN * largest
        low, high = bounds[0, m] - margin, bounds[1, m] + margin
        reject_far_points(low, high, along[first_end], along[1], tets, tet, weights, is_near)
    count, c = 0, 0
    next_in_contact = id[0] % len(tet) if len(id) > 0 else -1
    for point in range(len(tet)):
        in_contact = point == next_in_contact
        if not (in_contact or is_near[point]):
            continue
        which[count] = point
        interpolate_point(point, start, tets, tet, weights, at_start[count])
        interpolate_point(point, end, tets, tet, weights, at_end[count])
        if in_contact:
            for i in range(3):
                at_end[count, i] -= shift[c] * (
                    pose[4 + i, 0] * normal[c, 0] + pose[4 + i, 1] * normal[c, 1] + pose[4 + i, 2] * normal[c, 2]
                )
            c += 1
            next_in_contact = id[c] % len(tet) if c < len(id) else -1
        count += 1
    return count


@kernel(device_only=True)
def project_nodes(start, end, pose, d, first_end, along):
    """Writes coordinates of nodes along d in the collider's space [m], (2, n), from one end of the step on.

    Returns the largest in size.
    """
    largest = 0.0
    for moment in range(first_end, 2):
        x, R, t = end if moment else start, pose[4 * moment :], pose[4 * moment + 3]
        u = R[0, 0] * d[0] + R[0, 1] * d[1] + R[0, 2] * d[2]
        v = R[1, 0] * d[0] + R[1, 1] * d[1] + R[1, 2] * d[2]
        w = R[2, 0] * d[0] + R[2, 1] * d[1] + R[2, 2] * d[2]
        for i in range(len(x)):
            at = u * (x[i, 0] - t[0]) + v * (x[i, 1] - t[1]) + w * (x[i, 2] - t[2])
            along[moment, i], largest = at, max(largest, abs(at))
    return largest


@kernel(device_only=True)
def reject_far_points(low, high, at_start, at_end, tets, tet, weights, is_near):
    """Marks points as not near that are below `low` or above `high` at both ends, by coordinates of the nodes."""
    for point in range(len(tet)):
        n = tets[np.uint32(tet[point])]
        a, b, c, d = np.uint32(n[0]), np.uint32(n[1]), np.uint32(n[2]), np.uint32(n[3])
        s, t, u, v = weights[point, 0], weights[point, 1], weights[point, 2], weights[point, 3]
        first = s * at_start[a] + t * at_start[b] + u * at_start[c] + v * at_start[d]
        last = s * at_end[a] + t * at_end[b] + u * at_end[c] + v * at_end[d]
        is_near[point] &= ((first <= high) | (last <= high)) & ((first >= low) | (last >= low))


class DistanceBounds:
    """Bounds of the distances of points from one mesh."""

    def __init__(self, count: int) -> None:
        """Begins without any bound for `count` points."""
        self.measured = MeasuredDistances(np.zeros((count, 3)), np.zeros(count))

    def possible_contacts(
        self, collider: BuiltCollider, pose: Floats, points: ContactPoints, nearby: NearbyPoints, in_contact: Indices
    ) -> NearbyPoints:
        """Returns those of some points that may touch the mesh during a step.

        Args:
            collider, pose: The mesh, and its pose at both ends, see `nearby_points`.
            points: All points.
            nearby: The points to test.
            in_contact: Those of them that were in contact in the step before, rising; they always may touch.
        """
        rows = np.empty(len(nearby.point), np.int32)
        count = find_unbounded_points(nearby, pose, in_contact, self.measured, rows)
        bvh, rows = collider.bvh, rows[:count]
        if bvh is None or count <= MIN_POINTS_TO_MEASURE:
            return nearby.select(rows)
        is_near = np.ones(count, bool)

        def measure(first: int, last: int) -> None:
            measure_distance_bounds(
                bvh.arrays,
                collider.is_closed,
                collider.max_thickness,
                pose,
                rows[first:last],
                nearby,
                points.tet_size,
                in_contact,
                self.measured,
                is_near[first:last],
            )

        run_ranges(0, count, POINTS_PER_TASK, measure)
        return nearby.select(rows[is_near])


def distance_bounds_of(collider: BuiltCollider, points: ContactPoints) -> DistanceBounds:
    """Returns the distance bounds of points and a collider, which are kept with the points."""
    return points.distance_bounds.setdefault(collider.key, DistanceBounds(len(points)))


@kernel(device_only=True)
def to_collider_space(pose, first, point, out):
    """Writes the position of a point [m] in the collider's space at one end of the step, `first` 0 or 4, (3,)."""
    for i in range(3):
        out[i] = 0.0
        for j in range(3):
            out[i] += pose[first + j, i] * (point[j] - pose[first + 3, j])


@kernel()
def find_unbounded_points(nearby, pose, in_contact, measured, rows):
    """Writes the rows of points that may leave their free radius; returns how many there are.

    For arguments see `DistanceBounds.possible_contacts`.
    """
    which, at, radius = nearby.point, measured.position, measured.radius
    a, b = np.empty(3), np.empty(3)
    count, k = 0, 0
    for row in range(len(which)):
        point = which[row]
        while k < len(in_contact) and in_contact[k] < point:
            k += 1
        is_in_contact = k < len(in_contact) and in_contact[k] == point
        if radius[point] > 0.0 and not is_in_contact:
            to_collider_space(pose, 0, nearby.start[row], a)
            to_collider_space(pose, 4, nearby.end[row], b)
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
    mesh, is_closed, max_thickness, pose, rows, nearby, tet_size, in_contact, measured, is_near
):
    """Measures how far points are from a mesh, and writes which of the rows may touch it.

    Args:
        mesh: `BvhArrays`.
        is_closed: Whether it has an inside.
        max_thickness: Largest distance that points keep [m].
        pose, rows, nearby, in_contact: See `find_unbounded_points`.
        tet_size: Of all points [m].
        measured: Changed, `MeasuredDistances`.
        is_near: Out, (r,).
    """
    boxes, tree, corners, moments = mesh
    which, radius = nearby.point, measured.radius
    stack = np.empty(STACK_SIZE, np.int64)
    a, b = np.empty(3), np.empty(3)
    for r in range(len(rows)):
        row = rows[r]
        point = which[row]
        is_near[r], radius[point] = True, 0.0
        k = np.searchsorted(in_contact, point)
        if k < len(in_contact) and in_contact[k] == point:
            continue
        to_collider_space(pose, 0, nearby.start[row], a)
        to_collider_space(pose, 4, nearby.end[row], b)
        d2, t, _, _, _ = closest_point(boxes, tree, corners, a[0], a[1], a[2], np.inf, stack)
        free = DISTANCE_SAFETY_FACTOR * math.sqrt(d2) - max_thickness - MIN_NEAR_DISTANCE * tet_size[point]
        if t < 0 or not free > 0.0:
            continue
        if is_closed and abs(winding_number(tree, corners, moments, a[0], a[1], a[2])) > 0.5:
            continue
        radius[point] = free
        moved = 0.0
        for i in range(3):
            measured.position[point, i] = a[i]
            moved += (b[i] - a[i]) ** 2
        is_near[r] = not moved < free * free
