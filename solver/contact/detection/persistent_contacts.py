# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts that persist from one step to the next, stored in `State.fields`.

Contacts with rigid colliders, with surfaces and between edges all persist as `PersistentContacts`. Searches begin with
these, too, in ids of their own. When bodies break, `remap_contacts` gives contacts the ids of the new surfaces.
"""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...mechanics.state import State
from ...mechanics.state_fields import CONTACT_PREFIX as PREFIX
from ...runtime.arrays import Floats, Indices
from ..surfaces.collision_surfaces import CollisionSurfaces
from .contact_set import Int8s, Int64s

TRIANGLE = PREFIX + "triangle"
FIELD_NAMES = ("id", "force", "shear", "side", "shift", "lift", "kappa", "normal")


class PersistentArrays(NamedTuple):
    """The arrays of `PersistentContacts` that every scene has, which have their meaning, as kernels take them."""

    id: Int64s
    force: Floats
    shear: Floats
    side: Int8s
    shift: Floats
    lift: Floats
    kappa: Floats
    normal: Floats


@dataclass(frozen=True)
class PersistentContacts:
    """Contacts at the end of a step that the next one needs, k of them.

    Attributes:
        id: See `ContactSet`, rising, (k,) int64.
        force: Normal force [N], (k,).
        shear: Stretch of the sticking spring, in the space of the other side [m], (k, 3).
        side: Side of an open sheet, (k,) int8.
        shift, lift, kappa: See `ContactState` [m], [m], [N/m], (k,).
        normal: n in the space of the other side, zero where it is unknown, (k, 3).
        triangle: On the other side, −1 for rigid colliders or where only the surface is known, less for strands, (k,);
            None where the scene has no surfaces.
    """

    id: Int64s
    force: Floats
    shear: Floats
    side: Int8s
    shift: Floats
    lift: Floats
    kappa: Floats
    normal: Floats
    triangle: Indices | None = None

    @staticmethod
    def from_state(state: State) -> PersistentContacts:
        """Returns the contacts stored in a state."""
        if PREFIX + "id" not in state.fields:
            return PersistentContacts.empty()
        return _from_arrays([*(state.fields[PREFIX + name] for name in FIELD_NAMES), state.fields.get(TRIANGLE)])

    def store_in(self, state: State) -> None:
        """Stores the contacts in a state."""
        for name in FIELD_NAMES:
            state.fields[PREFIX + name] = getattr(self, name)
        if self.triangle is not None:
            state.fields[TRIANGLE] = self.triangle

    @staticmethod
    def allocate(count: int, with_surfaces: bool = False) -> PersistentContacts:
        """Returns arrays for `count` contacts, to be filled."""
        rows, numbers = np.empty((2, count, 3)), np.empty((4, count))
        id, side = np.empty(count, np.int64), np.empty(count, np.int8)
        triangle = np.full(count, -1, np.int32) if with_surfaces else None
        return PersistentContacts(id, numbers[0], rows[0], side, numbers[1], numbers[2], numbers[3], rows[1], triangle)

    @staticmethod
    def empty() -> PersistentContacts:
        """Returns no contacts."""
        return _without_history(np.zeros(0, np.int64))

    @staticmethod
    def without_force(
        id: Int64s,
        side: Int8s,
        shift: Floats,
        *,
        lift: Floats | None = None,
        normal: Floats | None = None,
        triangle: Indices | None = None,
    ) -> PersistentContacts:
        """Returns contacts that do not push; `lift` and `normal` are zero where they are None."""
        contacts = replace(_without_history(id), side=side, shift=shift, triangle=triangle)
        contacts = contacts if lift is None else replace(contacts, lift=lift)
        return contacts if normal is None else replace(contacts, normal=normal)

    def __len__(self) -> int:
        return len(self.id)

    @functools.cached_property
    def arrays(self) -> PersistentArrays:
        """The contacts as kernels take them."""
        return PersistentArrays(
            self.id, self.force, self.shear, self.side, self.shift, self.lift, self.kappa, self.normal
        )

    def select(self, which: slice | npt.NDArray) -> PersistentContacts:
        """Returns some of the contacts."""
        triangle = self.triangle[which] if self.triangle is not None else None
        return _from_arrays([*(array[which] for array in self.arrays), triangle])

    def split_by_collider(self, collider_count: int, point_count: int) -> list[PersistentContacts]:
        """Returns the contacts with each rigid collider, for so many points."""
        if collider_count == 1 and self.triangle is None:
            return [self]
        ends = np.searchsorted(self.id, np.arange(collider_count + 1, dtype=np.int64) * point_count).tolist()
        return [self.select(slice(first, last)) for first, last in itertools.pairwise(ends)]

    def merge(self, other: PersistentContacts) -> PersistentContacts:
        """Returns these contacts and others of the same surfaces, by rising id."""
        with_surfaces = self.triangle is not None or other.triangle is not None
        both = [_with_triangle(contacts) if with_surfaces else contacts for contacts in (self, other)]
        order = np.argsort(np.concatenate([contacts.id for contacts in both]), kind="stable")
        joined = {
            name: np.concatenate([getattr(contacts, name) for contacts in both])[order]
            for name in (*FIELD_NAMES, *(("triangle",) if with_surfaces else ()))
        }
        return PersistentContacts(**joined)


def remap_contacts(
    contacts: PersistentContacts,
    before: CollisionSurfaces,
    now: CollisionSurfaces,
    first_id: int,
    first_id_now: int,
) -> PersistentContacts:
    """Returns contacts with the ids that their points and triangles have now.

    Contacts whose point is gone are left out; contacts whose triangle is gone keep the surface alone.

    Args:
        contacts: With surfaces alone.
        before, now: The surfaces before and now.
        first_id, first_id_now: Offset of their ids to those of the searches, before and now.
    """
    # edges keep their numbers, after those of points; a body that broke has no edges, so its contacts end later
    is_edge = contacts.id >= first_id + before.point_id_count
    rest, point = np.divmod(contacts.id - first_id, before.vertex_count)
    point_now = _remapped_rows(before.vertex_key, before.vertex_start, now.vertex_key, now.vertex_start)[point]
    id = np.where(
        is_edge,
        contacts.id - first_id - before.point_id_count + first_id_now + now.point_id_count,
        first_id_now + rest * now.vertex_count + point_now,
    )
    triangles = _remapped_rows(before.triangle_key, before.triangle_start, now.triangle_key, now.triangle_start)
    known = contacts.triangle if contacts.triangle is not None else np.full(len(contacts), -1, np.int32)
    triangle = np.where(known >= 0, triangles[np.maximum(known, 0)] if len(triangles) else -1, known).astype(np.int32)
    return replace(contacts, id=id, triangle=triangle).select(np.flatnonzero((point_now >= 0) | is_edge))


def resolving_contacts(id: Int64s, triangle: Indices, depth: Floats) -> PersistentContacts:
    """Returns contacts that gently push points out from behind triangles.

    Args:
        id: Rising, (k,).
        triangle: (k,).
        depth: Of the points [m], (k,).
    """
    behind = np.minimum(-depth, 0.0)
    side, triangle = np.ones(len(id), np.int8), triangle.astype(np.int32)
    return PersistentContacts.without_force(id, side, behind, lift=behind.copy(), triangle=triangle)


def _from_arrays(values: list[Any]) -> PersistentContacts:
    return PersistentContacts(*values)


def _without_history(ids: Int64s) -> PersistentContacts:
    count = len(ids)
    force, shift, lift, kappa = np.zeros((4, count))
    side = np.zeros(count, np.int8)
    return PersistentContacts(ids, force, np.zeros((count, 3)), side, shift, lift, kappa, np.zeros((count, 3)))


def _with_triangle(contacts: PersistentContacts) -> PersistentContacts:
    if contacts.triangle is not None:
        return contacts
    return replace(contacts, triangle=np.full(len(contacts), -1, np.int32))


def _remapped_rows(keys: Int64s, start: Int64s, keys_now: Int64s, start_now: Int64s) -> Int64s:
    """Returns the rows that keys have now, −1 where a key is gone, (k,); keys rise within a surface."""
    out = np.full(len(keys), -1, np.int64)
    for surface in range(len(start) - 1):
        own, there = slice(start[surface], start[surface + 1]), keys_now[start_now[surface] : start_now[surface + 1]]
        if not len(there):
            continue
        at = np.minimum(np.searchsorted(there, keys[own]), len(there) - 1)
        out[own] = np.where(there[at] == keys[own], start_now[surface] + at, -1)
    return out
