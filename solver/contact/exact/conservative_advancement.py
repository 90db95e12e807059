# SPDX-License-Identifier: GPL-3.0-or-later
"""How far a point and a triangle, or two edges, may move along straight lines before they are too close.

Both are convex. Along the direction n between their closest points they are separated by the least n · (xᵢ − xⱼ) of
corners of both. Now, this is their distance. Later, it is a lower bound of it, and changes at a constant rate for each
pair of corners. So all is safe until the first pair of corners is too close along n; from then on it is asked again.
This is never late. Li et al. (2021) add up times in the same way, of a weaker bound: with the greatest speeds of
corners in place of their speeds along n, what slides along closely takes thousands of times.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...runtime.jit import kernel
from .closest_features import ClosestPoints, closest_of_edges, closest_on_triangle_to_point
from .squared_distance import separation, squared_distance

POINT_TRIANGLE, EDGE_EDGE = 0, 1  # kinds of pairs
MAX_ADVANCES = 100  # then the time so far counts, which is safe
ARRIVED_RATIO = 1.1  # of the distance to be kept: closer than that is near enough


class SafeDistance(NamedTuple):
    """How close pairs may come.

    Attributes:
        minimum: Distance [m] that none may ever fall below, ≥ 0.
        kept_share: Share of its distance beyond `minimum` that each pair keeps, in (0, 1).
    """

    minimum: float
    kept_share: float


@kernel()
def limit_motion(kind, stencils, thickness, positions, motion, safe, limit):
    """Returns how far of `motion` all may go, at most `limit`.

    Args:
        kind: `POINT_TRIANGLE` or `EDGE_EDGE`.
        stencils: Four vertices of each pair: a point and a triangle, or two edges, (k, 4).
        thickness: Which each keeps beside `safe` [m], (k,).
        positions, motion: Of vertices at the start, and how far they would go [m], (n, 3).
        safe: `SafeDistance`.
        limit: Share of the motion, in [0, 1].
    """
    x, start, path = np.empty((4, 3)), np.empty((4, 3)), np.empty((4, 3))
    closest = ClosestPoints(np.zeros(4), np.zeros((2, 4)))
    for pair in range(len(stencils)):
        for i in range(4):
            for axis in range(3):
                start[i, axis] = positions[stencils[pair, i], axis]
                path[i, axis] = motion[stencils[pair, i], axis]
        own = SafeDistance(safe.minimum + thickness[pair], safe.kept_share)
        limit = advance_pair(kind, start, path, own, limit, x, closest)
    return limit


@kernel()
def mark_limited_pairs(kind, stencils, thickness, positions, motion, safe, is_limited):
    """Writes which pairs cannot go all of `motion`, (k,); arguments are those of `limit_motion`."""
    x, start, path = np.empty((4, 3)), np.empty((4, 3)), np.empty((4, 3))
    closest = ClosestPoints(np.zeros(4), np.zeros((2, 4)))
    for pair in range(len(stencils)):
        for i in range(4):
            for axis in range(3):
                start[i, axis] = positions[stencils[pair, i], axis]
                path[i, axis] = motion[stencils[pair, i], axis]
        own = SafeDistance(safe.minimum + thickness[pair], safe.kept_share)
        is_limited[pair] = advance_pair(kind, start, path, own, 1.0, x, closest) < 1.0


@kernel()
def advance_pair(kind, start, motion, safe, limit, x, closest):
    """Returns how far of `motion` a pair may go, at most `limit`; 0 if it is too close already.

    Args:
        kind: `POINT_TRIANGLE` or `EDGE_EDGE`.
        start, motion: Of the corners [m], (4, 3).
        safe: `SafeDistance`.
        limit: Share of the motion, in [0, 1].
        x: Room for positions, (4, 3).
        closest: Room for `ClosestPoints`.
    """
    time, kept = 0.0, 0.0
    for advance in range(MAX_ADVANCES):
        for i in range(4):
            for axis in range(3):
                x[i, axis] = start[i, axis] + time * motion[i, axis]
        if kind == POINT_TRIANGLE:
            closest_on_triangle_to_point(x, closest)
        else:
            closest_of_edges(x, closest)
        distance = math.sqrt(squared_distance(x, closest))
        if advance == 0:
            if distance <= safe.minimum:
                return 0.0
            kept = safe.minimum + safe.kept_share * (distance - safe.minimum)
        elif distance <= safe.minimum + ARRIVED_RATIO * (kept - safe.minimum):
            return time
        time += _safe_time(kind, x, motion, closest.weights, distance, kept)
        if time >= limit:
            return limit
    return time


@kernel(device_only=True)
def _safe_time(kind, x, motion, weights, distance, kept):
    """Returns how long no two corners come closer than `kept` [m] along the direction of the closest points."""
    nx = separation(x, weights, 0) / distance
    ny = separation(x, weights, 1) / distance
    nz = separation(x, weights, 2) / distance
    first = 1 if kind == POINT_TRIANGLE else 2  # corners of the first side
    safe = np.inf
    for i in range(first):
        for j in range(first, 4):
            gap = nx * (x[i, 0] - x[j, 0]) + ny * (x[i, 1] - x[j, 1]) + nz * (x[i, 2] - x[j, 2])
            rate = (
                nx * (motion[i, 0] - motion[j, 0])
                + ny * (motion[i, 1] - motion[j, 1])
                + nz * (motion[i, 2] - motion[j, 2])
            )
            if rate < 0.0:
                safe = min(safe, max(gap - kept, 0.0) / -rate)
    return safe
