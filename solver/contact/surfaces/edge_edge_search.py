# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds the contacts between sharp edges of surfaces, and edges of sheets, during one step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...runtime.arrays import Bools, Floats, Indices, indices
from ...runtime.frozen_memo import derived_from
from ...runtime.kernel_argument_tuple import kernel_tuple
from ..detection.contact_set import ids_among
from ..detection.persistent_contacts import PersistentContacts
from .candidate_search import CandidateSearch, SearchedItems, SearchReach
from .collision_surfaces import MAX_CONTACTS_PER_SURFACE, CollisionSurfaces
from .edge_crossing_merge import CrossingEdges, EdgeChains, merge_crossings
from .edge_edge_narrow_phase import (
    EdgeCrossings,
    EdgeDistances,
    NearestEdges,
    edge_planes,
    fill_kept_distances,
    find_edge_crossings,
    find_nearest_edges,
)
from .point_triangle_search import MAX_PERSISTENT_GAP, MIN_SEARCH_MARGIN
from .sharp_edges import Int64s, SharpEdges
from .time_of_impact import BORDER_TOLERANCE

MAX_NEW_DEPTH = 1.0  # depth at the end of a search from which crossing edges are ignored, in tet sizes
CORNER_RADIUS = 0.1  # distance from a corner within which points alone detect contacts, in tet sizes
MAX_PERSISTENT_DEPTH = 2.0  # depth from which a contact ends, in tet sizes
PERSISTENT_SKEW_SINE = 0.02  # replaces `MIN_SKEW_SINE` for edges in contact
PERSISTENT_SLANT_SINE = 0.35  # replaces `MAX_SLANT_SINE` for edges in contact, since soft edges bend
FIELD_NAMES = ("a", "b", "slot", "place", "sign", "shift")
NO_INDICES = np.zeros(0, np.int32)


@dataclass(frozen=True, eq=False)
class EdgeEdgeContacts:
    """Pairs of edges in contact, k of them; as `PointTriangleContacts`, with points p on the first edge.

    Attributes:
        id: (chain a · chains + chain b) · `MAX_CONTACTS_PER_SURFACE` + slot, rising, (k,).
        a, b: The edges, (k,) each.
        place: Parameters of p and q on them, from 0 at the beginning to 1, (k, 2).
        normal: Unit normal towards the side of a, at the end of the step, (k, 3).
        gap: n · (p − q) minus both thicknesses, at the start [m], (k,).
    """

    id: Int64s
    a: Indices
    b: Indices
    place: Floats
    normal: Floats
    gap: Floats


@dataclass(frozen=True, eq=False)
class _TrackedEdges:
    """Pairs in contact, see `EdgeEdgeContacts`; n is `sign` times the normalised cross product of the edges."""

    a: Indices
    b: Indices
    slot: Indices
    place: Floats
    sign: Floats
    shift: Floats

    def __len__(self) -> int:
        return len(self.a)

    def select(self, which: npt.NDArray | slice) -> _TrackedEdges:
        return _TrackedEdges(*(getattr(self, name)[which] for name in FIELD_NAMES))

    def extend(self, other: _TrackedEdges) -> _TrackedEdges:
        return _TrackedEdges(*(np.concatenate([getattr(self, name), getattr(other, name)]) for name in FIELD_NAMES))

    @property
    def arrays(self) -> Any:
        """The arrays as kernels take them."""
        return TrackedEdgeArrays(*(getattr(self, name) for name in FIELD_NAMES))


TrackedEdgeArrays = kernel_tuple("TrackedEdgeArrays", _TrackedEdges)


class EdgeEdgeSearch:
    """Searches of one step that begins with vertices at `start`.

    Its guarantees are those of `PointTriangleSearch` for points and triangles. Of adjacent pairs of edges on the same
    two chains, one is a contact, at up to `MAX_CONTACTS_PER_SURFACE` places.
    """

    def __init__(
        self,
        surfaces: CollisionSurfaces,
        edges: SharpEdges,
        start: Floats,
        previous: PersistentContacts,
        is_movable: Bools | None = None,
    ) -> None:
        """Prepares the searches of a step.

        Args:
            surfaces: All of them.
            edges: Theirs.
            start: Their vertices and `SharpEdges.rest` at its start [m], (v + w, 3).
            previous: Contacts of the step before, with ids of `EdgeEdgeContacts` and normals at the start.
            is_movable: Which vertices may move, (v + w,): pieces of which none may do not meet. None: all.
        """
        self.surfaces, self.edges, self.start, self.is_movable = surfaces, edges, start, is_movable
        self.may_touch = surfaces.edges_may_touch
        self.distances = EdgeDistances(surfaces.thickness, edges.surface, edges.is_of_sheet, edges.at_rest)
        self.pairs, self.kept_distance = (NO_INDICES, NO_INDICES), np.zeros(0)
        self.candidates: CandidateSearch | None = None
        self.tracked = self._track_previous(previous)

    def find(self, end: Floats) -> EdgeEdgeContacts:
        """Returns the contacts if vertices move to `end` [m], (v + w, 3)."""
        self._gather(end)
        normal, gap, end_gap = self._planes(self.tracked, end)
        is_active = end_gap < self.tracked.shift
        if len(self.pairs[0]) and self._add_new(self._find_crossings(end, is_active), end, is_active):
            normal, gap, end_gap = self._planes(self.tracked, end)
        return self._near_contacts(normal, gap, end_gap)

    def find_known(self, end: Floats) -> EdgeEdgeContacts:
        """Returns what `find` does, of contacts of the step before and of earlier searches alone."""
        return self._near_contacts(*self._planes(self.tracked, end))

    def _near_contacts(self, normal: Floats, gap: Floats, end_gap: Floats) -> EdgeEdgeContacts:
        """Returns the tracked contacts that are near at the end; for arguments see `_planes`."""
        tracked = self.tracked
        is_near = np.flatnonzero(end_gap < tracked.shift + MAX_PERSISTENT_GAP * self.edges.size[tracked.b])
        id = self._key(tracked.a[is_near], tracked.b[is_near]) * MAX_CONTACTS_PER_SURFACE + tracked.slot[is_near]
        order = np.argsort(id, kind="stable")
        which = is_near[order]
        return EdgeEdgeContacts(
            id[order], tracked.a[which], tracked.b[which], tracked.place[which], normal[which], gap[which]
        )

    def _key(self, a: npt.NDArray | np.int32, b: npt.NDArray | np.int32) -> Int64s:
        """Returns chain a · chains + chain b, (k,)."""
        chain = self.edges.chain
        return chain[a].astype(np.int64) * self.edges.chains + chain[b]

    def _track_previous(self, previous: PersistentContacts) -> _TrackedEdges:
        """Returns the contacts that the step begins with, each where its chains are closest to each other."""
        edges = self.edges
        key, slot = np.divmod(previous.id, MAX_CONTACTS_PER_SURFACE)
        chain_a, chain_b = (of.astype(np.int32) for of in np.divmod(key, edges.chains))
        if not len(previous) or previous.triangle is None:
            return _TrackedEdges(NO_INDICES, NO_INDICES, NO_INDICES, np.zeros((0, 2)), np.zeros(0), np.zeros(0))
        exists = (np.diff(edges.chain_start)[chain_a] > 0) & (np.diff(edges.chain_start)[chain_b] > 0)
        if not exists.all():
            return self._track_previous(previous.select(np.flatnonzero(exists)))
        nearest = NearestEdges.allocate(len(previous))
        find_nearest_edges(
            chain_a,
            chain_b,
            previous.triangle,
            previous.normal,
            PERSISTENT_SKEW_SINE,
            PERSISTENT_SLANT_SINE,
            self.start,
            edges.arrays,
            nearest,
        )
        a, b, place, sign, is_kept = nearest
        # a contact ends beyond the last edge of a chain
        for edge, along in ((a, place[:, 0]), (b, place[:, 1])):
            is_kept &= ~((along <= 0.0) & edges.is_chain_end[edge, 0]) & ~((along >= 1.0) & edges.is_chain_end[edge, 1])
        is_kept &= self.may_touch[edges.surface[a], edges.surface[b]]
        tracked = _TrackedEdges(a, b, slot.astype(np.int32), place, sign, previous.shift).select(is_kept)
        is_unique = np.ones(len(tracked), bool)
        key = self._key(tracked.a, tracked.b)  # rising, as ids are
        for later in 1 + np.flatnonzero(key[1:] == key[:-1]):
            earlier = tracked.select(slice(later))
            same = is_unique[:later] & self._is_same_pair(earlier, tracked.a[later], tracked.b[later])
            is_unique[later] = not same.any()
        is_kept = self._planes(tracked, self.start)[1] > -MAX_PERSISTENT_DEPTH * edges.size[tracked.b]
        return tracked.select(is_kept & is_unique)

    def _is_same_pair(self, tracked: _TrackedEdges, a: np.int32, b: np.int32) -> Bools:
        """Returns which contacts belong to a pair of edges: the same ones, or neighbours on both chains."""
        ends, one, other = self.edges.ends, self.edges.ends[a, :2], self.edges.ends[b, :2]
        is_same = self._key(tracked.a, tracked.b) == self._key(a, b)
        on_chains = np.flatnonzero(is_same)
        if len(on_chains):
            near_a, near_b = ends[tracked.a[on_chains], :2], ends[tracked.b[on_chains], :2]
            is_same[on_chains] = np.isin(near_a, one).any(axis=1) & np.isin(near_b, other).any(axis=1)
        return is_same

    def _planes(self, tracked: _TrackedEdges, end: Floats) -> tuple[Floats, Floats, Floats]:
        """Returns normals, gaps and the gaps at the end of contacts [m], (k, 3), (k,) and (k,)."""
        k = len(tracked)
        normal, gap, end_gap = np.empty((k, 3)), np.empty(k), np.empty(k)
        if k:
            edge_planes(tracked.arrays, self.distances, self.start, end, self.edges.ends, normal, gap, end_gap)
        return normal, gap, end_gap

    def _find_crossings(self, end: Floats, is_active: Bools) -> _TrackedEdges:
        """Returns the pairs that cross, by rising time, without those of sheets that push already.

        If a solve lets edges through each other farther than any contact would, it only tells that they were free, not
        where they meet: points touch first, and the next solve finds the edges.
        """
        (a, b), edges = self.pairs, self.edges
        out = EdgeCrossings.allocate(len(a))
        count = find_edge_crossings(a, b, self.start, end, edges.arrays, self.kept_distance, out)
        found = _TrackedEdges(
            out.a[:count],
            out.b[:count],
            np.zeros(count, np.int32),
            out.place[:count],
            out.sign[:count],
            np.zeros(count),
        )
        is_new = ~self._is_pushing_sheet(found, is_active)
        if not is_new.any():
            return found.select(is_new)
        order = np.lexsort((found.b, found.a, out.time[:count]))
        found = found.select(order[is_new[order]])
        is_crossing = self._planes(found, end)[2] > -MAX_NEW_DEPTH * edges.size[found.b]
        # the ends of upright edges would catch a body that slides onto a surface a little too deep
        for edge, along in ((found.a, found.place[:, 0]), (found.b, found.place[:, 1])):
            first, last = (self.start[edges.ends[edge, k]] for k in (0, 1))
            near = CORNER_RADIUS * edges.size[found.b] / np.maximum(np.linalg.norm(last - first, axis=1), 1e-300)
            near[edges.is_of_sheet[edge]] = -1.0  # what passes beside a vertex of a sheet meets no other point
            is_crossing &= ~(edges.is_chain_end[edge, 0] & (along < near)) & ~(
                edges.is_chain_end[edge, 1] & (along > 1.0 - near)
            )
        return found.select(is_crossing)

    def _add_new(self, found: _TrackedEdges, end: Floats, is_active: Bools) -> bool:
        """Adds new pairs, and moves tracked ones that do not push to the place found; returns whether any changed."""
        if not len(found):
            return False
        both, edges = self.tracked.extend(found), self.edges
        active = np.append(is_active, np.zeros(len(found), bool))
        crossing = CrossingEdges(found.a, found.b, found.slot, found.place, found.sign)
        tracked = CrossingEdges(both.a, both.b, both.slot, both.place, both.sign)
        chains = EdgeChains(edges.ends, edges.chain, edges.surface, edges.is_of_sheet)
        count, changed = merge_crossings(crossing, len(self.tracked), tracked, active, chains, self.start, end)
        if changed:
            both.shift[len(self.tracked) :] = 0.0
            self.tracked = both.select(slice(count))
        return bool(changed)

    def _is_pushing_sheet(self, found: _TrackedEdges, is_active: Bools) -> Bools:
        """Returns which pairs with an edge of a sheet are in contact already, and push."""
        count, is_of_sheet = len(self.edges), self.edges.is_of_sheet
        is_pushing = is_of_sheet[found.a] | is_of_sheet[found.b]
        if not is_pushing.any():
            return is_pushing
        active = np.flatnonzero(is_active)
        known = np.sort(self.tracked.a[active].astype(np.int64) * count + self.tracked.b[active])
        return is_pushing & ids_among(found.a.astype(np.int64) * count + found.b, known)

    def _gather(self, end: Floats) -> None:
        """Finds candidate pairs of edges, if vertices end near `end` [m], (v + w, 3)."""
        if self.candidates is None:
            items, reach = derived_from(
                self.edges,
                "searched edges",
                lambda: _searched_edges(self.surfaces, self.edges),
                inputs=(self.surfaces,),
            )
            self.candidates = CandidateSearch(items, self.start, self.may_touch, reach, self.is_movable)
        if self.candidates.update(end):
            a, b = (np.concatenate(each) for each in zip(*self.candidates.pairs, strict=True))
            self.pairs = self._without_repeated(a, b)
            self.kept_distance = np.empty(len(self.pairs[0]))
            fill_kept_distances(*self.pairs, self.distances, self.start, self.edges.ends, self.kept_distance)

    def _without_repeated(self, a: Indices, b: Indices) -> tuple[Indices, Indices]:
        """Returns pairs of edges without the second of two pairs of the same edges of one surface."""
        once = (self.edges.surface[a] != self.edges.surface[b]) | (a < b)
        return (a, b) if once.all() else (a[once], b[once])


def _searched_edges(surfaces: CollisionSurfaces, edges: SharpEdges) -> tuple[SearchedItems, SearchReach]:
    """Returns the edges of surfaces, and how far around their vertices and corners is searched."""
    size, of = float(edges.size.max()), np.concatenate([surfaces.surface_of, edges.surface_of_rest])
    items = SearchedItems(
        indices(edges.ends[:, :2]),
        edges.surface,
        of,
        edges.surface,
        np.arange(len(surfaces), dtype=np.int32),
        edges.degenerate_triangles,
        surfaces.nodes,
        edges.trees,
    )
    margin = np.full(len(of), MIN_SEARCH_MARGIN * size, np.float64)
    return items, SearchReach(margin, surfaces.thickness[of] + BORDER_TOLERANCE * size)
