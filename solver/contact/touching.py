# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds the contacts of points with a collider in one step."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..arrays import Floats, Indices
from .collide import collide_mesh, collide_plane
from .colliders import BuiltCollider
from .memory import Memory
from .points import ContactPoints

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


def find_touching(
    place: Place,
    number: int,
    points: ContactPoints,
    which: Indices,
    start: Floats,
    end: Floats,
    known: Memory,
) -> Touching:
    """Returns the contacts of some points with one collider.

    Args:
        place, number: The collider and its number.
        points: All points.
        which: Those that are looked at, rising, (k,).
        start, end: Where they are at both ends of the step [m], (k, 3).
        known: Contacts remembered with this collider, whose points are among `which`.
    """
    k, first_id, collider = len(which), number * len(points), place.collider
    index, normal, gap, carried = np.empty(k, np.int32), np.empty((k, 3)), np.empty(k), np.empty((k, 3))
    if collider.bvh is None:
        side = np.zeros(k, np.int8)
        hits = collide_plane(start, end, collider.normal, place.pose, collider.thickness, index, normal, gap, carried)
    else:
        side, sides, reach = np.zeros(k, np.int8), np.zeros(k, np.int8), PUSH_OUT_REACH * points.tet_size[which]
        sides[np.searchsorted(which, known.id - first_id)] = known.side
        hits = collide_mesh(
            *collider.bvh.arrays, collider.kind, start, end, reach, sides, place.pose, collider.thickness,
            index, normal, gap, carried, side,
        )  # fmt: skip
    id = np.add(which[index[:hits]], first_id, dtype=np.int64)
    return Touching(id, normal[:hits], gap[:hits], carried[:hits], side[:hits])


def known_contacts(colliders: int, count: int, memory: Memory) -> list[Memory]:
    """Returns the contacts remembered with each collider, for `count` points."""
    if colliders == 1:
        return [memory]
    ends = np.searchsorted(memory.id, np.arange(colliders + 1) * count).tolist()
    return [memory.only(slice(first, last)) for first, last in itertools.pairwise(ends)]
