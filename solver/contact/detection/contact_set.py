# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts of points in one step, and how those with a rigid collider are found."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ...runtime.arrays import Floats, Indices
from ..colliders.build_colliders import BuiltCollider
from ..colliders.point_collider import collide_mesh, collide_plane
from .contact_points import ContactPoints
from .persistent_contacts import PersistentContacts

ARRAY_NAMES = ("id", "normal", "gap", "carried", "side")
PUSH_OUT_REACH = 2.0  # depth inside a mesh from which a point is still pushed out, in tet sizes


@dataclass
class ContactSet:
    """Contacts: point, other side and plane. `colliders/point_collider.py` has the formula of the gap.

    Attributes:
        id: collider · (number of points) + point, rising, (k,) int64; after all of these those with skins, of which
            it is what `Met` has, larger by (number of rigid colliders) · (number of points).
        normal: n at the end of the step, away from the other side, (k, 3).
        gap: Distance of the point carried along with the other side [m], (k,).
        carried: c, where it would be then; between tets p − q at the start [m], (k, 3).
        side: Side of an open sheet, (k,) int8.
        triangle, place: Of skins, −1 with rigid colliders, and the weights of q in it, (k,) and (k, 3); None where
            nothing has a skin.
    """

    id: npt.NDArray[np.int64]
    normal: Floats
    gap: Floats
    carried: Floats
    side: npt.NDArray[np.int8]
    triangle: Indices | None = None
    place: Floats | None = None

    def __len__(self) -> int:
        return len(self.id)

    def select(self, which: npt.NDArray) -> ContactSet:
        """Returns some of the contacts, by mask or index."""
        id, normal, gap = self.id[which], self.normal[which], self.gap[which]
        if self.triangle is None or self.place is None:
            return ContactSet(id, normal, gap, self.carried[which], self.side[which])
        skins = self.triangle[which], self.place[which]
        return ContactSet(id, normal, gap, self.carried[which], self.side[which], *skins)

    @staticmethod
    def concatenate(groups: list[ContactSet]) -> ContactSet:
        """Returns the contacts of all groups, in order."""
        if len(groups) == 1:
            return groups[0]
        none = ContactSet(np.zeros(0, np.int64), np.zeros((0, 3)), np.zeros(0), np.zeros((0, 3)), np.zeros(0, np.int8))
        names: tuple[str, ...] = ARRAY_NAMES
        groups = [none, *groups]
        if any(group.triangle is not None for group in groups):
            groups = [group if group.triangle is not None else _with_empty_triangles(group) for group in groups]
            names = (*ARRAY_NAMES, "triangle", "place")
        return ContactSet(*(np.concatenate([getattr(group, name) for group in groups]) for name in names))


def _with_empty_triangles(touching: ContactSet) -> ContactSet:
    return replace(touching, triangle=np.full(len(touching), -1, np.int32), place=np.zeros((len(touching), 3)))


@dataclass(frozen=True)
class ColliderPose:
    """A collider during one step: its pose at both ends, rows R0 | t0 | R1 | t1, (8, 3)."""

    collider: BuiltCollider
    pose: Floats


def find_contacts(
    place: ColliderPose,
    number: int,
    points: ContactPoints,
    which: Indices,
    start: Floats,
    end: Floats,
    known: PersistentContacts,
) -> ContactSet:
    """Returns the contacts of some points with one collider.

    Args:
        place, number: The collider and its number.
        points: All points.
        which: Those that are looked at, rising, (k,).
        start, end: Where they are at both ends of the step [m], (k, 3).
        known: Contacts remembered with this collider, whose points are among `which`.
    """
    padding, collider = place.collider.extra_thickness, place.collider
    if not padding:
        return _find_contacts(place, number, points, which, start, end, known, collider.thickness)
    first_id, extra, found = number * len(points), collider.extra_thickness_of(points.tet[which]), []
    for more in np.unique(extra):
        own = extra == more
        theirs = known.select(np.isin(known.id - first_id, which[own]))
        keeps = collider.thickness + float(more)
        found.append(_find_contacts(place, number, points, which[own], start[own], end[own], theirs, keeps))
    both = ContactSet.concatenate(found)
    return both.select(np.argsort(both.id, kind="stable"))


def _find_contacts(
    place: ColliderPose,
    number: int,
    points: ContactPoints,
    which: Indices,
    start: Floats,
    end: Floats,
    known: PersistentContacts,
    thickness: float,
) -> ContactSet:
    """Returns the contacts of points that all stay away from a collider by `thickness` [m]; see `find_contacts`."""
    k, first_id, collider = len(which), number * len(points), place.collider
    index, normal, gap, carried = np.empty(k, np.int32), np.empty((k, 3)), np.empty(k), np.empty((k, 3))
    side, hits = np.zeros(k, np.int8), 0
    if not k:
        pass
    elif collider.bvh is None:
        hits = collide_plane(start, end, collider.normal, place.pose, thickness, index, normal, gap, carried)
    else:
        sides, reach = np.zeros(k, np.int8), PUSH_OUT_REACH * points.tet_size[which]
        sides[np.searchsorted(which, known.id - first_id)] = known.side
        hits = collide_mesh(
            *collider.bvh.arrays, collider.kind, start, end, reach, sides, place.pose, thickness,
            index, normal, gap, carried, side,
        )  # fmt: skip
    id = np.add(which[index[:hits]], first_id, dtype=np.int64)
    touching = ContactSet(id, normal[:hits], gap[:hits], carried[:hits], side[:hits])
    return touching.select(collider.collides_with(points.tet[id - first_id])) if collider.ignored_tets else touching


def split_by_collider(colliders: int, count: int, memory: PersistentContacts) -> list[PersistentContacts]:
    """Returns the contacts remembered with each collider, for `count` points."""
    if colliders == 1 and memory.triangle is None:
        return [memory]
    ends = np.searchsorted(memory.id, np.arange(colliders + 1, dtype=np.int64) * count).tolist()
    return [memory.select(slice(first, last)) for first, last in itertools.pairwise(ends)]
