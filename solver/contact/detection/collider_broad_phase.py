# SPDX-License-Identifier: GPL-3.0-or-later
"""Which points may touch a collider during a step: most of a body is far away."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...mesh.embedding import place_point
from ...runtime.arrays import Floats, Indices
from ...runtime.jit import kernel
from ..colliders.build_colliders import BuiltCollider
from .contact_points import ContactPoints
from .persistent_contacts import PersistentContacts

BOX_ROUNDING_MARGIN = (
    1.0e-9  # by how much boxes are larger than they have to be, in distances of what they are compared with
)
BOX_AXES = np.eye(3)


@dataclass(frozen=True)
class BroadPhaseBox:
    """The box around a collider, in its space, that points have to come into to touch it.

    Attributes:
        directions: In which it is measured, (d, 3).
        box: Least and greatest values along them [m], (2, d).
        from_start: Whether points that are in it at the start of the step only may touch too.
    """

    directions: Floats
    bounds: Floats
    includes_start: bool


def broad_phase_box(collider: BuiltCollider, deepest: float) -> BroadPhaseBox:
    """Returns the box around a collider, for points that are pushed out from a depth of `deepest` [m] at most."""
    if collider.bvh is None:
        return BroadPhaseBox(collider.normal.reshape(1, 3), np.array([[-np.inf], [collider.max_thickness]]), False)
    margin = collider.max_thickness if collider.is_closed else collider.max_thickness + deepest
    box = collider.bvh.boxes[0].reshape(2, 3) + [[-margin], [margin]]
    return BroadPhaseBox(BOX_AXES, box, True)


def nearby_points(
    around: BroadPhaseBox,
    pose: Floats,
    points: ContactPoints,
    known: PersistentContacts,
    tets: Indices,
    start: Floats,
    end: Floats,
) -> tuple[Indices, Floats, Floats]:
    """Returns the points that may touch a collider while their nodes go from `start` to `end`.

    Args:
        around, pose: Of the collider; its pose at both ends of the step, rows R0 | t0 | R1 | t1, (8, 3).
        points: All points.
        known: Contacts remembered with it, which are found up to their shift above it.
        tets: Of the model, (m, 4).
        start, end: Node positions [m], (n, 3).

    Returns:
        The points, rising, (k,), and where they are at both ends [m], (k, 3) each; those known are their shift farther.
    """
    which, first, last = np.empty(len(points), np.int32), np.empty((len(points), 3)), np.empty((len(points), 3))
    count = find_nearby_points(
        start, end, pose, around.directions, around.bounds, 0 if around.includes_start else 1, tets, points.tet,
        points.weights, known.id, known.shift, known.normal, which, first, last,
    )  # fmt: skip
    return which[:count], first[:count], last[:count]


@kernel()
def find_nearby_points(
    start, end, pose, directions, box, first_moment, tets, tet, weights, known_id, shift, normal,
    which, at_start, at_end,
):  # fmt: skip
    """Writes the points, rising, that come near a box, and where they are; returns how many.

    Places along few directions, of all nodes, tell of most points with four products that they are far away.

    Args:
        start, end: Node positions [m], (n, 3).
        pose: See `collide_plane`.
        directions, box: See `BroadPhaseBox`.
        first_moment: 0 to look at the start and the end, 1 to look at the end alone.
        tets: Of the model, (m, 4).
        tet, weights: Of the points, (p,), (p, 4).
        known_id, shift, normal: Of the contacts remembered with the collider, (c,), (c,), (c, 3).
        which, at_start, at_end: Out, (p,), (p, 3), (p, 3).
    """
    along, is_near = np.empty((2, len(start))), np.ones(len(tet), np.bool_)
    for m in range(len(directions)):
        d, largest = directions[m], 0.0
        for moment in range(first_moment, 2):
            x, R, t = end if moment else start, pose[4 * moment :], pose[4 * moment + 3]
            u = R[0, 0] * d[0] + R[0, 1] * d[1] + R[0, 2] * d[2]
            v = R[1, 0] * d[0] + R[1, 1] * d[1] + R[1, 2] * d[2]
            w = R[2, 0] * d[0] + R[2, 1] * d[1] + R[2, 2] * d[2]
            for i in range(len(x)):
                at = u * (x[i, 0] - t[0]) + v * (x[i, 1] - t[1]) + w * (x[i, 2] - t[2])
                along[moment, i], largest = at, max(largest, abs(at))
        more = BOX_ROUNDING_MARGIN * largest
        reject_far_points(
            box[0, m] - more, box[1, m] + more, along[first_moment], along[1], tets, tet, weights, is_near
        )
    count, c = 0, 0
    next_known = known_id[0] % len(tet) if len(known_id) > 0 else -1
    for point in range(len(tet)):
        is_known = point == next_known
        if not (is_known or is_near[point]):
            continue
        which[count] = point
        place_point(point, start, tets, tet, weights, at_start[count])
        place_point(point, end, tets, tet, weights, at_end[count])
        if is_known:
            for i in range(3):
                at_end[count, i] -= shift[c] * (
                    pose[4 + i, 0] * normal[c, 0] + pose[4 + i, 1] * normal[c, 1] + pose[4 + i, 2] * normal[c, 2]
                )
            c += 1
            next_known = known_id[c] % len(tet) if c < len(known_id) else -1
        count += 1
    return count


@kernel(device_only=True)
def reject_far_points(low, high, at_start, at_end, tets, tet, weights, is_near):
    """Marks points as not near that are below `low` or above `high` at both ends, by the places of the nodes there."""
    for point in range(len(tet)):
        n = tets[np.uint32(tet[point])]
        a, b, c, d = np.uint32(n[0]), np.uint32(n[1]), np.uint32(n[2]), np.uint32(n[3])
        s, t, u, v = weights[point, 0], weights[point, 1], weights[point, 2], weights[point, 3]
        first = s * at_start[a] + t * at_start[b] + u * at_start[c] + v * at_start[d]
        last = s * at_end[a] + t * at_end[b] + u * at_end[c] + v * at_end[d]
        is_near[point] &= ((first <= high) | (last <= high)) & ((first >= low) | (last >= low))
