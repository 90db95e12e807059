# SPDX-License-Identifier: GPL-3.0-or-later
"""What contacts remember from one step to the next, kept in `State.fields`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...mechanics.state import State
from ...mechanics.state_fields import CONTACT_PREFIX as PREFIX
from ...runtime.arrays import Floats, Indices

TRIANGLE = PREFIX + "triangle"
FIELD_NAMES = ("id", "force", "shear", "side", "shift", "lift", "kappa", "normal")


@dataclass(frozen=True)
class PersistentContacts:
    """Contacts that pushed at the end of a step.

    Attributes:
        id: See `Touching`, rising, (k,) int64.
        force: Normal force [N], (k,).
        shear: What the sticking spring is stretched by, in the collider's space [m], (k, 3).
        side: Side of an open sheet, (k,) int8.
        shift, lift, kappa: See `Pushing` [m], [m], [N/m], (k,).
        normal: n in the collider's space, (k, 3).
        triangle: Of the skin, −1 of rigid colliders, (k,); None where there are no skins.
    """

    id: npt.NDArray[np.int64]
    force: Floats
    shear: Floats
    side: npt.NDArray[np.int8]
    shift: Floats
    lift: Floats
    kappa: Floats
    normal: Floats
    triangle: Indices | None = None

    @staticmethod
    def from_state(state: State) -> PersistentContacts:
        """Returns what a state remembers."""
        if PREFIX + "id" not in state.fields:
            return PersistentContacts.empty()
        return _from_arrays([*(state.fields[PREFIX + name] for name in FIELD_NAMES), state.fields.get(TRIANGLE)])

    def store_in(self, state: State) -> None:
        """Writes it into a state."""
        for name in FIELD_NAMES:
            state.fields[PREFIX + name] = getattr(self, name)
        if self.triangle is not None:
            state.fields[TRIANGLE] = self.triangle

    @staticmethod
    def allocate(count: int, with_skins: bool = False) -> PersistentContacts:
        """Returns a memory to be written, of `count` contacts."""
        rows, numbers = np.empty((2, count, 3)), np.empty((4, count))
        id, side = np.empty(count, np.int64), np.empty(count, np.int8)
        triangle = np.full(count, -1, np.int32) if with_skins else None
        return PersistentContacts(id, numbers[0], rows[0], side, numbers[1], numbers[2], numbers[3], rows[1], triangle)

    @staticmethod
    def empty() -> PersistentContacts:
        """Returns a memory of nothing."""
        return _without_history(np.zeros(0, np.int64))

    def select(self, which: slice | npt.NDArray) -> PersistentContacts:
        """Returns some of the contacts."""
        triangle = self.triangle[which] if self.triangle is not None else None
        return _from_arrays([*(getattr(self, name)[which] for name in FIELD_NAMES), triangle])

    def look_up(self, ids: npt.NDArray[np.int64]) -> PersistentContacts:
        """Returns what is remembered of contacts, zero where nothing is."""
        if not len(self.id):
            return _without_history(ids)
        place = np.minimum(np.searchsorted(self.id, ids), len(self.id) - 1)
        known = self.id[place] == ids
        return PersistentContacts(
            ids,
            np.where(known, self.force[place], 0.0),
            np.where(known[:, None], self.shear[place], 0.0),
            np.where(known, self.side[place], 0).astype(np.int8),
            np.where(known, self.shift[place], 0.0),
            np.where(known, self.lift[place], 0.0),
            np.where(known, self.kappa[place], 0.0),
            np.where(known[:, None], self.normal[place], 0.0),
        )


def _from_arrays(values: list[Any]) -> PersistentContacts:
    return PersistentContacts(*values)


def _without_history(ids: npt.NDArray[np.int64]) -> PersistentContacts:
    count = len(ids)
    force, shift, lift, kappa = np.zeros((4, count))
    side = np.zeros(count, np.int8)
    return PersistentContacts(ids, force, np.zeros((count, 3)), side, shift, lift, kappa, np.zeros((count, 3)))
