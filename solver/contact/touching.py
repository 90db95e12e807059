# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds the contacts of all points with all colliders in one step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..arrays import Floats
from .collide import collide_mesh, collide_plane
from .colliders import BuiltCollider
from .forces import box_of_motion
from .memory import Memory

PUSH_OUT_REACH = 2.0  # depth inside a mesh from which a point is still pushed out, in tet sizes


@dataclass
class Touching:
    """Contacts: point, collider and plane. See `collide.py` for the formula of the gap.

    Attributes:
        id: collider · (number of points) + point, rising, (k,) int64.
        normal: n at the end of the step, away from the collider, (k, 3).
        gap: Distance of the point carried along with the collider [m], (k,).
        carried: c, where it would be then [m], (k, 3).
        side: Side of an open sheet, (k,) int8.
    """

    id: npt.NDArray[np.int64]
    normal: Floats
    gap: Floats
    carried: Floats
    side: npt.NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.id)

    def only(self, which: npt.NDArray) -> Touching:
        """Returns some of the contacts, by mask or index."""
        return Touching(self.id[which], self.normal[which], self.gap[which], self.carried[which], self.side[which])

    @staticmethod
    def together(groups: list[Touching]) -> Touching:
        """Returns the contacts of all groups, in order."""
        if len(groups) == 1:
            return groups[0]
        names = ("id", "normal", "gap", "carried", "side")
        empty = (np.zeros(0, np.int64), np.zeros((0, 3)), np.zeros(0), np.zeros((0, 3)), np.zeros(0, np.int8))
        return Touching(
            *(np.concatenate([e, *(getattr(g, n) for g in groups)]) for n, e in zip(names, empty, strict=True))
        )


@dataclass(frozen=True)
class Place:
    """A collider during one step: its pose at both ends, rows R0 | t0 | R1 | t1, (8, 3)."""

    collider: BuiltCollider
    pose: Floats


def find_touching(places: list[Place], start: Floats, end: Floats, reach: Floats, memory: Memory) -> Touching:
    """Returns the contacts of points that go from `start` to `end` [m], both (n, 3).

    Args:
        places: The colliders.
        start, end: Positions of the points [m].
        reach: Depth inside meshes from which points are pushed out [m], (n,).
        memory: Contacts remembered; they are found up to their shift above the collider too.
    """
    count = len(start)
    if not count:
        return Touching.together([])
    box = np.empty(6)
    box_of_motion(start, end, box)
    deepest = float(reach.max())
    found = []
    for number, place in enumerate(places):
        own = np.flatnonzero((memory.id >= number * count) & (memory.id < (number + 1) * count))
        known = memory.id[own] - number * count
        if not len(own) and not _may_touch(place, box.tolist(), deepest):
            continue
        index = np.empty(count, np.int32)
        normal, gap, carried = np.empty((count, 3)), np.empty(count), np.empty((count, 3))
        side = np.zeros(count, np.int8)
        collider = place.collider
        ahead = end
        if len(own):
            ahead = end.copy()
            ahead[known] -= memory.shift[own, None] * np.einsum("ij,kj->ki", place.pose[4:7], memory.normal[own])
        if collider.bvh is None:
            hits = collide_plane(
                start, ahead, collider.normal, place.pose, collider.thickness, index, normal, gap, carried
            )
        else:
            sides = np.zeros(count, np.int8)
            sides[known] = memory.side[own]
            hits = collide_mesh(
                *collider.bvh.arrays,
                collider.is_closed,
                start,
                ahead,
                reach,
                sides,
                place.pose,
                collider.thickness,
                index,
                normal,
                gap,
                carried,
                side,
            )
        id = index[:hits].astype(np.int64) + number * count
        found.append(Touching(id, normal[:hits], gap[:hits], carried[:hits], side[:hits]))
    return Touching.together(found)


def _may_touch(place: Place, box: list[float], reach: float) -> bool:
    """Whether the box of all points during the step, (6,) [m], meets the collider at its start or end pose.

    In numbers of Python: NumPy takes longer for so few, and a kernel has to be compiled.
    """
    collider = place.collider
    normal = collider.normal.tolist()
    shape = None if collider.bvh is None else collider.bvh.boxes[0].tolist()
    margin = collider.thickness if collider.is_closed else collider.thickness + reach
    middle = [0.5 * (box[j] + box[3 + j]) for j in range(3)]
    half = [0.5 * (box[3 + j] - box[j]) for j in range(3)]
    pose = place.pose.tolist()
    for turn, at in ((pose[:3], pose[3]), (pose[4:7], pose[7])):
        # the box around the turned box, in the collider's space: larger than it has to be, so nothing is missed
        centre = [sum(turn[j][i] * (middle[j] - at[j]) for j in range(3)) for i in range(3)]
        around = [sum(abs(turn[j][i]) * half[j] for j in range(3)) for i in range(3)]
        if shape is None:
            lowest = sum(n * c - abs(n) * a for n, c, a in zip(normal, centre, around, strict=True))
            if lowest < collider.thickness:
                return True
        elif all(
            centre[i] - around[i] <= shape[3 + i] + margin and centre[i] + around[i] >= shape[i] - margin
            for i in range(3)
        ):
            return True
    return False
