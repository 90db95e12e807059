# SPDX-License-Identifier: GPL-3.0-or-later
"""What contacts did to points and vertices in a step: forces on them, and how far those that yield were pushed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...runtime.arrays import Floats
from ..contact_step import ContactStep
from ..detection.contact_set import Int64s


@dataclass(frozen=True, eq=False)
class ParticleLoads:
    """Forces of contacts on r points or vertices.

    Attributes:
        force: [N], (r, 3).
        excess: How far springs were too long at the end of the step [m], (r, 3).
    """

    force: Floats
    excess: Floats

    @staticmethod
    def zero(count: int) -> ParticleLoads:
        """Returns no forces."""
        return ParticleLoads(np.zeros((count, 3)), np.zeros((count, 3)))

    def add(self, rows: Int64s, force: Floats, excess: Floats) -> None:
        """Adds forces [N] and excesses [m], (k, 3) each, on some rows, (k,)."""
        np.add.at(self.force, rows, force)
        np.add.at(self.excess, rows, excess)


def point_loads(contacts: ContactStep) -> ParticleLoads:
    """Returns the loads of all `ContactPoints`, by rigid colliders."""
    loads, count = ParticleLoads.zero(len(contacts.points)), contacts.rigid_count()
    which = np.flatnonzero(contacts.was_active[:count] & (contacts.end[1][:count] > 0.0))
    force, excess = _force_and_excess(contacts, which)
    loads.add(contacts.contact_set.id[which] % contacts.point_count, force, excess)
    return loads


def vertex_loads(contacts: ContactStep) -> ParticleLoads:
    """Returns the loads of all vertices of `CollisionSurfaces`, by surfaces and by sharp points of rigid colliders."""
    surfaces, found = contacts.surfaces, contacts.contact_set
    assert surfaces is not None
    loads = ParticleLoads.zero(surfaces.surfaces.vertex_count)
    pushes = contacts.was_active & (contacts.end[1] > 0.0)
    pushes[: contacts.rigid_count()] = False
    which = np.flatnonzero(pushes)
    point = surfaces.points_of(found.id[which])
    which, point = which[point >= 0], point[point >= 0]  # edges are no particles
    if not len(which) or found.triangle is None or found.place is None:
        return loads
    force, excess = _force_and_excess(contacts, which)
    corners, place = surfaces.surfaces.triangles[found.triangle[which]].astype(np.int64), found.place[which]
    is_prescribed = surfaces.is_prescribed[point]
    points = surfaces.materials.points
    yields_first = points.binding_stiffness * points.yield_length
    own = contacts.contact_state.yield_force[which] >= yields_first[point] * (1.0 - 1.0e-9)
    own &= ~is_prescribed
    loads.add(point[~is_prescribed], force[~is_prescribed], (excess * own[:, None])[~is_prescribed])
    sign = np.where(is_prescribed, 1.0, -1.0)[:, None]  # a vertex of a collider pushes the place
    lever = np.einsum("ka,ka->k", place, place)[:, None]
    for corner in range(3):
        share = sign * place[:, corner, None]
        loads.add(corners[:, corner], share * force, share / lever * excess * ~own[:, None])
    return loads


def _force_and_excess(contacts: ContactStep, which: Int64s) -> tuple[Floats, Floats]:
    """Returns the forces [N] of some contacts on their points, and how far these are too deep [m], (k, 3) each."""
    _, normal_force, friction = contacts.end
    normal = contacts.contact_set.normal[which]
    return normal_force[which, None] * normal + friction[which], contacts.excess_depth[which, None] * normal
