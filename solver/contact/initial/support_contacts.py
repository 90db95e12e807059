# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts that support bodies in their first frame."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...constraints.point_forces import PointForces
from ...mechanics.model import Model
from ...mechanics.state import State
from ...runtime.arrays import Bools, Floats
from ..colliders.rigid_colliders import BuiltCollider
from ..detection.collider_broad_phase import NearbyPoints
from ..detection.contact_sample_points import ContactPoints
from ..detection.contact_set import ContactSet
from ..detection.persistent_contacts import PersistentContacts
from ..detection.rigid_collider_contacts import ColliderPose, find_contacts

MAX_SUPPORT_GAP = 0.1  # gap up to which a contact supports a body from the start, in tet sizes
FRICTIONLESS_STIFFNESS_RATIO = 1.0e-6  # κ of frictionless contacts over k, which fixes the position of a body
FORCE_CHANGE_TOLERANCE = 1.0e-4  # share of the forces that may still change
MAX_SLIDING_FORCE_CHANGE = 2.0e-2  # share above which a body that still changes has no support


@dataclass
class SupportContacts:
    """Contacts with stiffness k along the normal and κ along the surface, and their forces at displacements u.

    Attributes:
        contacts: Their planes.
        points: The contact points of all bodies.
        rotation: Of each contact's collider, (c, 3, 3).
        mu, k, kappa: μ, [N/m], [N/m], (c,).
        is_active: Whether they push, (c,).
        force_change: Share of the forces that the last `update` changed.
    """

    contacts: ContactSet
    points: ContactPoints
    rotation: Floats
    mu: Floats
    k: Floats
    kappa: Floats
    is_active: Bools
    force_change: float = 0.0

    def springs(self) -> PointForces:
        """Returns the contacts as springs without force at the first frame."""
        outer = self.contacts.normal[:, :, None] * self.contacts.normal[:, None, :]
        matrices = self.k[:, None, None] * outer + self.kappa[:, None, None] * (np.eye(3) - outer)
        matrices *= self.is_active[:, None, None]
        which = self.contacts.id % max(len(self.points), 1)
        none = np.zeros((len(which), 3))
        return PointForces(self.points.tet[which], self.points.weights[which], none, matrices, np.zeros_like(matrices))

    def update(self, moved: Floats) -> bool:
        """Updates the contacts by the sag of the points [m], (c, 3).

        Returns whether other contacts push or slide now.
        """
        force, shear = self._forces(moved)
        length = np.linalg.norm(shear, axis=1)
        kappa = np.maximum(sliding_stiffness(self.k, self.mu * force, length), FRICTIONLESS_STIFFNESS_RATIO * self.k)
        is_active = force > 0.0
        change = np.abs(kappa - self.kappa) * length * is_active
        changed = np.where(self.is_active == is_active, change, np.inf)
        self.force_change = float(changed.sum() / max(force.sum(), 1e-300))
        self.is_active, self.kappa = is_active, kappa
        return self.force_change > FORCE_CHANGE_TOLERANCE

    def remember(self, state: State, moved: Floats) -> None:
        """Stores the contacts for the first step, with their forces after a sag of `moved` [m], (c, 3)."""
        force, shear = self._forces(moved)
        shear *= (self.kappa / self.k)[:, None]
        local = np.einsum("kji,kj->ki", self.rotation, shear)
        shift = self.contacts.gap + force / self.k
        active = np.flatnonzero(self.is_active)
        contacts = self.contacts.select(active)
        normal = np.einsum("kji,kj->ki", self.rotation[active], contacts.normal)
        PersistentContacts(
            contacts.id,
            force[active],
            local[active],
            contacts.side,
            shift[active],
            contacts.gap,
            self.k[active],
            normal,
        ).store_in(state)

    def _forces(self, moved: Floats) -> tuple[Floats, Floats]:
        """Returns normal forces, not below zero [N], (c,), and displacements along the surface [m], (c, 3)."""
        along = np.einsum("ki,ki->k", moved, self.contacts.normal)
        return np.maximum(-self.k * along, 0.0), moved - along[:, None] * self.contacts.normal


def find_support_contacts(
    colliders: tuple[BuiltCollider, ...],
    poses: list[Floats],
    points: ContactPoints,
    model: Model,
    state: State,
    is_supported: Bools,
    gravity: Floats,
    dt: float,
) -> SupportContacts:
    """Returns the contacts that would support the nodes `is_supported`, (n,), against gravity."""
    own_poses = [
        ColliderPose(collider, np.vstack([pose, pose])) for collider, pose in zip(colliders, poses, strict=True)
    ]
    start = PointForces(points.tet, points.weights).positions(state.x, model.tets)
    down = gravity / max(float(np.linalg.norm(gravity)), 1e-300)
    end = start + MAX_SUPPORT_GAP * points.tet_size[:, None] * down
    count, which = max(len(points), 1), np.arange(len(points), dtype=np.int32)
    nearby, previous = NearbyPoints(which, start, end), PersistentContacts.empty()
    contacts = ContactSet.concatenate(
        [find_contacts(pose, number, points, nearby, previous) for number, pose in enumerate(own_poses)]
    )
    is_included = is_supported[model.tets[points.tet]].any(axis=1)
    contacts = contacts.select(is_included[contacts.id % count])
    collider = contacts.id // count
    k = points.stiffness_for(dt, contacts.id % count)
    return SupportContacts(
        contacts=contacts,
        points=points,
        rotation=np.array([pose[:3] for pose in poses]).reshape(-1, 3, 3)[collider],
        mu=np.array([each.friction for each in colliders])[collider],
        k=k,
        kappa=k.copy(),
        is_active=np.ones(len(contacts), bool),
    )


def sliding_stiffness(k: Floats, max_friction: Floats, shear: Floats) -> Floats:
    """Returns κ [N/m], (k,), with a friction of at most `max_friction` [N] at lengths of shear [m]."""
    kappa = k.copy()
    slides = max_friction < k * shear
    kappa[slides] = max_friction[slides] / shear[slides]
    return kappa
