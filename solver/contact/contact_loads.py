# SPDX-License-Identifier: GPL-3.0-or-later
"""What contacts press with in a step, once it is over: for pictures, and as forces on colliders."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..runtime.arrays import Floats, Indices
from ..runtime.jit import kernel
from .contact_step import ContactStep

NO_COLLIDER_ROWS = np.zeros(0, np.int64)


@dataclass(frozen=True, eq=False)
class ContactLoads:
    """Contacts that pushed in a step, k of them.

    Attributes:
        positions: Where their points were at its end [m], (k, 3).
        normals: Which way the points were pushed, (k, 3).
        forces: On the points, friction included [N], (k, 3).
        names: Keys of the bodies and colliders on the other side,
        other: and which of them it is, (k,).
    """

    positions: Floats = field(default_factory=lambda: np.zeros((0, 3)))
    normals: Floats = field(default_factory=lambda: np.zeros((0, 3)))
    forces: Floats = field(default_factory=lambda: np.zeros((0, 3)))
    names: tuple[str, ...] = ()
    other: Indices = field(default_factory=lambda: np.zeros(0, np.int32))

    def __len__(self) -> int:
        return len(self.other)


def contact_loads(contacts: ContactStep) -> ContactLoads:
    """Returns what pressed in a step."""
    touching, pushing, (x, normal_force, friction) = contacts.contact_set, contacts.contact_state, contacts.end
    at, forces = np.empty((2, len(touching), 3))
    if len(touching):
        contact_forces(
            contacts.was_active, touching.normal, normal_force, friction, x, contacts.model.tets, pushing.ends,
            pushing.weights, at, forces,
        )  # fmt: skip
    which = np.flatnonzero(contacts.was_active)
    names, id = _rigid_collider_keys(contacts), touching.id[which]
    other = id // contacts.point_count
    if contacts.skins:
        skin = contacts.skins.other_surfaces(id)
        other, names = np.where(skin >= 0, skin + len(names), other), [*names, *contacts.skins.skins.names]
    return ContactLoads(at[which], touching.normal[which], forces[which], tuple(names), other.astype(np.int32))


def collider_loads(contacts: ContactStep) -> Floats:
    """Returns force [N] and torque about its origin [N m] on every collider of `loaded_collider_keys`, (c, 6).

    The origin of a collider that deforms is the middle of its vertices.
    """
    touching, pushing, rows, origins = (
        contacts.contact_set,
        contacts.contact_state,
        NO_COLLIDER_ROWS,
        contacts.collider_origins,
    )
    x, normal_force, friction = contacts.end
    if contacts.skins:
        _, middles, rows = contacts.skins.loaded_colliders(
            touching.id[contacts.rigid_count() :], _rigid_collider_keys(contacts)
        )
        origins = np.concatenate([origins, np.array(middles).reshape(-1, 3)])
    out = np.zeros((len(origins), 6))
    if len(touching):
        add_loads(
            contacts.was_active, touching.id, contacts.point_count, rows, touching.normal, normal_force, friction, x,
            contacts.model.tets, pushing.ends, pushing.weights, origins, out,
        )  # fmt: skip
    return out


def loaded_collider_keys(contacts: ContactStep) -> list[str]:
    """Returns the colliders that may bear loads: those that are rigid, then those that deform."""
    keys = _rigid_collider_keys(contacts)
    return keys + contacts.skins.loaded_colliders(NO_COLLIDER_ROWS, keys)[0] if contacts.skins else keys


def _rigid_collider_keys(contacts: ContactStep) -> list[str]:
    return [place.collider.key for place in contacts.collider_poses]


@kernel()
def contact_forces(on, normal, normal_force, friction, x, tets, ends, weights, positions, forces):
    """Writes where points are [m] and what presses them [N], (k, 3) each; nothing where nothing does."""
    for c in range(len(on)):
        if on[c]:
            contact_force(c, normal, normal_force, friction, x, tets, ends, weights, positions[c], forces[c])


@kernel(device_only=True)
def contact_force(c, normal, normal_force, friction, x, tets, ends, weights, position, force):
    """Writes where the point of a contact is [m], and what presses it [N], (3,) each."""
    for i in range(3):
        position[i] = 0.0
        for a in range(4):
            position[i] += weights[c, a] * x[tets[ends[c, 0], a], i]
        force[i] = normal_force[c] * normal[c, i] + friction[c, i]


@kernel()
def add_loads(on, id, count, rows, normal, normal_force, friction, x, tets, ends, weights, origins, loads):
    """Adds what contacts press colliders with.

    Args:
        on, id, count: Which contacts push, all of them, and the number of points that rigid colliders are met with.
        rows: Colliders of the last contacts, −1 where the other side is a body; of the others it is id / count.
        normal, normal_force, friction, x, tets, ends, weights: Of the contacts at the end of the step.
        origins: About which torques are [m], (c, 3).
        loads: Changed: force [N] and torque [N m] on every collider, (c, 6).
    """
    rigid = len(id) - len(rows)
    at, f = np.empty(3), np.empty(3)
    for c in range(len(id)):
        row = id[c] // count if c < rigid else rows[c - rigid]
        if row < 0 or not on[c]:
            continue
        contact_force(c, normal, normal_force, friction, x, tets, ends, weights, at, f)
        for i in range(3):
            j, k = (i + 1) % 3, (i + 2) % 3
            loads[row, i] -= f[i]
            loads[row, 3 + i] -= (at[j] - origins[row, j]) * f[k] - (at[k] - origins[row, k]) * f[j]
