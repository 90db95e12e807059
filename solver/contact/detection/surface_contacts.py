# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts of skins in one step: found by their search, and tied to the tets that bear them.

Where a point p of one body meets a place q of another, p is tied to its tet, and q to that which bears its triangle, or
to those of the triangle's corners where that one is far (`multi_tet_contacts.py`). Where q is told, it carries p along.
Where p is told, as a vertex of a collider is, q is the point that is pushed, the other way.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from ...mechanics.model import Model
from ...runtime.arrays import Bools, Floats, Indices
from ..surfaces.collision_surfaces import CollisionSurfaces, PointTriangleContacts, PreviousContacts
from ..surfaces.edge_search import PreviousEdgeContacts
from ..surfaces.vertex_positions import interpolate_vertices
from .contact_attachment import ContactAttachment, attach_contacts, rotations_between
from .contact_materials import ContactMaterials
from .contact_points import MIN_INERTIAL_STIFFNESS_FACTOR
from .contact_set import ContactSet
from .edge_contacts import EdgeContacts
from .multi_tet_contacts import MAX_TETS_PER_CONTACT
from .persistent_contacts import PersistentContacts
from .prescribed_surfaces import PrescribedSurfaces
from .release_crushed import is_released

NO_ROTATIONS = np.zeros((0, 3, 3))


class SurfaceSearch(Protocol):
    """Finds where skins meet that go from their start to an end of the step [m], (v, 3)."""

    def find(self, end: Floats) -> PointTriangleContacts:
        """Returns what meets."""


class SurfaceSearchFactory(Protocol):
    """Begins the search of a step."""

    def __call__(self, skins: CollisionSurfaces, start: Floats, known: PreviousContacts) -> SurfaceSearch:
        """Takes vertices at the start [m], (v, 3), and contacts remembered."""


class SurfaceContacts:
    """The skins during one step."""

    def __init__(
        self,
        surfaces: ContactMaterials,
        told: PrescribedSurfaces,
        model: Model,
        dt: float,
        search: SurfaceSearchFactory,
        spreads: bool = True,
    ) -> None:
        """Takes the skins, and where those of colliders are during a step of `dt` [s].

        Places outside of all tets may hang on several of them, if it `allows_multiple_tets` them; not in steps of
        flesh, which take each pair of tets for a contact.
        """
        self.allows_multiple_tets = spreads and len(surfaces.support_tet) > 0
        self.surfaces, self.model, self.dt, self.prescribed, self.make_search = surfaces, model, dt, told, search
        self.skins, self.is_prescribed = told.skins, told.skins.tet < 0
        edges = told.skins.edges
        self.edges = EdgeContacts(surfaces, edges, told, model, dt) if edges else None

    def begin(self, x: Floats, is_fixed: Bools | None, memory: PersistentContacts, first: int) -> None:
        """Begins a step at node positions x [m], (n, 3); ids in a memory are larger by `id_offset` than those of
        skins.
        """
        self.x, self.id_offset = x, first
        self.is_movable = ~self.is_prescribed
        if is_fixed is not None:
            self.is_movable &= ~is_fixed[self.skins.nodes].all(axis=1)
        self.start = self._vertex_positions(x, self.prescribed.start)
        own = memory.select(slice(int(np.searchsorted(memory.id, first)), None))
        edges = int(np.searchsorted(own.id, self.first_edge_id))
        self.search = self.make_search(self.skins, self.start, self._previous_points(own.select(slice(edges))))
        if self.edges:
            known = self._previous_edges(own.select(slice(edges, None)))
            self.edges.begin(x, self.start, self.is_movable, self.first_edge_id, known)

    def find(self, x: Floats) -> ContactSet:
        """Returns the contacts where nodes go to x [m], (n, 3); what carries their points is left to `attach`."""
        end = self._vertex_positions(x, self.prescribed.end)
        met = self.search.find(end)
        normal = np.where(self.is_prescribed[met.point, None], -met.normal, met.normal)
        found = ContactSet(
            met.id + self.id_offset, normal, met.gap, np.zeros_like(normal), met.side, met.triangle, met.place
        )
        moves = self.is_movable[met.point] | self.is_movable[self.skins.triangles[met.triangle]].any(axis=1)
        moves &= ~is_released(self.skins, met, self.x, self.start, self.is_prescribed)
        found = found if moves.all() else found.select(moves)
        return ContactSet.concatenate([found, self.edges.find(end)]) if self.edges else found

    @property
    def first_edge_id(self) -> int:
        """By how much ids in a memory are larger than those of edges."""
        return self.id_offset + self.skins.point_id_count

    def attach(self, touching: ContactSet, which: npt.NDArray[np.int64]) -> ContactAttachment:
        """Returns what the contacts `which` are tied to, and writes what carries their points."""
        if self.edges and len(which) and touching.id[which[-1]] >= self.first_edge_id:
            return self._attach_points_and_edges(self.edges, touching, which)
        assert touching.triangle is not None and touching.place is not None
        id, triangle, place = touching.id[which] - self.id_offset, touching.triangle[which], touching.place[which]
        skins, model, points, k = self.skins, self.model, self.surfaces.points, len(which)
        other_skin, point = self._surface_and_point(id)
        tie = ContactAttachment(
            np.empty((k, MAX_TETS_PER_CONTACT), np.int32), np.empty((k, 4 * MAX_TETS_PER_CONTACT)), np.empty((3, k))
        )
        carried = np.empty((k, 3))
        attach_contacts(
            point,
            triangle,
            place,
            skins.skin_of[point],
            other_skin,
            self.surfaces.friction,
            self.x,
            self.prescribed.start,
            self.prescribed.end,
            model.X,
            model.tets,
            skins.tet,
            skins.weights,
            self.surfaces.support_tet,
            skins.triangles,
            skins.rest,
            points.stiffness,
            points.mass,
            points.tet_size,
            MIN_INERTIAL_STIFFNESS_FACTOR / self.dt**2,
            self.allows_multiple_tets,
            tie.ends,
            tie.weights,
            tie.parameters,
            carried,
        )
        touching.carried[which] = carried
        return tie

    def triangle_rotations(self, triangle: Indices) -> Floats:
        """Returns the rotations of triangles from rest to the start of the step, (k, 3, 3)."""
        if not len(self.skins.triangles):  # all in splinters
            return np.broadcast_to(np.eye(3), (len(triangle), 3, 3))
        corners = self.skins.triangles[triangle]
        return rotations_between(self.skins.rest[corners], self.start[corners])

    def other_surfaces(self, id: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Returns the skin on the other side of contacts, −1 of rigid ones, (k,)."""
        skin, point = self._surface_and_point(id - self.id_offset)
        other = np.where(self.is_prescribed[point], self.skins.skin_of[point], skin)
        if self.edges:
            of_edge = id >= self.first_edge_id
            other[of_edge] = self.edges.other_surfaces(id[of_edge])
        return np.where(id < self.id_offset, -1, other)

    def loaded_colliders(
        self, id: npt.NDArray[np.int64], keys: list[str]
    ) -> tuple[list[str], list[Floats], npt.NDArray[np.int64]]:
        """Returns further colliders that bear loads, their origins [m], and which bears that of each contact, (k,).

        Args:
            id: Contacts.
            keys: Colliders that are counted already, and numbered in their order.
        """
        number, found, origins = np.full(len(self.skins), -1, np.int64), list(keys), []
        for skin in np.flatnonzero(self.skins.body < 0).tolist():
            name = self.skins.names[skin]
            if name not in found:
                found.append(name)
                origins.append(self.prescribed.origins[skin])
            number[skin] = found.index(name)
        return found[len(keys) :], origins, number[self.other_surfaces(id)]

    def _surface_and_point(self, id: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Returns the skin of the triangle and the point of contacts as `PointTriangleContacts` has them, (k,) each."""
        rest, point = np.divmod(id, self.skins.vertex_count)
        return rest % len(self.skins), point

    def _vertex_positions(self, x: Floats, told: Floats) -> Floats:
        """Returns where vertices are for node positions x, those of colliders where they are told to be [m], (v, 3)."""
        at = told.copy()
        interpolate_vertices(x, self.skins.nodes, self.skins.weights, at)
        return at

    def _attach_points_and_edges(
        self, edges: EdgeContacts, touching: ContactSet, which: npt.NDArray[np.int64]
    ) -> ContactAttachment:
        """Returns what contacts of points and then of edges are tied to; see `attach`."""
        count = int(np.searchsorted(touching.id[which], self.first_edge_id))
        both = self.attach(touching, which[:count]), edges.attach(touching, which[count:])
        ends, weights = (np.concatenate([getattr(tie, name) for tie in both]) for name in ("ends", "weights"))
        return ContactAttachment(ends, weights, np.concatenate([tie.parameters for tie in both], axis=1))

    def _previous_edges(self, own: PersistentContacts) -> PreviousEdgeContacts:
        """Returns what is remembered of edges."""
        assert self.edges is not None
        if own.triangle is None or not len(own.id):
            return PreviousEdgeContacts.none()
        normal = np.einsum("kij,kj->ki", self.triangle_rotations(own.triangle), own.normal)
        id = own.id - self.first_edge_id
        normal[self.edges.is_prescribed_of(id)] *= -1.0
        return PreviousEdgeContacts(id, own.triangle, own.shift, normal)

    def _previous_points(self, own: PersistentContacts) -> PreviousContacts:
        """Returns what is remembered of points of skins."""
        if own.triangle is None or not len(own.id):
            return PreviousContacts.none()
        normal = np.einsum("kij,kj->ki", self.triangle_rotations(own.triangle), own.normal)
        normal[self.is_prescribed[self._surface_and_point(own.id - self.id_offset)[1]]] *= -1.0
        return PreviousContacts(own.id - self.id_offset, own.triangle, own.side, own.shift, normal)
