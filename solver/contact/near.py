# SPDX-License-Identifier: GPL-3.0-or-later
"""Which points may touch a collider during a step, seen from the nodes of their tets: most of a body is far away."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Indices
from ..jit import kernel
from .colliders import BuiltCollider
from .memory import Memory
from .points import ContactPoints, place

ROUNDING = 1.0e-9  # by how much boxes are larger than they have to be, in sizes of what is in them
ALONG = np.eye(3)


@dataclass(frozen=True)
class Surroundings:
    """The box around a collider, in its space, that points have to come into to touch it.

    Attributes:
        directions: In which it is measured, (d, 3).
        box: Least and greatest values along them [m], (2, d).
        from_start: Whether points that are in it at the start of the step only may touch too.
    """

    directions: Floats
    box: Floats
    from_start: bool


def surroundings(collider: BuiltCollider, deepest: float) -> Surroundings:
    """Returns the box around a collider, for points that are pushed out from a depth of `deepest` [m] at most."""
    if collider.bvh is None:
        return Surroundings(collider.normal.reshape(1, 3), np.array([[-np.inf], [collider.thickness]]), False)
    margin = collider.thickness if collider.is_closed else collider.thickness + deepest
    box = collider.bvh.boxes[0].reshape(2, 3) + [[-margin], [margin]]
    return Surroundings(ALONG, box, True)


def points_near(
    around: Surroundings,
    pose: Floats,
    points: ContactPoints,
    known: Memory,
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
    count = find_near(
        start, end, pose, around.directions, around.box, 0 if around.from_start else 1, tets, points.tet,
        points.weights, points.outreach, known.id, known.shift, known.normal, which, first, last,
    )  # fmt: skip
    return which[:count], first[:count], last[:count]


@kernel()
def find_near(
    start, end, pose, directions, box, first_moment, tets, tet, weights, outreach, known_id, shift, normal,
    which, at_start, at_end,
):  # fmt: skip
    """Writes the points, rising, that come near a box, and where they are; returns how many.

    A point Σ w_a x_a with Σ w_a = 1 is in the box of the nodes x_a, made larger on all sides by its `outreach` times,
    so that most tets spare their points a look.

    Args:
        start, end: Node positions [m], (n, 3).
        pose: See `collide_plane`.
        directions, box: See `Surroundings`.
        first_moment: 0 to look at the start and the end, 1 to look at the end alone.
        tets: Of the model, (m, 4).
        tet, weights, outreach: Of the points, (p,), (p, 4), (t,).
        known_id, shift, normal: Of the contacts remembered with the collider, (c,), (c,), (c, 3).
        which, at_start, at_end: Out, (p,), (p, 3), (p, 3).
    """
    along, is_near = np.empty((len(directions), 2, len(start))), np.empty(len(outreach), np.bool_)
    for k in range(len(outreach)):
        is_near[k] = outreach[k] >= 0.0
    for m in range(len(directions)):
        d = directions[m]
        for moment in range(first_moment, 2):
            x, R, t = end if moment else start, pose[4 * moment :], pose[4 * moment + 3]
            u = R[0, 0] * d[0] + R[0, 1] * d[1] + R[0, 2] * d[2]
            v = R[1, 0] * d[0] + R[1, 1] * d[1] + R[1, 2] * d[2]
            w = R[2, 0] * d[0] + R[2, 1] * d[1] + R[2, 2] * d[2]
            for i in range(len(x)):
                along[m, moment, i] = u * (x[i, 0] - t[0]) + v * (x[i, 1] - t[1]) + w * (x[i, 2] - t[2])
        for k in range(len(outreach)):
            if not is_near[k]:
                continue
            least, most = np.inf, -np.inf
            for moment in range(first_moment, 2):
                h, n = along[m, moment], tets[k]
                a, b, c, e = h[n[0]], h[n[1]], h[n[2]], h[n[3]]
                least, most = min(least, min(a, b), min(c, e)), max(most, max(a, b), max(c, e))
            more = outreach[k] * (most - least) + ROUNDING * (abs(least) + abs(most))
            # not the other way round: what is no number is near
            if least - more > box[1, m] or most + more < box[0, m]:
                is_near[k] = False
    count, c = 0, 0
    next_known = known_id[0] % len(tet) if len(known_id) > 0 else -1
    for point in range(len(tet)):
        is_known = point == next_known
        if not is_known:
            if not is_near[tet[point]]:
                continue
            if not is_in(box, along, first_moment, tets, tet, weights, point):
                continue
        which[count] = point
        place(point, start, tets, tet, weights, at_start[count])
        place(point, end, tets, tet, weights, at_end[count])
        if is_known:
            for i in range(3):
                at_end[count, i] -= shift[c] * (
                    pose[4 + i, 0] * normal[c, 0] + pose[4 + i, 1] * normal[c, 1] + pose[4 + i, 2] * normal[c, 2]
                )
            c += 1
            next_known = known_id[c] % len(tet) if c < len(known_id) else -1
        count += 1
    return count


@kernel()
def is_in(box, along, first_moment, tets, tet, weights, point):
    """Whether a point is in a box at the start or the end; see `find_near`.

    `along` are the places of the nodes along its directions at both, (d, 2, n).
    """
    k = tet[point]
    n0, n1, n2, n3 = tets[k, 0], tets[k, 1], tets[k, 2], tets[k, 3]
    for m in range(len(along)):
        least, most, size = np.inf, -np.inf, 0.0
        for i in range(first_moment, 2):
            a, b = weights[point, 0] * along[m, i, n0], weights[point, 1] * along[m, i, n1]
            c, d = weights[point, 2] * along[m, i, n2], weights[point, 3] * along[m, i, n3]
            least, most = min(least, a + b + c + d), max(most, a + b + c + d)
            size = max(size, abs(a) + abs(b) + abs(c) + abs(d))
        if least - ROUNDING * size > box[1, m] or most + ROUNDING * size < box[0, m]:
            return False
    return True
