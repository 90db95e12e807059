# SPDX-License-Identifier: GPL-3.0-or-later
"""What contacts press with in a step, once it is over: for pictures, and as forces on colliders."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..arrays import Floats, Indices
from ..jit import kernel
from .response import ContactStep

NO_ROWS = np.zeros(0, np.int64)

Load = tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Pressed:
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


def pressed(contacts: ContactStep) -> Pressed:
    """Returns what pressed in a step."""
    at, forces = _press(contacts)
    which = np.flatnonzero(contacts.acted)
    names, id = [place.collider.key for place in contacts.places], contacts.touching.id[which]
    other = id // contacts.count
    if contacts.skins:
        skin = contacts.skins.others(id)
        other, names = np.where(skin >= 0, skin + len(names), other), [*names, *contacts.skins.skins.names]
    normals = contacts.touching.normal[which]
    return Pressed(at[which], normals, forces[which], tuple(names), other.astype(np.int32))


def loads(contacts: ContactStep) -> dict[str, Load]:
    """Returns force [N] and torque about its origin [N m] on every collider, six numbers by key.

    The origin of a collider that deforms is the middle of its vertices.
    """
    at, forces = _press(contacts)
    rigid, places, rows = contacts.rigid_count(), contacts.places, NO_ROWS
    keys, origins = [place.collider.key for place in places], [place.pose[7] for place in places]
    if contacts.skins:
        soft, middles, rows = contacts.skins.loaded(contacts.touching.id[rigid:], keys)
        keys, origins = [*keys, *soft], [*origins, *middles]
    if not keys:
        return {}
    out = np.zeros((len(keys), 6))
    add_loads(contacts.touching.id, contacts.count, rows, at, forces, np.array(origins), out)
    return {key: tuple(numbers) for key, numbers in zip(keys, out.tolist(), strict=True)}


def _press(contacts: ContactStep) -> tuple[Floats, Floats]:
    touching, pushing, (x, normal_force, shear) = contacts.touching, contacts.pushing, contacts.end
    at, forces = np.empty((2, len(touching), 3))
    press(
        contacts.acted, touching.normal, normal_force, shear, pushing.kappa, x, contacts.model.tets, pushing.ends,
        pushing.weights, at, forces,
    )  # fmt: skip
    return at, forces


@kernel()
def press(on, normal, normal_force, shear, kappa, x, tets, ends, weights, positions, forces):
    """Writes where points are [m] and what presses them [N], zero where nothing does, (k, 3) each."""
    for c in range(len(on)):
        for i in range(3):
            positions[c, i], forces[c, i] = 0.0, 0.0
        if not on[c]:
            continue
        for a in range(4):
            node, w = tets[ends[c, 0], a], weights[c, a]
            for i in range(3):
                positions[c, i] += w * x[node, i]
        for i in range(3):
            forces[c, i] = normal_force[c] * normal[c, i] - kappa[c] * shear[c, i]


@kernel()
def add_loads(id, count, rows, positions, forces, origins, loads):
    """Adds what contacts press colliders with.

    Args:
        id, count: Contacts, and the number of points that rigid colliders are met with.
        rows: Colliders of the last contacts, −1 where the other side is a body; of the others it is id / count.
        positions, forces: As `press` writes them.
        origins: About which torques are [m], (c, 3).
        loads: Changed: force [N] and torque [N m] on every collider, (c, 6).
    """
    rigid = len(id) - len(rows)
    for c in range(len(id)):
        row = id[c] // count if c < rigid else rows[c - rigid]
        if row < 0:
            continue
        x, y, z = -forces[c, 0], -forces[c, 1], -forces[c, 2]
        a = positions[c, 0] - origins[row, 0]
        b = positions[c, 1] - origins[row, 1]
        d = positions[c, 2] - origins[row, 2]
        loads[row, 0] += x
        loads[row, 1] += y
        loads[row, 2] += z
        loads[row, 3] += b * z - d * y
        loads[row, 4] += d * x - a * z
        loads[row, 5] += a * y - b * x
