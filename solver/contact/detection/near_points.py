# SPDX-License-Identifier: GPL-3.0-or-later
"""Which of many contact points per tet are near a rigid collider: the others take no part in a step.

All points of a tet become near together when the collider comes within a margin, and are let go together when it has
gone: whether it has is looked up again once anything has moved as far as the margin. In between, nothing outside of the
margin can have come near, so this never changes which contacts are found, and a resumed bake may begin without it.

Source: lists of neighbours with a margin, Verlet (1967), Computer "experiments" on classical fluids.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...mesh.geometry.closest_point import closest_points
from ...mesh.geometry.winding_number import winding_numbers
from ...runtime.arrays import Bools, Floats, Indices, indices
from ..colliders.rigid_colliders import BuiltCollider
from .collider_broad_phase import PUSH_OUT_REACH
from .contact_sample_points import ContactPoints

MIN_POINTS_PER_TET = 4.0  # on average, from which tets are looked up before their points
MARGIN = 1.0  # how far anything may move until the tets are looked up again, in tet sizes
ROUNDING_MARGIN = 1.0e-6  # by which reaches grow


@dataclass(frozen=True, eq=False)
class NearPoints:
    """The points near one collider when all of it was looked up.

    Attributes:
        collider, pose: As they were; the pose at the start of the step, rows R | t, (4, 3).
        positions: Of the nodes at the start of the step [m], (n, 3).
        margin: How far positions and the collider together may move [m].
        points: Rising, (k,).
    """

    collider: BuiltCollider
    pose: Floats
    positions: Floats
    margin: float
    points: Indices

    def still_hold(self, collider: BuiltCollider, pose: Floats, lever: float, start: Floats, end: Floats) -> bool:
        """Returns whether no other point can have come near; for arguments see `near_points`."""
        if len(start) != len(self.positions) or not _is_same_shape(collider, self.collider):
            return False
        nodes = max(_largest_motion(self.positions, start), _largest_motion(self.positions, end))
        whole = max(_collider_motion(collider, self.pose, at) for at in (pose[:4], pose[4:]))
        return bool(lever * nodes + whole <= self.margin)  # what is not finite has moved too far


def near_points(
    collider: BuiltCollider,
    pose: Floats,
    points: ContactPoints,
    tets: Indices,
    start: Floats,
    end: Floats,
    is_fixed: Bools | None = None,
) -> Indices | None:
    """Returns the points that may be near a collider in a step, rising, (k,); None: any may, so few are there.

    Args:
        collider, pose: Its pose at both ends of the step, rows R0 | t0 | R1 | t1, (8, 3).
        points: All points.
        tets: Of the model, (m, 4).
        start, end: Node positions [m], (n, 3).
        is_fixed: Which nodes are held, (n,): points that nothing moves are left out; None: none.
    """
    near = _near_points(collider, pose, points, tets, start, end)
    if is_fixed is None:
        return near
    moves = ~is_fixed[tets[points.tet]].all(axis=1)
    return indices(np.flatnonzero(moves)) if near is None else near[moves[near]]


def _near_points(
    collider: BuiltCollider, pose: Floats, points: ContactPoints, tets: Indices, start: Floats, end: Floats
) -> Indices | None:
    """Returns those of `near_points`, held ones too."""
    if len(points) < MIN_POINTS_PER_TET * points.tet_count:
        return None
    stored: dict[str, Any] = points.near_points
    known = stored.get(collider.key)
    if known is None or not known.still_hold(collider, pose, points.largest_lever, start, end):
        known = stored[collider.key] = _look_up(collider, pose, points, tets, start, end)
    return known.points


def _look_up(
    collider: BuiltCollider, pose: Floats, points: ContactPoints, tets: Indices, start: Floats, end: Floats
) -> NearPoints:
    """Returns the points of all tets that are near a collider at the start of a step."""
    lever = points.largest_lever
    moves = lever * _largest_motion(start, end) + _collider_motion(collider, pose[:4], pose[4:])
    margin = MARGIN * points.largest_tet + (moves if np.isfinite(moves) else np.inf)
    has_points = np.zeros(len(tets), bool)
    has_points[points.tet] = True
    which = np.flatnonzero(has_points)
    corners = (start[tets[which]] - pose[3]) @ pose[:3]  # Rᵀ (x − t)
    middle = corners.mean(axis=1)
    radius = lever * np.linalg.norm(corners - middle[:, None], axis=2).max(axis=1, initial=0.0)
    is_near_tet = np.zeros(len(tets), bool)
    is_near_tet[which] = _are_near(collider, middle, (radius + margin) * (1.0 + ROUNDING_MARGIN), points.largest_tet)
    return NearPoints(collider, pose[:4].copy(), start.copy(), margin, indices(np.flatnonzero(is_near_tet[points.tet])))


def _are_near(collider: BuiltCollider, middle: Floats, radius: Floats, tet_size: float) -> Bools:
    """Returns which spheres, in the space of a collider [m], hold anything that it could touch, (k,)."""
    reach = radius + collider.max_thickness
    if collider.bvh is None:
        return ~(middle @ collider.normal > reach)
    if not collider.is_closed:
        reach = reach + PUSH_OUT_REACH * tet_size  # behind a sheet
    box = collider.bvh.boxes[0].reshape(2, 3)
    outside = np.maximum(np.maximum(box[0] - middle, middle - box[1]), 0.0)
    is_near = ~(np.linalg.norm(outside, axis=1) > reach)
    rows = np.flatnonzero(is_near)
    if len(rows) and np.isfinite(reach[rows]).all():
        distance = closest_points(collider.bvh, middle[rows], float(reach[rows].max())).distance
        is_near[rows] = distance <= reach[rows]
        far = rows[~is_near[rows]]
        if collider.is_closed and len(far):
            is_near[far] = np.abs(winding_numbers(collider.bvh, middle[far])) > 0.5
    return is_near


def _is_same_shape(one: BuiltCollider, other: BuiltCollider) -> bool:
    same = one.bvh is other.bvh and one.kind == other.kind and one.max_thickness == other.max_thickness
    return same and bool((one.normal == other.normal).all())


def _largest_motion(before: Floats, after: Floats) -> float:
    """Returns how far the node moves that moves farthest [m]."""
    motion = after - before
    return float(np.sqrt(np.einsum("ni,ni->n", motion, motion).max(initial=0.0)))


def _collider_motion(collider: BuiltCollider, before: Floats, after: Floats) -> float:
    """Returns a bound of how far any point of a collider moves from one pose R | t, (4, 3), to another [m].

    inf for planes.
    """
    if (before == after).all():
        return 0.0
    if collider.bvh is None:
        return np.inf
    low, high = collider.bvh.boxes[0].reshape(2, 3)
    turn = after[:3] - before[:3]
    middle = turn @ (0.5 * (low + high)) + after[3] - before[3]
    return math.hypot(*middle) + math.hypot(*(np.abs(turn) @ (0.5 * (high - low))))
