# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts of sharp edges in one step: found by their search, and tied to the tets that bear them.

A place p of an edge of one body meets a place q of another's. Either is tied to the tet that bears the middle of its
edge, by where it is at rest. An edge of a collider is told where it is; then q is the point that is pushed, the other
way. What is kept along with the surface is so with the triangle beside the second edge.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...mechanics.model import Model
from ...mesh.embedding import barycentric_weights
from ...runtime.arrays import Bools, Floats, Indices
from ..surfaces.collision_surfaces import MAX_CONTACTS_PER_SURFACE
from ..surfaces.edge_search import EdgeEdgeContacts, EdgeEdgeSearch, PreviousEdgeContacts
from ..surfaces.sharp_edges import SharpEdges
from .contact_attachment import ContactAttachment
from .contact_materials import ContactMaterials
from .contact_points import MIN_INERTIAL_STIFFNESS_FACTOR
from .contact_set import ContactSet
from .multi_tet_contacts import MAX_TETS_PER_CONTACT
from .prescribed_surfaces import PrescribedSurfaces
from .release_crushed import MAX_CROWDED_DEPTH


class EdgeContacts:
    """The sharp edges of skins during one step."""

    def __init__(
        self, surfaces: ContactMaterials, edges: SharpEdges, told: PrescribedSurfaces, model: Model, dt: float
    ) -> None:
        """Takes the edges, and where those of colliders are during a step of `dt` [s]."""
        self.surfaces, self.edges, self.prescribed, self.model, self.dt = surfaces, edges, told, model, dt
        self.is_prescribed = edges.tet < 0

    def begin(self, x: Floats, start: Floats, moves: Bools, first: int, known: PreviousEdgeContacts) -> None:
        """Begins a step.

        Args:
            x: Node positions at its start [m], (n, 3).
            start: Vertices of the skins then [m], (v, 3).
            moves: Which of these are not held, (v,).
            first: By how much ids of contacts are larger than those of edges.
            known: Contacts remembered.
        """
        self.x, self.id_offset, skins = x, first, self.prescribed.skins
        ends = np.minimum(self.edges.ends[:, :2], skins.vertex_count - 1)
        self.is_movable = moves[ends].any(axis=1) & ~self.is_prescribed
        at = np.concatenate([start, self.prescribed.corners_start])
        self.search = EdgeEdgeSearch(skins, self.edges, at, known)

    def find(self, end: Floats) -> ContactSet:
        """Returns the contacts where the vertices of skins go to `end` [m], (v, 3)."""
        met = self.search.find(np.concatenate([end, self.prescribed.corners_end]))
        kept = self.is_movable[met.a] | self.is_movable[met.b]
        if len(kept):
            is_deep = met.gap < -MAX_CROWDED_DEPTH * self.edges.size[met.b]
            kept &= ~(self.is_prescribed[met.a] & is_deep & self._is_inverted(met.b))
        normal = np.where(self.is_prescribed[met.a, None], -met.normal, met.normal)
        found = ContactSet(
            met.id + self.id_offset, normal, met.gap, np.zeros_like(normal), np.ones(len(kept), np.int8),
            self.edges.triangle[met.b], self._pack_place(met),
        )  # fmt: skip
        return found if kept.all() else found.select(kept)

    def attach(self, touching: ContactSet, which: npt.NDArray[np.int64]) -> ContactAttachment:
        """Returns what the contacts `which` are tied to, and writes what carries their points."""
        assert touching.place is not None
        edges, model, k = self.edges, self.model, len(which)
        a, b, along_a, along_b = self._unpack_place(touching.place[which])
        told, tets = self.is_prescribed[a], model.tets
        tet_a, tet_b = np.where(told, edges.tet[b], edges.tet[a]), edges.tet[b]
        q = self._positions_on_edges(edges.at_rest, b, along_b)
        p = np.where(told[:, None], q, self._positions_on_edges(edges.at_rest, a, along_a))
        first, second = barycentric_weights(model.X, tets, p, tet_a), barycentric_weights(model.X, tets, q, tet_b)
        tie = ContactAttachment(
            np.full((k, MAX_TETS_PER_CONTACT), -1, np.int32), np.zeros((k, 4 * MAX_TETS_PER_CONTACT)), np.empty((3, k))
        )
        tie.ends[:, 0], tie.ends[:, 1] = tet_a, np.where(told, -1, tet_b)
        tie.weights[:, :4], tie.weights[~told, 4:8] = first, second[~told]
        at = np.einsum("ka,kai->ki", first, self.x[tets[tet_a]])
        at[~told] -= np.einsum("ka,kai->ki", second[~told], self.x[tets[tet_b[~told]]])
        if told.any():
            start, end = (
                np.concatenate(both)
                for both in (
                    (self.prescribed.start, self.prescribed.corners_start),
                    (self.prescribed.end, self.prescribed.corners_end),
                )
            )
            at[told] += (self._positions_on_edges(end, a, along_a) - self._positions_on_edges(start, a, along_a))[told]
        touching.carried[which] = at
        self._fill_parameters(tie, a, b, along_a, along_b, told)
        return tie

    def other_surfaces(self, id: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Returns the skin on the other side of contacts, (k,)."""
        chain_a, chain_b = np.divmod((id - self.id_offset) // MAX_CONTACTS_PER_SURFACE, self.edges.chains)
        first = self.edges.chain_start
        a, b = first[chain_a], first[chain_b]
        return np.where(self.is_prescribed[a], self.edges.skin[a], self.edges.skin[b])

    def is_prescribed_of(self, id: npt.NDArray[np.int64]) -> Bools:
        """Returns of which contacts, with ids as `EdgeEdgeContacts` has them, the first edge is a collider's, (k,)."""
        chain = id // MAX_CONTACTS_PER_SURFACE // self.edges.chains
        first = np.minimum(self.edges.chain_start[chain], len(self.edges) - 1)  # those of what broke have none
        return self.is_prescribed[first]

    def _fill_parameters(
        self, tie: ContactAttachment, a: Indices, b: Indices, along_a: Floats, along_b: Floats, told: Bools
    ) -> None:
        """Writes sizes, stiffnesses and μ: see `tie_skins`."""
        points, friction, skin = self.surfaces.points, self.surfaces.friction, self.edges.skin
        tie.parameters[0] = np.minimum(self.edges.size[a], self.edges.size[b])
        lever = np.maximum(np.abs(tie.weights[:, :8]).reshape(-1, 2, 4).max(axis=2), 1.0) ** 2
        sides = ((b, along_b, lever[:, 0] * told + lever[:, 1] * ~told), (np.where(told, b, a), along_a, lever[:, 0]))
        soft, mass = np.zeros(len(a)), np.full(len(a), np.inf)
        for number, (edge, along, long) in enumerate(sides):
            bears = ~told if number else np.ones(len(a), bool)
            i, j = self.edges.ends[edge, :2].T
            k = ((1.0 - along) * points.stiffness[i] + along * points.stiffness[j]) / long
            share = ((1.0 - along) * points.mass[i] + along * points.mass[j]) / long
            soft[bears] += 1.0 / k[bears]
            mass[bears] = np.minimum(mass, share)[bears]
        tie.parameters[1] = np.maximum(1.0 / soft, MIN_INERTIAL_STIFFNESS_FACTOR / self.dt**2 * mass)
        mine, other = friction[skin[a]], friction[skin[b]]
        tie.parameters[2] = np.where(told, mine, np.sqrt(mine * other))

    def _is_inverted(self, edge: Indices) -> Bools:
        """Returns whether the tets that bear edges are inside out: see `release_crushed.py`, (k,)."""
        o, a, b, c = np.moveaxis(self.x[self.model.tets[self.edges.tet[edge]]], 1, 0)
        return np.einsum("ki,ki->k", np.cross(a - o, b - o), c - o) <= 0.0

    def _pack_place(self, met: EdgeEdgeContacts) -> Floats:
        """Returns what `Touching.place` has of edges, (k, 3)."""
        number = met.a.astype(np.int64) * len(self.edges) + met.b
        return np.concatenate([met.place, number[:, None]], axis=1)

    def _unpack_place(self, place: Floats) -> tuple[Indices, Indices, Floats, Floats]:
        """Returns edges and where on them of such places, (k,) each."""
        a, b = np.divmod(place[:, 2].astype(np.int64), len(self.edges))
        return a.astype(np.int32), b.astype(np.int32), place[:, 0], place[:, 1]

    def _positions_on_edges(self, vertices: Floats, edge: Indices, along: Floats) -> Floats:
        """Returns where places on edges are [m], (k, 3), by vertices and corners [m], (v + w, 3)."""
        first, last = (vertices[self.edges.ends[edge, k]] for k in (0, 1))
        return first + along[:, None] * (last - first)
