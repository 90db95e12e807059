# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts of surfaces in one step: finds them by a search, and attaches them to tets.

A point p of one body touches a place q of another. p moves with its tet; q moves with the tet under its triangle, or
with those of the triangle's corners if that tet is far (`contact_binding.py`). If q is on a collider, it carries p
along. If p is a vertex of a collider, q is the point that the contact pushes, in the opposite direction.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

import numpy as np

from ...mechanics.island_kinds import rigid_islands
from ...mechanics.model import Model
from ...runtime.arrays import Bools, Floats, Indices
from ..surfaces.collision_surfaces import (
    CollisionSurfaces,
    PointTriangleContacts,
    SurfaceBinding,
    interpolate_vertices,
)
from .collider_surface_motion import PrescribedSurfaces
from .contact_binding import (
    AttachedContacts,
    ContactTriangles,
    PrescribedVertices,
    TetNodes,
    attach_contacts,
    triangle_rotations,
)
from .contact_sample_points import MIN_INERTIAL_STIFFNESS_FACTOR
from .contact_set import ContactSet, Int64s, no_surface_contacts
from .edge_contacts import EdgeContacts
from .persistent_contacts import PersistentContacts
from .release_crushed import is_released
from .rigid_contact_places import meet_on_rigid_bodies
from .surface_boxes import surfaces_may_meet
from .surface_materials import ContactMaterials

NO_ROTATIONS = np.zeros((0, 3, 3))


class SurfaceSearch(Protocol):
    """Finds where surfaces touch that move from their start to an end of the step [m], (v, 3)."""

    def find(self, end: Floats) -> PointTriangleContacts:
        """Returns the contacts."""

    def find_known(self, end: Floats) -> PointTriangleContacts:
        """Returns those of them that the step before had, or earlier searches of this step."""


class SurfaceSearchFactory(Protocol):
    """Begins the search of a step."""

    def __call__(
        self, surfaces: CollisionSurfaces, start: Floats, previous: PersistentContacts, *, is_movable: Bools
    ) -> SurfaceSearch:
        """Takes vertices at the start [m], (v, 3), contacts of the step before, and which vertices may move, (v,).

        The contacts have ids of the search.
        """


class SurfaceContacts:
    """The surfaces during one step."""

    def __init__(
        self,
        materials: ContactMaterials,
        collider_surfaces: PrescribedSurfaces,
        model: Model,
        dt: float,
        search: SurfaceSearchFactory,
        allows_multiple_tets: bool = True,
    ) -> None:
        """Takes the surfaces, and the positions of those of colliders during a step of `dt` [s].

        Places outside of all tets may be attached to several tets, if it `allows_multiple_tets`; not in steps of flesh,
        which take each pair of tets for a contact.
        """
        self.allows_multiple_tets = allows_multiple_tets and len(materials.support_tet) > 0
        self.materials, self.model, self.dt = materials, model, dt
        self.collider_surfaces, self.make_search = collider_surfaces, search
        self.surfaces, self.is_prescribed = collider_surfaces.surfaces, collider_surfaces.surfaces.tet < 0
        self.is_rigid_tet = _rigid_tets(model)
        edges = collider_surfaces.surfaces.edges
        self.edges = EdgeContacts(materials, edges, collider_surfaces, model, dt) if edges else None

    def begin(self, x: Floats, is_fixed: Bools | None, previous: PersistentContacts, id_offset: int) -> None:
        """Begins a step at node positions x [m], (n, 3).

        Args:
            x: See above.
            is_fixed: Which nodes are fixed, (n,); None: none.
            previous: Contacts of the step before, those with rigid colliders too.
            id_offset: Offset of ids of contacts to those of the search.
        """
        self.x, self.id_offset, self.is_fixed = x, id_offset, is_fixed
        self.previous = previous.select(slice(int(np.searchsorted(previous.id, id_offset)), None))
        self.has_begun = False
        if len(self.previous):
            self._begin_search()

    def _begin_search(self) -> None:
        self.has_begun, own = True, self.previous
        self.is_movable = ~self.is_prescribed
        if self.is_fixed is not None:
            self.is_movable &= ~self.is_fixed[self.surfaces.nodes].all(axis=1)
        self.start = self._vertex_positions(self.x, self.collider_surfaces.start)
        first_edge = int(np.searchsorted(own.id, self.first_edge_id))
        of_points = self._previous_points(own.select(slice(first_edge)))
        self.search = self.make_search(self.surfaces, self.start, of_points, is_movable=self.is_movable)
        if self.edges:
            of_edges = self._previous_edges(own.select(slice(first_edge, None)))
            self.edges.begin(self.x, self.start, self.is_movable, self.first_edge_id, of_edges)

    def find(self, x: Floats) -> ContactSet:
        """Returns the contacts if nodes move to x [m], (n, 3); their carried positions are left to `attach`."""
        if not self.has_begun:
            if not surfaces_may_meet(self.collider_surfaces, self.model, self.x, x):
                return no_surface_contacts()
            self._begin_search()
        end = self._vertex_positions(x, self.collider_surfaces.end)
        contacts = self._contact_set(self.search.find(end))
        return ContactSet.concatenate([contacts, self.edges.find(end)]) if self.edges else contacts

    def find_known(self, x: Floats) -> ContactSet:
        """Returns what `find` does, of contacts of the step before and of earlier searches alone."""
        if not self.has_begun:
            return no_surface_contacts()
        end = self._vertex_positions(x, self.collider_surfaces.end)
        contacts = self._contact_set(self.search.find_known(end))
        return ContactSet.concatenate([contacts, self.edges.find_known(end)]) if self.edges else contacts

    def _contact_set(self, found: PointTriangleContacts) -> ContactSet:
        """Returns points on triangles as contacts, without those of which nothing moves."""
        normal = np.where(self.is_prescribed[found.point, None], -found.normal, found.normal)
        contacts = ContactSet(
            found.id + self.id_offset,
            normal,
            found.gap,
            np.zeros_like(normal),
            found.side,
            found.triangle,
            found.place,
        )
        is_kept = self.is_movable[found.point] | self.is_movable[self.surfaces.triangles[found.triangle]].any(axis=1)
        is_kept &= ~is_released(self.surfaces, found, self.x, self.start, self.is_prescribed)
        return contacts if is_kept.all() else contacts.select(is_kept)

    @property
    def first_edge_id(self) -> int:
        """Offset of ids of contacts to those of the search of edges."""
        return self.id_offset + self.surfaces.point_id_count

    def attach(self, contacts: ContactSet, which: Int64s) -> AttachedContacts:
        """Returns the attachments of the contacts `which`, and writes their carried positions."""
        attached = self._attach(contacts, which)
        if len(self.is_rigid_tet):
            carried, nodes = contacts.carried[which], TetNodes(self.model.tets, self.model.X, self.x)
            meet_on_rigid_bodies(attached, carried, self.is_rigid_tet, nodes)
            contacts.carried[which] = carried
        return attached

    def _attach(self, contacts: ContactSet, which: Int64s) -> AttachedContacts:
        if self.edges and len(which) and contacts.id[which[-1]] >= self.first_edge_id:
            count = int(np.searchsorted(contacts.id[which], self.first_edge_id))
            points = self._attach(contacts, which[:count])
            return AttachedContacts.concatenate(points, self.edges.attach(contacts, which[count:]))
        assert contacts.triangle is not None and contacts.place is not None
        other_surface, point = self._surface_and_point(contacts.id[which] - self.id_offset)
        attached, carried = AttachedContacts.allocate(len(which)), np.empty((len(which), 3))
        attach_contacts(
            ContactTriangles(point, other_surface, contacts.triangle[which], contacts.place[which]),
            self.surfaces.arrays,
            SurfaceBinding(self.surfaces.tet, self.surfaces.weights),
            self.materials.arrays,
            TetNodes(self.model.tets, self.model.X, self.x),
            PrescribedVertices(self.collider_surfaces.start, self.collider_surfaces.end),
            MIN_INERTIAL_STIFFNESS_FACTOR / self.dt**2,
            self.allows_multiple_tets,
            attached,
            carried,
        )
        contacts.carried[which] = carried
        return attached

    def triangle_rotations(self, triangle: Indices) -> Floats:
        """Returns the rotations of triangles from rest to the start of the step, (k, 3, 3).

        None below 0: beside strands there is no triangle.
        """
        if not len(triangle):
            return NO_ROTATIONS
        if not len(self.surfaces.triangles):  # a body of which only splinters are left
            return np.broadcast_to(np.eye(3), (len(triangle), 3, 3))
        rotations = np.empty((len(triangle), 3, 3))
        triangle_rotations(triangle, self.surfaces.triangles, self.surfaces.rest, self.start, rotations)
        return rotations

    def other_surfaces(self, id: Int64s) -> Int64s:
        """Returns the surface on the other side of contacts, −1 for rigid colliders, (k,)."""
        surface, point = self._surface_and_point(id - self.id_offset)
        other = np.where(self.is_prescribed[point], self.surfaces.surface_of[point], surface)
        if self.edges and self.has_begun:
            is_edge = id >= self.first_edge_id
            other[is_edge] = self.edges.other_surfaces(id[is_edge])
        return np.where(id < self.id_offset, -1, other)

    def loaded_colliders(self, id: Int64s, keys: list[str]) -> tuple[list[str], list[Floats], Int64s]:
        """Returns further colliders that may carry loads, their origins [m], and the collider of each contact, (k,).

        Args:
            id: Contacts.
            keys: Colliders that have numbers already, in their order.
        """
        number, all_keys, origins = np.full(len(self.surfaces), -1, np.int64), list(keys), []
        for surface in np.flatnonzero(self.surfaces.body < 0).tolist():
            name = self.surfaces.names[surface]
            if name not in all_keys:
                all_keys.append(name)
                origins.append(self.collider_surfaces.origins[surface])
            number[surface] = all_keys.index(name)
        return all_keys[len(keys) :], origins, number[self.other_surfaces(id)]

    def points_of(self, id: Int64s) -> Int64s:
        """Returns the vertices that are the points of contacts, −1 of contacts of edges, (k,)."""
        return np.where(id < self.first_edge_id, self._surface_and_point(id - self.id_offset)[1], -1)

    def _surface_and_point(self, id: Int64s) -> tuple[Int64s, Int64s]:
        """Returns the surface of the triangle and the point of contacts with ids of the search, (k,) each."""
        rest, point = np.divmod(id, self.surfaces.vertex_count)
        return rest % len(self.surfaces), point

    def _vertex_positions(self, x: Floats, prescribed: Floats) -> Floats:
        """Returns the positions of vertices for node positions x; those of colliders are prescribed [m], (v, 3)."""
        positions = prescribed.copy()
        interpolate_vertices(x, self.surfaces.nodes, self.surfaces.weights, positions)
        return positions

    def _previous_points(self, own: PersistentContacts) -> PersistentContacts:
        """Returns contacts of points with ids of the search and normals at the start."""
        if own.triangle is None or not len(own):
            return PersistentContacts.empty()
        normal = np.einsum("kij,kj->ki", self.triangle_rotations(own.triangle), own.normal)
        id = own.id - self.id_offset
        normal[self.is_prescribed[self._surface_and_point(id)[1]]] *= -1.0
        return replace(own, id=id, normal=normal)

    def _previous_edges(self, own: PersistentContacts) -> PersistentContacts:
        """Returns contacts of edges with ids of their search and normals at the start."""
        assert self.edges is not None
        if own.triangle is None or not len(own):
            return PersistentContacts.empty()
        normal = np.einsum("kij,kj->ki", self.triangle_rotations(own.triangle), own.normal)
        id = own.id - self.first_edge_id
        normal[self.edges.is_prescribed_of(id)] *= -1.0
        return replace(own, id=id, normal=normal)


def _rigid_tets(model: Model) -> Bools:
    """Returns which tets are rigid bodies, (m,); (0,) if there are none."""
    rigid = rigid_islands(model)
    return rigid[model.pattern.island_of_row[model.tets[:, 0]]] if rigid.any() else np.zeros(0, bool)
