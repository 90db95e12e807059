# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts of skins in one step: found by their search, and tied to the tets that bear them.

Where a point p of one body meets a place q of another, p is tied to its tet, and q to that which bears its triangle, or
to those of the triangle's corners where that one is far (`legs.py`). Where q is told, it carries p along. Where p is
told, as a vertex of a collider is, q is the point that is pushed, the other way.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from ..arrays import Bools, Floats, Indices
from ..model import Model
from ..skins.edge_search import EdgesKnown
from ..skins.places import place_vertices
from ..skins.skin import Known, Met, Skins
from .edge_contacts import EdgeContacts
from .legs import LEGS
from .let_go import let_go
from .memory import Memory
from .points import INERTIA
from .skin_surfaces import SkinSurfaces
from .skin_ties import Tie, tie_skins, turned_since
from .told import Told
from .touching import Touching

NO_FRAMES = np.zeros((0, 3, 3))


class Search(Protocol):
    """Finds where skins meet that go from their start to an end of the step [m], (v, 3)."""

    def find(self, end: Floats) -> Met:
        """Returns what meets."""


class Begin(Protocol):
    """Begins the search of a step."""

    def __call__(self, skins: Skins, start: Floats, known: Known) -> Search:
        """Takes vertices at the start [m], (v, 3), and contacts remembered."""


class SkinContacts:
    """The skins during one step."""

    def __init__(
        self, surfaces: SkinSurfaces, told: Told, model: Model, dt: float, search: Begin, spreads: bool = True
    ) -> None:
        """Takes the skins, and where those of colliders are during a step of `dt` [s].

        Places outside of all tets may hang on several of them, if it `spreads` them; not in steps of flesh, which take
        each pair of tets for a contact.
        """
        self.spreads = spreads and len(surfaces.under) > 0
        self.surfaces, self.model, self.dt, self.told, self.search_of = surfaces, model, dt, told, search
        self.skins, self.is_told = told.skins, told.skins.tet < 0
        edges = told.skins.edges
        self.edges = EdgeContacts(surfaces, edges, told, model, dt) if edges else None

    def begin(self, x: Floats, is_fixed: Bools | None, memory: Memory, first: int) -> None:
        """Begins a step at node positions x [m], (n, 3); ids in a memory are larger by `first` than those of skins."""
        self.x, self.first = x, first
        self.moves = ~self.is_told
        if is_fixed is not None:
            self.moves &= ~is_fixed[self.skins.nodes].all(axis=1)
        self.start = self._places(x, self.told.start)
        own = memory.only(slice(int(np.searchsorted(memory.id, first)), None))
        edges = int(np.searchsorted(own.id, self.first_of_edges))
        self.search = self.search_of(self.skins, self.start, self._known(own.only(slice(edges))))
        if self.edges:
            known = self._edges_known(own.only(slice(edges, None)))
            self.edges.begin(x, self.start, self.moves, self.first_of_edges, known)

    def find(self, x: Floats) -> Touching:
        """Returns the contacts where nodes go to x [m], (n, 3); what carries their points is left to `tie`."""
        end = self._places(x, self.told.end)
        met = self.search.find(end)
        normal = np.where(self.is_told[met.point, None], -met.normal, met.normal)
        found = Touching(met.id + self.first, normal, met.gap, np.zeros_like(normal), met.side, met.triangle, met.place)
        moves = self.moves[met.point] | self.moves[self.skins.triangles[met.triangle]].any(axis=1)
        moves &= ~let_go(self.skins, met, self.x, self.start, self.is_told)
        found = found if moves.all() else found.only(moves)
        return Touching.together([found, self.edges.find(end)]) if self.edges else found

    @property
    def first_of_edges(self) -> int:
        """By how much ids in a memory are larger than those of edges."""
        return self.first + self.skins.point_ids

    def tie(self, touching: Touching, which: npt.NDArray[np.int64]) -> Tie:
        """Returns what the contacts `which` are tied to, and writes what carries their points."""
        if self.edges and len(which) and touching.id[which[-1]] >= self.first_of_edges:
            return self._tie_both(self.edges, touching, which)
        assert touching.triangle is not None and touching.place is not None
        id, triangle, place = touching.id[which] - self.first, touching.triangle[which], touching.place[which]
        skins, model, points, k = self.skins, self.model, self.surfaces.points, len(which)
        other_skin, point = self._ends(id)
        tie = Tie(np.empty((k, LEGS), np.int32), np.empty((k, 4 * LEGS)), np.empty((3, k)))
        carried = np.empty((k, 3))
        tie_skins(
            point, triangle, place, skins.skin_of[point], other_skin, self.surfaces.friction, self.x, self.told.start,
            self.told.end, model.X, model.tets, skins.tet, skins.weights, self.surfaces.under, skins.triangles,
            skins.rest, points.stiffness, points.mass, points.tet_size, INERTIA / self.dt**2, self.spreads,
            tie.ends, tie.weights, tie.numbers, carried,
        )  # fmt: skip
        touching.carried[which] = carried
        return tie

    def frames(self, triangle: Indices) -> Floats:
        """Returns the rotations of triangles from rest to the start of the step, (k, 3, 3)."""
        if not len(self.skins.triangles):  # all in splinters
            return np.broadcast_to(np.eye(3), (len(triangle), 3, 3))
        corners = self.skins.triangles[triangle]
        return turned_since(self.skins.rest[corners], self.start[corners])

    def others(self, id: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Returns the skin on the other side of contacts, −1 of rigid ones, (k,)."""
        skin, point = self._ends(id - self.first)
        other = np.where(self.is_told[point], self.skins.skin_of[point], skin)
        if self.edges:
            of_edge = id >= self.first_of_edges
            other[of_edge] = self.edges.others(id[of_edge])
        return np.where(id < self.first, -1, other)

    def loaded(
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
                origins.append(self.told.origins[skin])
            number[skin] = found.index(name)
        return found[len(keys) :], origins, number[self.others(id)]

    def _ends(self, id: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Returns the skin of the triangle and the point of contacts as `Met` has them, (k,) each."""
        rest, point = np.divmod(id, self.skins.vertex_count)
        return rest % len(self.skins), point

    def _places(self, x: Floats, told: Floats) -> Floats:
        """Returns where vertices are for node positions x, those of colliders where they are told to be [m], (v, 3)."""
        at = told.copy()
        place_vertices(x, self.skins.nodes, self.skins.weights, at)
        return at

    def _tie_both(self, edges: EdgeContacts, touching: Touching, which: npt.NDArray[np.int64]) -> Tie:
        """Returns what contacts of points and then of edges are tied to; see `tie`."""
        count = int(np.searchsorted(touching.id[which], self.first_of_edges))
        both = self.tie(touching, which[:count]), edges.tie(touching, which[count:])
        ends, weights = (np.concatenate([getattr(tie, name) for tie in both]) for name in ("ends", "weights"))
        return Tie(ends, weights, np.concatenate([tie.numbers for tie in both], axis=1))

    def _edges_known(self, own: Memory) -> EdgesKnown:
        """Returns what is remembered of edges."""
        assert self.edges is not None
        if own.triangle is None or not len(own.id):
            return EdgesKnown.none()
        normal = np.einsum("kij,kj->ki", self.frames(own.triangle), own.normal)
        id = own.id - self.first_of_edges
        normal[self.edges.is_told_of(id)] *= -1.0
        return EdgesKnown(id, own.triangle, own.shift, normal)

    def _known(self, own: Memory) -> Known:
        """Returns what is remembered of points of skins."""
        if own.triangle is None or not len(own.id):
            return Known.none()
        normal = np.einsum("kij,kj->ki", self.frames(own.triangle), own.normal)
        normal[self.is_told[self._ends(own.id - self.first)[1]]] *= -1.0
        return Known(own.id - self.first, own.triangle, own.side, own.shift, normal)
