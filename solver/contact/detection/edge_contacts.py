# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts of sharp edges, and edges of sheets, in one step: finds them by a search, and attaches them to tets.

A place p on an edge of one body touches a place q on an edge of another. Each moves with the tet of the middle of its
edge, by its position at rest, or with the ends of its edge in a sheet. The motion of an edge of a collider is
prescribed; then q is the point that the contact pushes, in the opposite direction. Stored normals and shears rotate
with the triangle beside the second edge.
"""

from __future__ import annotations

import numpy as np

from ...mechanics.model import Model
from ...mesh.embedding import barycentric_weights
from ...mesh.sheet_mesh import weights_in_hinges
from ...runtime.arrays import Bools, Floats, Indices
from ..surfaces.collision_surfaces import MAX_CONTACTS_PER_SURFACE
from ..surfaces.edge_edge_search import EdgeEdgeContacts, EdgeEdgeSearch
from ..surfaces.sharp_edges import SharpEdges
from .collider_surface_motion import PrescribedSurfaces
from .contact_binding import AttachedContacts
from .contact_sample_points import MIN_INERTIAL_STIFFNESS_FACTOR
from .contact_set import ContactSet, Int64s
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
        self.search = EdgeEdgeSearch(surfaces, self.edges, positions, previous)

    def find(self, end: Floats) -> ContactSet:
        """Returns the contacts if the vertices of surfaces move to `end` [m], (v, 3)."""
        found = self.search.find(np.concatenate([end, self.collider_surfaces.corners_end]))
        is_kept = self.is_movable[found.a] | self.is_movable[found.b]
        if len(is_kept):
            is_deep = found.gap < -MAX_CROWDED_DEPTH * self.edges.size[found.b]
            is_released = self.is_prescribed[found.a] & is_deep & ~self.edges.is_of_sheet[found.b]
            is_kept &= ~(is_released & self._is_inverted(found.b))
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
        edges, model = self.edges, self.model
        a, b, along_a, along_b = self._unpack_place(contacts.place[which])
        is_prescribed, tets = self.is_prescribed[a], model.tets
        is_pair = ~is_prescribed
        tet_a, tet_b = np.where(is_prescribed, edges.tet[b], edges.tet[a]), edges.tet[b]
        first = self._weights(np.where(is_prescribed, b, a), np.where(is_prescribed, along_b, along_a))
        second = self._weights(b, along_b)
        attached = AttachedContacts.allocate(len(which))
        tet, weights = attached.attachment
        tet[:, 0], tet[:, 1] = tet_a, np.where(is_prescribed, -1, tet_b)
        weights[:, :4], weights[is_pair, 4:8] = first, second[is_pair]
        position = np.einsum("ka,kai->ki", first, self.x[tets[tet_a]])
        position[is_pair] -= np.einsum("ka,kai->ki", second[is_pair], self.x[tets[tet_b[is_pair]]])
        if is_prescribed.any():
            start = np.concatenate([self.collider_surfaces.start, self.collider_surfaces.corners_start])
            end = np.concatenate([self.collider_surfaces.end, self.collider_surfaces.corners_end])
            motion = self._positions_on_edges(end, a, along_a) - self._positions_on_edges(start, a, along_a)
            position[is_prescribed] += motion[is_prescribed]
        contacts.carried[which] = position
        self._fill_materials(attached, (a, b), (along_a, along_b), is_prescribed)
        return attached

    def _weights(self, edge: Indices, along: Floats) -> Floats:
        """Returns the weights of places on edges of bodies in their tets, (k, 4)."""
        edges, tets, weights = self.edges, self.model.tets, np.zeros((len(edge), 4))
        solid, sheet = np.flatnonzero(~edges.is_of_sheet[edge]), np.flatnonzero(edges.is_of_sheet[edge])
        if len(solid):
            places = self._positions_on_edges(edges.at_rest, edge[solid], along[solid])
            weights[solid] = barycentric_weights(self.model.X, tets, places, edges.tet[edge[solid]])
        if len(sheet):  # hinges have no inside
            ends = self.collider_surfaces.surfaces.nodes[edges.ends[edge[sheet], :2], 0]
            share = np.stack([1.0 - along[sheet], along[sheet]], axis=1)
            weights[sheet] = weights_in_hinges(tets[edges.tet[edge[sheet]]], ends, share)
        return weights

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

    def _fill_materials(
        self,
        attached: AttachedContacts,
        edges: tuple[Indices, Indices],
        along: tuple[Floats, Floats],
        is_prescribed: Bools,
    ) -> None:
        """Writes sizes, stiffnesses and μ of places `along` pairs of edges, as `attach_contacts` does for points."""
        points, friction, surface = self.materials.points, self.materials.friction, self.edges.surface
        (a, b), (along_a, along_b) = edges, along
        attached.size[:] = np.minimum(self.edges.size[a], self.edges.size[b])
        weights = attached.attachment.weights[:, :8]
        lever = np.maximum(np.abs(weights).reshape(-1, 2, 4).max(axis=2), 1.0) ** 2
        lever_b = lever[:, 0] * is_prescribed + lever[:, 1] * ~is_prescribed
        sides = ((b, along_b, lever_b), (np.where(is_prescribed, b, a), along_a, lever[:, 0]))
        compliance, mass = np.zeros(len(a)), np.full(len(a), np.inf)
        for number, (edge, parameter, own_lever) in enumerate(sides):
            counts = ~is_prescribed if number else np.ones(len(a), bool)
            i, j = self.edges.ends[edge, :2].T
            k = ((1.0 - parameter) * points.stiffness[i] + parameter * points.stiffness[j]) / own_lever
            own_mass = ((1.0 - parameter) * points.mass[i] + parameter * points.mass[j]) / own_lever
            compliance[counts] += 1.0 / k[counts]
            mass[counts] = np.minimum(mass, own_mass)[counts]
        attached.k[:] = np.maximum(1.0 / compliance, MIN_INERTIAL_STIFFNESS_FACTOR / self.dt**2 * mass)
        own, other = friction[surface[a]], friction[surface[b]]
        attached.mu[:] = np.where(is_prescribed, own, np.sqrt(own * other))

    def _is_inverted(self, edge: Indices) -> Bools:
        """Returns whether the tets of edges are inverted (`release_crushed.py`), (k,)."""
        o, a, b, c = np.moveaxis(self.x[self.model.tets[self.edges.tet[edge]]], 1, 0)
        return np.einsum("ki,ki->k", np.cross(a - o, b - o), c - o) <= 0.0

    def _pack_place(self, found: EdgeEdgeContacts) -> Floats:
        """Returns `ContactSet.place` of edges: both parameters and the number of the pair, (k, 3)."""
        number = found.a.astype(np.int64) * len(self.edges) + found.b
        return np.concatenate([found.place, number[:, None]], axis=1)

    def _unpack_place(self, place: Floats) -> tuple[Indices, Indices, Floats, Floats]:
        """Returns the edges and the parameters on them, (k,) each."""
        a, b = np.divmod(place[:, 2].astype(np.int64), len(self.edges))
        return a.astype(np.int32), b.astype(np.int32), place[:, 0], place[:, 1]

    def _positions_on_edges(self, vertices: Floats, edge: Indices, along: Floats) -> Floats:
        """Returns the positions at parameters `along` edges [m], (k, 3), by vertices and corners [m], (v + w, 3)."""
        first, last = (vertices[self.edges.ends[edge, k]] for k in (0, 1))
        return first + along[:, None] * (last - first)
