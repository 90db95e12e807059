# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts of sharp edges, and edges of sheets, in one step: finds them by a search, and attaches them to tets.

A place p on an edge of one body touches a place q on an edge of another. Each moves with the tet of the middle of its
edge, by its position at rest, or with the ends of its edge in a sheet. The motion of an edge of a collider is
prescribed; then q is the point that the contact pushes, in the opposite direction. Stored normals and shears rotate
with the triangle beside the second edge.
"""

from __future__ import annotations

import functools

import numpy as np

from ...mechanics.model import Model
from ...runtime.arrays import Bools, Floats, Indices, floats
from ...runtime.row_cross_products import row_cross_products
from ..surfaces.collision_surfaces import MAX_CONTACTS_PER_SURFACE
from ..surfaces.edge_edge_search import EdgeEdgeContacts, EdgeEdgeSearch
from ..surfaces.sharp_edges import SharpEdges
from .collider_surface_motion import PrescribedSurfaces
from .contact_binding import AttachedContacts, PrescribedVertices, TetNodes
from .contact_sample_points import MIN_INERTIAL_STIFFNESS_FACTOR
from .contact_set import ContactSet, Int64s
from .edge_binding import BoundEdges, EdgePlaces, attach_edges
from .persistent_contacts import PersistentContacts
from .release_crushed import MAX_CROWDED_DEPTH
from .surface_materials import ContactMaterials


class EdgeContacts:
    """The sharp edges of surfaces during one step."""

    def __init__(
        self,
        materials: ContactMaterials,
        edges: SharpEdges,
        collider_surfaces: PrescribedSurfaces,
        model: Model,
        dt: float,
    ) -> None:
        """Takes the edges, and the positions of those of colliders during a step of `dt` [s]."""
        self.materials, self.edges, self.collider_surfaces = materials, edges, collider_surfaces
        self.model, self.dt = model, dt
        self.is_prescribed = edges.tet < 0

    def begin(self, x: Floats, start: Floats, is_movable: Bools, id_offset: int, previous: PersistentContacts) -> None:
        """Begins a step.

        Args:
            x: Node positions at its start [m], (n, 3).
            start: Vertices of the surfaces then [m], (v, 3).
            is_movable: Which of these are not fixed, (v,).
            id_offset: Offset of ids of contacts to those of the search.
            previous: Contacts of the step before, with ids of the search.
        """
        self.x, self.id_offset, surfaces = x, id_offset, self.collider_surfaces.surfaces
        ends = np.minimum(self.edges.ends[:, :2], surfaces.vertex_count - 1)
        self.is_movable = is_movable[ends].any(axis=1) & ~self.is_prescribed
        positions = np.concatenate([start, self.collider_surfaces.corners_start])
        may_move = np.concatenate([is_movable, np.zeros(len(positions) - len(start), bool)])
        self.search = EdgeEdgeSearch(surfaces, self.edges, positions, previous, may_move)

    def find(self, end: Floats) -> ContactSet:
        """Returns the contacts if the vertices of surfaces move to `end` [m], (v, 3)."""
        return self._contact_set(self.search.find(np.concatenate([end, self.collider_surfaces.corners_end])))

    def find_known(self, end: Floats) -> ContactSet:
        """Returns what `find` does, of contacts of the step before and of earlier searches alone."""
        return self._contact_set(self.search.find_known(np.concatenate([end, self.collider_surfaces.corners_end])))

    def _contact_set(self, found: EdgeEdgeContacts) -> ContactSet:
        """Returns pairs of edges as contacts."""
        is_kept = self.is_movable[found.a] | self.is_movable[found.b]
        is_deep = found.gap < -MAX_CROWDED_DEPTH * self.edges.size[found.b]
        released = np.flatnonzero(self.is_prescribed[found.a] & is_deep & ~self.edges.is_of_sheet[found.b])
        if len(released):
            is_kept[released] &= ~self._is_inverted(found.b[released])
        normal = np.where(self.is_prescribed[found.a, None], -found.normal, found.normal)
        contacts = ContactSet(
            found.id + self.id_offset,
            normal,
            found.gap,
            np.zeros_like(normal),
            np.ones(len(is_kept), np.int8),
            self.edges.triangle[found.b],
            self._pack_place(found),
        )
        return contacts if is_kept.all() else contacts.select(is_kept)

    def attach(self, contacts: ContactSet, which: Int64s) -> AttachedContacts:
        """Returns the attachments of the contacts `which`, and writes their carried positions."""
        assert contacts.place is not None
        attached, carried = AttachedContacts.allocate(len(which)), np.empty((len(which), 3))
        attach_edges(
            self._unpack_place(contacts.place[which]),
            self._bound_edges,
            self.materials.arrays,
            TetNodes(self.model.tets, self.model.X, self.x),
            self._prescribed_ends,
            MIN_INERTIAL_STIFFNESS_FACTOR / self.dt**2,
            attached,
            carried,
        )
        contacts.carried[which] = carried
        return attached

    @functools.cached_property
    def _bound_edges(self) -> BoundEdges:
        edges, node = self.edges, np.ascontiguousarray(self.collider_surfaces.surfaces.nodes[:, 0])
        return BoundEdges(edges.ends, edges.tet, edges.size, edges.surface, edges.is_of_sheet, edges.at_rest, node)

    @functools.cached_property
    def _prescribed_ends(self) -> PrescribedVertices:
        of = self.collider_surfaces
        return PrescribedVertices(
            np.concatenate([of.start, of.corners_start]), np.concatenate([of.end, of.corners_end])
        )

    def other_surfaces(self, id: Int64s) -> Int64s:
        """Returns the surface on the other side of contacts, (k,)."""
        chain_a, chain_b = np.divmod((id - self.id_offset) // MAX_CONTACTS_PER_SURFACE, self.edges.chains)
        first = self.edges.chain_start
        a, b = first[chain_a], first[chain_b]
        return np.where(self.is_prescribed[a], self.edges.surface[a], self.edges.surface[b])

    def is_prescribed_of(self, id: Int64s) -> Bools:
        """Returns whether the first edge belongs to a collider, for ids of the search, (k,)."""
        chain = id // MAX_CONTACTS_PER_SURFACE // self.edges.chains
        first = np.minimum(self.edges.chain_start[chain], len(self.edges) - 1)  # chains of bodies that broke have none
        return self.is_prescribed[first]

    def _is_inverted(self, edge: Indices) -> Bools:
        """Returns whether the tets of edges are inverted (`release_crushed.py`), (k,)."""
        o, a, b, c = np.moveaxis(self.x[self.model.tets[self.edges.tet[edge]]], 1, 0)
        return np.einsum("ki,ki->k", row_cross_products(a - o, b - o), c - o) <= 0.0

    def _pack_place(self, found: EdgeEdgeContacts) -> Floats:
        """Returns `ContactSet.place` of edges: both parameters and the number of the pair, (k, 3)."""
        number = found.a.astype(np.int64) * len(self.edges) + found.b
        return np.concatenate([found.place, number[:, None]], axis=1)

    def _unpack_place(self, place: Floats) -> EdgePlaces:
        """Returns the edges and the parameters on them."""
        a, b = np.divmod(place[:, 2].astype(np.int64), len(self.edges))
        return EdgePlaces(a.astype(np.int32), b.astype(np.int32), floats(place[:, 0]), floats(place[:, 1]))
