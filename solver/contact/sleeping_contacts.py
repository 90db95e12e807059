# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts of bodies that sleep: no step searches for them, and they are there again when the bodies wake.

They are out of the `PersistentContacts` of the state meanwhile, and go on pressing with what they pressed with when the
bodies fell asleep.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..mechanics.state import State
from ..mechanics.state_fields import ASLEEP_PREFIX as PREFIX
from ..runtime.arrays import Bools, Floats, Indices
from .contact_loads import (
    ContactLoads,
    collider_origins,
    contact_loads,
    loaded_collider_keys,
    other_side_names,
    select_loads,
)
from .contact_step import ContactStep
from .detection.persistent_contacts import FIELD_NAMES, PersistentContacts

TRIANGLE = "triangle"


class SleepingLoads(NamedTuple):
    """What k contacts press with.

    Attributes:
        tet: Of the point, and on the other side, −1 where that is a collider, (k, 2).
        place: Of the point [m], (k, 3).
        direction: In which it is pushed, (k, 3).
        load: On the point, friction included, zero where the contact does not push [N], (k, 3).
        other: The other side, see `ContactLoads`, (k,).
    """

    tet: Indices
    place: Floats
    direction: Floats
    load: Floats
    other: Indices

    def select(self, which: np.ndarray) -> SleepingLoads:
        """Returns some of them."""
        return SleepingLoads(*(values[which] for values in self))


@dataclass(frozen=True)
class SleepingContacts:
    """Contacts between bodies that sleep, and of these with colliders, k of them, by rising id.

    Attributes:
        stored: What the next step needs once they are awake.
        loads: What they press with.
    """

    stored: PersistentContacts
    loads: SleepingLoads

    def __len__(self) -> int:
        return len(self.stored)

    @staticmethod
    def from_state(state: State) -> SleepingContacts:
        """Returns those of a state."""
        if PREFIX + "id" not in state.fields:
            none = np.zeros((0, 3))
            loads = SleepingLoads(np.zeros((0, 2), np.int32), none, none, none, np.zeros(0, np.int32))
            return SleepingContacts(PersistentContacts.empty(), loads)
        triangle = state.fields.get(PREFIX + TRIANGLE)
        stored = PersistentContacts(**{name: state.fields[PREFIX + name] for name in FIELD_NAMES}, triangle=triangle)
        return SleepingContacts(stored, SleepingLoads(*(state.fields[PREFIX + name] for name in SleepingLoads._fields)))

    def store_in(self, state: State) -> None:
        """Stores them in a state."""
        for name in FIELD_NAMES:
            state.fields[PREFIX + name] = getattr(self.stored, name)
        if self.stored.triangle is not None:
            state.fields[PREFIX + TRIANGLE] = self.stored.triangle
        for name, values in self.loads._asdict().items():
            state.fields[PREFIX + name] = values

    @property
    def pushing_count(self) -> int:
        """How many of them push."""
        return int(self.loads.load.any(axis=1).sum())

    def select(self, which: np.ndarray) -> SleepingContacts:
        """Returns some of them, by mask."""
        return SleepingContacts(self.stored.select(which), self.loads.select(which))

    def merge(self, other: SleepingContacts) -> SleepingContacts:
        """Returns these and others."""
        order = np.argsort(np.concatenate([self.stored.id, other.stored.id]), kind="stable")
        joined = [
            np.concatenate([getattr(each.loads, name) for each in (self, other)]) for name in SleepingLoads._fields
        ]
        return SleepingContacts(self.stored.merge(other.stored), SleepingLoads(*(values[order] for values in joined)))

    def with_both_ends_among(self, tets: Bools) -> Bools:
        """Returns which contacts have no side that is a tet other than these, (m,): (k,)."""
        return ends_among(self.loads.tet, tets)

    def collider_loads(self, contacts: ContactStep) -> Floats:
        """Returns force [N] and torque about its origin [N m] on every collider, see `contact_loads.py`, (c, 6)."""
        keys, origins = loaded_collider_keys(contacts), collider_origins(contacts)
        names = other_side_names(contacts)
        row = np.array([keys.index(name) if name in keys else -1 for name in names], np.int64)[self.loads.other]
        loads, on_collider = np.zeros((len(keys), 6)), (row >= 0) & (self.loads.tet[:, 1] < 0)
        force = -self.loads.load[on_collider]
        torque = np.cross(self.loads.place[on_collider] - origins[row[on_collider]], force)
        np.add.at(loads, row[on_collider], np.concatenate([force, torque], axis=1))
        return loads

    def with_loads_of(self, pushing: ContactLoads) -> ContactLoads:
        """Returns the loads of a step and those of what sleeps in it."""
        own = self.loads.select(self.loads.load.any(axis=1))
        if not len(own.other):
            return pushing
        return replace(
            pushing,
            positions=np.concatenate([pushing.positions, own.place]),
            normals=np.concatenate([pushing.normals, own.direction]),
            forces=np.concatenate([pushing.forces, own.load]),
            other=np.concatenate([pushing.other, own.other]),
        )


def ends_among(ends: Indices, tets: Bools) -> Bools:
    """Returns which contacts, by both ends, (k, 2), have no side that is a tet other than these, (m,): (k,)."""
    return tets[ends[:, 0]] & ((ends[:, 1] < 0) | tets[np.maximum(ends[:, 1], 0)])


def split_sleeping(contacts: ContactStep, state: State, tets: Bools) -> None:
    """Moves the contacts of a step that a state stores, and whose sides sleep, to those that sleep.

    Args:
        contacts: Of the step, at its end.
        state: Changed.
        tets: Which ones sleep, (m,).
    """
    stored = PersistentContacts.from_state(state)
    rows = np.searchsorted(contacts.contact_set.id, stored.id)
    is_asleep = ends_among(contacts.contact_state.attachment.tet[rows, :2], tets)
    if not is_asleep.any():
        return
    rows = rows[is_asleep]
    pressed = select_loads(contacts, rows)
    load = np.where(contacts.was_active[rows][:, None], pressed.forces, 0.0)
    ends = contacts.contact_state.attachment.tet[rows, :2].copy()
    loads = SleepingLoads(ends, pressed.positions, pressed.normals, load, pressed.other)
    SleepingContacts.from_state(state).merge(SleepingContacts(stored.select(is_asleep), loads)).store_in(state)
    stored.select(~is_asleep).store_in(state)


def wake_contacts(state: State, still_asleep: Bools) -> None:
    """Gives a state back the contacts of what sleeps no longer; `still_asleep`: tets, (m,)."""
    sleeping = SleepingContacts.from_state(state)
    if not len(sleeping):
        return
    stays = sleeping.with_both_ends_among(still_asleep)
    PersistentContacts.from_state(state).merge(sleeping.select(~stays).stored).store_in(state)
    sleeping.select(stays).store_in(state)


def all_contact_loads(contacts: ContactStep, state: State) -> ContactLoads:
    """Returns the contacts that push at the end of a step, those of what sleeps included."""
    return SleepingContacts.from_state(state).with_loads_of(contact_loads(contacts))
