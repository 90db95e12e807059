# SPDX-License-Identifier: GPL-3.0-or-later
"""Forces and work of the contacts of a step, after it: for display, for loads on colliders, for the energy balance."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ..constraints.tet_pair_springs import PairTets
from ..runtime.arrays import Bools, Floats, Indices, floats
from ..runtime.jit import kernel
from .contact_step import ContactStep
from .detection.contact_binding import fill_relative_positions
from .detection.contact_set import Int64s

NO_COLLIDER_ROWS = np.zeros(0, np.int64)


@dataclass(frozen=True, eq=False)
class ContactLoads:
    """Contacts that pushed in a step, k of them.

    Attributes:
        positions: Of their points at its end [m], (k, 3).
        normals: Directions in which the points were pushed, (k, 3).
        forces: On the points, friction included [N], (k, 3).
        names: Keys of the bodies and colliders on the other sides.
        other: Index in `names` of the other side, (k,).
    """

    positions: Floats = field(default_factory=lambda: np.zeros((0, 3)))
    normals: Floats = field(default_factory=lambda: np.zeros((0, 3)))
    forces: Floats = field(default_factory=lambda: np.zeros((0, 3)))
    names: tuple[str, ...] = ()
    other: Indices = field(default_factory=lambda: np.zeros(0, np.int32))

    def __len__(self) -> int:
        return len(self.other)


@dataclass(frozen=True, eq=False)
class ContactWork:
    """Contacts that pushed in a step, c of them.

    Attributes:
        force: On the point of each [N], (c, 3).
        relative_motion: Motion of the point relative to the other side [m], (c, 3).
        prescribed_motion: Prescribed motion of the other side, zero where it is a body [m], (c, 3).
        is_prescribed: Whether the motion of the other side is prescribed, (c,).
        is_resolving: Whether the contact resolves an overlap, (c,).
        island: Of the point, (c,).
    """

    force: Floats
    relative_motion: Floats
    prescribed_motion: Floats
    is_prescribed: Bools
    is_resolving: Bools
    island: Indices


class ContactForces(NamedTuple):
    """What kernels need to compute the force of each contact.

    Attributes:
        is_active: Whether it pushed, (k,).
        normal: (k, 3).
        normal_force: [N], (k,).
        friction: [N], (k, 3).
        attachment: Tets and weights.
    """

    is_active: Bools
    normal: Floats
    normal_force: Floats
    friction: Floats
    attachment: PairTets


def contact_loads(contacts: ContactStep) -> ContactLoads:
    """Returns the contacts that pushed in a step."""
    return select_loads(contacts, np.flatnonzero(contacts.was_active))


def select_loads(contacts: ContactStep, which: Int64s) -> ContactLoads:
    """Returns some contacts of a step, (k,); what does not push has neither a place nor a force."""
    contact_set = contacts.contact_set
    positions, forces = np.zeros((2, len(contact_set), 3))
    if len(contact_set):
        contact_forces(_forces(contacts), contacts.end[0], contacts.model.tets, positions, forces)
    id = contact_set.id[which]
    other = id // contacts.point_count
    if contacts.surfaces:
        surface = contacts.surfaces.other_surfaces(id)
        other = np.where(surface >= 0, surface + len(contacts.collider_poses), other)
    return ContactLoads(
        positions[which],
        contact_set.normal[which],
        forces[which],
        tuple(other_side_names(contacts)),
        other.astype(np.int32),
    )


def collider_loads(contacts: ContactStep) -> Floats:
    """Returns force [N] and torque about its origin [N m] on every collider of `loaded_collider_keys`, (c, 6).

    The origin of a collider that deforms is the mean of its vertices.
    """
    id, rows, origins = contacts.contact_set.id, NO_COLLIDER_ROWS, collider_origins(contacts)
    if contacts.surfaces:
        rows = contacts.surfaces.loaded_colliders(id[contacts.rigid_count() :], _rigid_collider_keys(contacts))[2]
    loads = np.zeros((len(origins), 6))
    if len(id):
        x, tets = contacts.end[0], contacts.model.tets
        add_loads(_forces(contacts), x, tets, id, contacts.point_count, rows, origins, loads)
    return loads


def loaded_collider_keys(contacts: ContactStep) -> list[str]:
    """Returns the colliders that may carry loads: rigid ones, then those that deform."""
    keys = _rigid_collider_keys(contacts)
    return keys + contacts.surfaces.loaded_colliders(NO_COLLIDER_ROWS, keys)[0] if contacts.surfaces else keys


def other_side_names(contacts: ContactStep) -> list[str]:
    """Returns the keys of rigid colliders, then those of all surfaces: what may be on the other side."""
    keys = _rigid_collider_keys(contacts)
    return [*keys, *contacts.surfaces.surfaces.names] if contacts.surfaces else keys


def collider_origins(contacts: ContactStep) -> Floats:
    """Returns the reference points of torques on `loaded_collider_keys` [m], (c, 3)."""
    origins = contacts.colliders.origin
    if not contacts.surfaces:
        return origins
    centers = contacts.surfaces.loaded_colliders(NO_COLLIDER_ROWS, _rigid_collider_keys(contacts))[1]
    return np.concatenate([origins, np.array(centers).reshape(-1, 3)])


def contact_work(contacts: ContactStep) -> ContactWork:
    """Returns the forces and motions of the contacts that pushed in a step, after it."""
    state, active, tets = contacts.contact_state, np.flatnonzero(contacts.was_active), contacts.model.tets
    x, normal_force, friction = contacts.end
    end_tet, carried = state.attachment.tet[active], contacts.contact_set.carried[active]
    weights = state.attachment.weights[active]
    force = np.maximum(normal_force[active], 0.0)[:, None] * contacts.contact_set.normal[active] + friction[active]

    def relative_positions(at: Floats) -> Floats:
        out = np.empty((len(active), 3))
        fill_relative_positions(end_tet, weights, tets, floats(at), out)
        return out

    return ContactWork(
        force=force,
        relative_motion=relative_positions(x) - carried,
        prescribed_motion=carried - relative_positions(contacts.start),
        is_prescribed=end_tet[:, 1] < 0,
        is_resolving=state.lift[active] < 0.0,
        island=contacts.model.pattern.island_of_row[tets[end_tet[:, 0], 0]],
    )


def _rigid_collider_keys(contacts: ContactStep) -> list[str]:
    return [pose.collider.key for pose in contacts.collider_poses]


def _forces(contacts: ContactStep) -> ContactForces:
    _, normal_force, friction = contacts.end
    normal, attachment = contacts.contact_set.normal, contacts.contact_state.attachment
    return ContactForces(contacts.was_active, normal, normal_force, friction, attachment)


@kernel()
def contact_forces(forces, x, tets, positions, out):
    """Writes positions of points [m] and forces on them [N], (k, 3) each; rows of inactive contacts stay as they are.

    `forces` are `ContactForces`; nodes are at x [m], (n, 3).
    """
    is_active = forces.is_active
    for c in range(len(is_active)):
        if is_active[c]:
            write_contact_force(c, forces, x, tets, positions[c], out[c])


@kernel(inline=True, device_only=True)
def write_contact_force(c, forces, x, tets, position, out):
    """Writes the position of the point of a contact [m], and the force on it [N], (3,) each."""
    end_tet, weights = forces.attachment
    for i in range(3):
        position[i] = 0.0
        for a in range(4):
            position[i] += weights[c, a] * x[tets[end_tet[c, 0], a], i]
        out[i] = forces.normal_force[c] * forces.normal[c, i] + forces.friction[c, i]


@kernel()
def add_loads(forces, x, tets, id, point_count, rows, origins, loads):
    """Adds the forces of contacts on colliders.

    Args:
        forces: `ContactForces` at the end of the step.
        x, tets: Node positions then [m], (n, 3), and the tets.
        id, point_count: The contacts, and the number of points that rigid colliders meet.
        rows: Colliders of the last contacts, −1 where the other side is a body; of the others it is id / point_count.
        origins: Reference points of torques [m], (c, 3).
        loads: Changed: force [N] and torque [N m] on every collider, (c, 6).
    """
    rigid_count, is_active = len(id) - len(rows), forces.is_active
    at, f = np.empty(3), np.empty(3)
    for c in range(len(id)):
        row = id[c] // point_count if c < rigid_count else rows[c - rigid_count]
        if row < 0 or not is_active[c]:
            continue
        write_contact_force(c, forces, x, tets, at, f)
        for i in range(3):
            j, k = (i + 1) % 3, (i + 2) % 3
            loads[row, i] -= f[i]
            loads[row, 3 + i] -= (at[j] - origins[row, j]) * f[k] - (at[k] - origins[row, k]) * f[j]
