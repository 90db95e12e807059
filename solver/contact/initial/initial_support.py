# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts that bear bodies in their first frame."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...constraints.external_forces import PointForces
from ...mechanics.model import Model
from ...mechanics.state import State
from ...runtime.arrays import Bools, Floats
from ..colliders.build_colliders import BuiltCollider
from ..detection.contact_points import ContactPoints
from ..detection.contact_set import ColliderPose, ContactSet, find_contacts
from ..detection.persistent_contacts import PersistentContacts

MAX_SUPPORT_GAP = 0.1  # gap up to which a contact bears a body from the start, in tet sizes
FRICTIONLESS_STIFFNESS_RATIO = (
    1.0e-6  # stiffness of frictionless contacts along the surface, so that they say where a body is
)
FORCE_CHANGE_TOLERANCE = 1.0e-4  # share of the forces that may still change
MAX_SLIDING_FORCE_CHANGE = 2.0e-2  # share above which a body that still changes is not borne


@dataclass
class SupportContacts:
    """Contacts with stiffness k along the normal and κ across, and what they bear at displacements u.

    Attributes:
        touching: Where they are.
        points: The contact points of all bodies.
        turn: Rotation of each contact's collider, (c, 3, 3).
        mu, k, kappa: μ, [N/m], [N/m], (c,).
        on: Whether they push, (c,).
        wrong: Share of the forces that the last `update` changed.
    """

    touching: ContactSet
    points: ContactPoints
    rotation: Floats
    mu: Floats
    k: Floats
    kappa: Floats
    is_active: Bools
    force_change: float = 0.0

    def springs(self) -> PointForces:
        """Returns the contacts as springs without force at the first frame."""
        outer = self.touching.normal[:, :, None] * self.touching.normal[:, None, :]
        matrices = self.k[:, None, None] * outer + self.kappa[:, None, None] * (np.eye(3) - outer)
        matrices *= self.is_active[:, None, None]
        which = self.touching.id % max(len(self.points), 1)
        none = np.zeros((len(which), 3))
        return PointForces(self.points.tet[which], self.points.weights[which], none, matrices, np.zeros_like(matrices))

    def update(self, moved: Floats) -> bool:
        """Takes how far the points would sag [m], (c, 3); returns whether other contacts push or slide now."""
        force, shear = self._forces(moved)
        length = np.linalg.norm(shear, axis=1)
        kappa = np.maximum(sliding_stiffness(self.k, self.mu * force, length), FRICTIONLESS_STIFFNESS_RATIO * self.k)
        pushes = force > 0.0
        changed = np.where(self.is_active == pushes, np.abs(kappa - self.kappa) * length * pushes, np.inf)
        self.force_change = float(changed.sum() / max(force.sum(), 1e-300))
        self.is_active, self.kappa = pushes, kappa
        return self.force_change > FORCE_CHANGE_TOLERANCE

    def remember(self, state: State, moved: Floats) -> None:
        """Writes what the contacts bear into the memory of the first frame, as if they had sagged by `moved` [m]."""
        force, shear = self._forces(moved)
        shear *= (self.kappa / self.k)[:, None]
        local = np.einsum("kji,kj->ki", self.rotation, shear)
        shift = self.touching.gap + force / self.k
        on = np.flatnonzero(self.is_active)
        touching = self.touching.select(on)
        normal = np.einsum("kji,kj->ki", self.rotation[on], touching.normal)
        PersistentContacts(
            touching.id, force[on], local[on], touching.side, shift[on], touching.gap, self.k[on], normal
        ).store_in(state)

    def _forces(self, moved: Floats) -> tuple[Floats, Floats]:
        """Returns normal forces, not below zero [N], (c,), and displacements across [m], (c, 3)."""
        along = np.einsum("ki,ki->k", moved, self.touching.normal)
        return np.maximum(-self.k * along, 0.0), moved - along[:, None] * self.touching.normal


def find_support_contacts(
    colliders: tuple[BuiltCollider, ...],
    poses: list[Floats],
    points: ContactPoints,
    model: Model,
    state: State,
    is_wanted: Bools,
    gravity: Floats,
    dt: float,
) -> SupportContacts:
    """Returns the contacts that would stop nodes that are wanted, (n,), from going down with gravity."""
    places = [ColliderPose(collider, np.vstack([pose, pose])) for collider, pose in zip(colliders, poses, strict=True)]
    start = PointForces(points.tet, points.weights).positions(state.x, model.tets)
    down = gravity / max(float(np.linalg.norm(gravity)), 1e-300)
    end = start + MAX_SUPPORT_GAP * points.tet_size[:, None] * down
    count, which = max(len(points), 1), np.arange(len(points), dtype=np.int32)
    touching = ContactSet.concatenate(
        [
            find_contacts(place, number, points, which, start, end, PersistentContacts.empty())
            for number, place in enumerate(places)
        ]
    )
    wanted = is_wanted[model.tets[points.tet]].any(axis=1)
    touching = touching.select(wanted[touching.id % count])
    place = touching.id // count
    k = points.stiffness_for(dt, touching.id % count)
    return SupportContacts(
        touching=touching,
        points=points,
        rotation=np.array([pose[:3] for pose in poses]).reshape(-1, 3, 3)[place],
        mu=np.array([collider.friction for collider in colliders])[place],
        k=k,
        kappa=k.copy(),
        is_active=np.ones(len(touching), bool),
    )


def sliding_stiffness(k: Floats, most: Floats, shear: Floats) -> Floats:
    """Returns κ [N/m], (k,), that gives at lengths of shear [m] no more than the friction `most` [N]."""
    kappa = k.copy()
    slides = most < k * shear
    kappa[slides] = most[slides] / shear[slides]
    return kappa
