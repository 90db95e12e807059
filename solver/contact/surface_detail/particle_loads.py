# SPDX-License-Identifier: GPL-3.0-or-later
"""What contacts did to points and vertices in a step: forces on them, and how far those that yield were pushed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...runtime.arrays import Floats
from ..contact_step import ContactStep
from ..detection.contact_set import Int64s


@dataclass(frozen=True, eq=False)
class ParticleLoads:
    """Forces of contacts on r points or vertices; on all others there are none.

    Attributes:
        point: Which, rising, (r,).
        force: [N], (r, 3).
        excess: How far springs were too long at the end of the step [m], (r, 3).
    """

    point: Int64s
    force: Floats
    excess: Floats

    @staticmethod
    def sum(loads: Sequence[ParticleLoads]) -> ParticleLoads:
        """Returns loads, also several of one point, added up by point."""
        at = np.concatenate([np.zeros(0, np.int64), *(each.point for each in loads)])
        point, row = np.unique(at, return_inverse=True)
        values = np.concatenate([np.zeros((0, 6)), *(np.hstack([each.force, each.excess]) for each in loads)])
        added = [np.bincount(row, column, minlength=len(point)) for column in values.T]
        return ParticleLoads(point, np.stack(added[:3], axis=1), np.stack(added[3:], axis=1))

    def within(self, rows: slice) -> ParticleLoads:
        """Returns the loads of some rows, counted from the first of these."""
        own = slice(*np.searchsorted(self.point, [rows.start, rows.stop]))
        return ParticleLoads(self.point[own] - rows.start, self.force[own], self.excess[own])


def point_loads(contacts: ContactStep) -> ParticleLoads:
    """Returns the loads of `ContactPoints`, by rigid colliders."""
    count = contacts.rigid_count()
    which = np.flatnonzero(contacts.was_active[:count] & (contacts.end[1][:count] > 0.0))
    point = contacts.contact_set.id[which] % contacts.point_count
    return ParticleLoads.sum([ParticleLoads(point, *_force_and_excess(contacts, which))])


def vertex_loads(contacts: ContactStep) -> ParticleLoads:
    """Returns the loads of vertices of `CollisionSurfaces`, by surfaces and by sharp points of rigid colliders."""
    surfaces, found = contacts.surfaces, contacts.contact_set
    assert surfaces is not None
    pushes = contacts.was_active & (contacts.end[1] > 0.0)
    pushes[: contacts.rigid_count()] = False
    which = np.flatnonzero(pushes)
    point = surfaces.points_of(found.id[which])
    which, point = which[point >= 0], point[point >= 0]  # edges are no particles
    if not len(which) or found.triangle is None or found.place is None:
        return ParticleLoads.sum([])
    force, excess = _force_and_excess(contacts, which)
    corners, place = surfaces.surfaces.triangles[found.triangle[which]].astype(np.int64), found.place[which]
    is_prescribed = surfaces.is_prescribed[point]
    points = surfaces.materials.points
    yields_first = points.binding_stiffness * points.yield_length
    own = contacts.contact_state.yield_force[which] >= yields_first[point] * (1.0 - 1.0e-9)
    own &= ~is_prescribed
    loads = [ParticleLoads(point[~is_prescribed], force[~is_prescribed], (excess * own[:, None])[~is_prescribed])]
    sign = np.where(is_prescribed, 1.0, -1.0)[:, None]  # a vertex of a collider pushes the place
    lever = np.einsum("ka,ka->k", place, place)[:, None]
    for corner in range(3):
        share = sign * place[:, corner, None]
        loads.append(ParticleLoads(corners[:, corner], share * force, share / lever * excess * ~own[:, None]))
    return ParticleLoads.sum(loads)


def _force_and_excess(contacts: ContactStep, which: Int64s) -> tuple[Floats, Floats]:
    """Returns the forces [N] of some contacts on their points, and how far these are too deep [m], (k, 3) each."""
    _, normal_force, friction = contacts.end
    normal = contacts.contact_set.normal[which]
    return normal_force[which, None] * normal + friction[which], contacts.excess_depth[which, None] * normal
