# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds where sharp edges of skins meet during one step."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ...runtime.arrays import Bools, Floats, Indices
from .broad_phase import find_candidate_pairs, group_bounds, has_left_margin, sweep_boxes
from .bvh_refit import fit_boxes
from .collision_surfaces import MAX_CONTACTS_PER_SURFACE, CollisionSurfaces
from .edge_edge import find_edge_crossings, find_nearest_edges
from .sharp_edges import Int64s, SharpEdges
from .surface_search import INITIAL_PAIRS_PER_POINT, MAX_PERSISTENT_GAP, MIN_SEARCH_MARGIN
from .time_of_impact import BORDER_TOLERANCE

MAX_NEW_DEPTH = 1.0  # depth at the end of a look from which edges are not taken, in sizes of tets
CORNER_RADIUS = 0.1  # distance from a corner up to which that alone meets faces, in sizes of tets
MAX_PERSISTENT_DEPTH = 2.0  # depth from which edges that met are forgotten, in sizes of tets
PERSISTENT_SKEW_SINE, PERSISTENT_SLANT_SINE = (
    0.02,
    0.35,
)  # for those that met: `SKEW` and `SLANT` from which they are forgotten; soft edges give way
FIELD_NAMES = ("a", "b", "slot", "place", "sign", "shift")
NO_INDICES = np.zeros(0, np.int32)


@dataclass(frozen=True, eq=False)
class EdgeEdgeContacts:
    """Pairs of edges that are in contact, k of them: see `Met`, which they are as, with points p of the first.

    Attributes:
        id: (chain a · chains + chain b) · `MAX_CONTACTS_PER_SURFACE` + slot, rising, (k,).
        a, b: The edges, (k,) each.
        place: Where p and q are on them, from 0 at the beginning to 1, (k, 2).
        normal: Of length one, towards the side on which a is kept, at the end of the step, (k, 3).
        gap: n · (p − q) less both thicknesses, at the start [m], (k,).
    """

    id: Int64s
    a: Indices
    b: Indices
    place: Floats
    normal: Floats
    gap: Floats


@dataclass(frozen=True, eq=False)
class PreviousEdgeContacts:
    """Pairs of edges that a step begins with, k of them.

    Attributes:
        id: See `EdgeEdgeContacts`.
        triangle: Beside the second edge, (k,).
        shift: Gap at which they begin to push [m], (k,).
        normal: Which way the first was kept, at the start of the step, (k, 3).
    """

    id: Int64s
    triangle: Indices
    shift: Floats
    normal: Floats

    @staticmethod
    def none() -> PreviousEdgeContacts:
        """Returns no contacts."""
        return PreviousEdgeContacts(np.zeros(0, np.int64), NO_INDICES, np.zeros(0), np.zeros((0, 3)))


@dataclass(frozen=True, eq=False)
class _TrackedEdges:
    """Pairs in contact: see `EdgeEdgeContacts`; n is `sign` times the cross product of the edges by length."""

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


class EdgeEdgeSearch:
    """Where sharp edges meet in one step that begins with vertices at `start`.

    Guaranteed: as `SkinSearch` says of points and triangles. Of edges on the same two chains that meet beside each
    other one pair is a contact, at up to `MAX_CONTACTS_PER_SURFACE` places.
    """

    def __init__(self, skins: CollisionSurfaces, edges: SharpEdges, start: Floats, known: PreviousEdgeContacts) -> None:
        """Makes ready for a step.

        Args:
            skins: All of them.
            edges: Theirs.
            start: Their vertices and `SharpEdges.rest` at its start [m], (v + w, 3).
            known: Contacts that it begins with.
        """
        self.skins, self.edges, self.start = skins, edges, start
        self.may_touch = skins.edges_may_touch
        self.pairs = NO_INDICES, NO_INDICES
        self.gathered_end: Floats | None = None
        self.margin = np.empty(len(start))
        self.tracked = self._track_previous(known)

    def find(self, end: Floats) -> EdgeEdgeContacts:
        """Returns what meets when vertices go to `end` [m], (v + w, 3)."""
        if self.gathered_end is None or has_left_margin(self.gathered_end, end, self.margin):
            self._gather(end)
        normal, gap, ahead = self._planes(self.tracked, end)
        if len(self.pairs[0]) and self._add_new(self._find_crossings(end), end, ahead < self.tracked.shift):
            normal, gap, ahead = self._planes(self.tracked, end)
        edges, held = self.edges, self.tracked
        is_near = np.flatnonzero(ahead < held.shift + MAX_PERSISTENT_GAP * edges.size[held.b])
        held, normal, gap = held.select(is_near), normal[is_near], gap[is_near]
        id = self._key(held.a, held.b) * MAX_CONTACTS_PER_SURFACE + held.slot
        order = np.argsort(id, kind="stable")
        held = held.select(order)
        return EdgeEdgeContacts(id[order], held.a, held.b, held.place, normal[order], gap[order])

    def _key(self, a: npt.NDArray | np.int32, b: npt.NDArray | np.int32) -> Int64s:
        """Returns chain a · chains + chain b, (k,)."""
        chain = self.edges.chain.astype(np.int64)
        return chain[a] * self.edges.chains + chain[b]

    def _thickness(self, a: Indices, b: Indices) -> Floats:
        """Returns the distance that edges keep [m], (k,)."""
        return self.skins.thickness[self.edges.skin[a]] + self.skins.thickness[self.edges.skin[b]]

    def _track_previous(self, known: PreviousEdgeContacts) -> _TrackedEdges:
        """Returns the contacts that the step begins with, each where its chains are nearest to each other."""
        edges, count = self.edges, len(known.id)
        key, slot = np.divmod(known.id, MAX_CONTACTS_PER_SURFACE)
        chain_a, chain_b = (of.astype(np.int32) for of in np.divmod(key, edges.chains))
        nothing = _TrackedEdges(NO_INDICES, NO_INDICES, NO_INDICES, np.zeros((0, 2)), np.zeros(0), np.zeros(0))
        if not count:
            return nothing
        there = (np.diff(edges.chain_start)[chain_a] > 0) & (np.diff(edges.chain_start)[chain_b] > 0)
        if not there.all():
            which = np.flatnonzero(there)
            return self._track_previous(PreviousEdgeContacts(*(getattr(known, name)[which] for name in vars(known))))
        a, b, place = np.empty(count, np.int32), np.empty(count, np.int32), np.empty((count, 2))
        sign, kept = np.empty(count), np.empty(count, bool)
        find_nearest_edges(
            chain_a,
            chain_b,
            known.triangle,
            known.normal,
            PERSISTENT_SKEW_SINE,
            PERSISTENT_SLANT_SINE,
            self.start,
            edges.ends,
            edges.chain_start,
            edges.triangle,
            a,
            b,
            place,
            sign,
            kept,
        )
        # beyond the last edge of a chain there is nothing to meet
        for edge, along in ((a, place[:, 0]), (b, place[:, 1])):
            kept &= ~((along <= 0.0) & edges.is_chain_end[edge, 0]) & ~((along >= 1.0) & edges.is_chain_end[edge, 1])
        kept &= self.may_touch[edges.skin[a], edges.skin[b]]
        held = _TrackedEdges(a, b, slot.astype(np.int32), place, sign, known.shift).select(kept)
        alone = np.ones(len(held), bool)
        for later in range(1, len(held)):
            same = alone[:later] & self._is_same_pair(held.select(slice(later)), held.a[later], held.b[later])
            alone[later] = not same.any()
        held = held.select(alone)
        return held.select(self._planes(held, self.start)[1] > -MAX_PERSISTENT_DEPTH * edges.size[held.b])

    def _is_same_pair(self, held: _TrackedEdges, a: np.int32, b: np.int32) -> Bools:
        """Returns which contacts are those of a pair of edges: of the same, or of ones beside them on the chains."""
        ends, one, other = self.edges.ends, self.edges.ends[a, :2], self.edges.ends[b, :2]
        beside = np.isin(ends[held.a, :2], one).any(axis=1) & np.isin(ends[held.b, :2], other).any(axis=1)
        return beside & (self._key(held.a, held.b) == self._key(a, b))

    def _planes(self, held: _TrackedEdges, end: Floats) -> tuple[Floats, Floats, Floats]:
        """Returns normals, gaps and the gaps at the end of contacts [m], (k, 3), (k,) and (k,)."""
        if not len(held):
            return np.zeros((0, 3)), np.zeros(0), np.zeros(0)
        ends = self.edges.ends
        a0, a1, b0, b1 = (end[ends[edge, k]] for edge in (held.a, held.b) for k in (0, 1))
        normal = held.sign[:, None] * np.cross(a1 - a0, b1 - b0)
        length = np.linalg.norm(normal, axis=1)
        normal /= np.maximum(length, 1e-300)[:, None]
        keeps = self._thickness(held.a, held.b)
        places = (self._positions(held, at) for at in (self.start, end))
        gap, ahead = (np.einsum("ki,ki->k", normal, p - q) - keeps for p, q in places)
        return normal, gap, np.where(length > 0.0, ahead, np.inf)

    def _find_crossings(self, end: Floats) -> _TrackedEdges:
        """Returns what goes into each other, by rising time.

        A solve that lets edges through each other as far as nothing that is kept would go says by them only that they
        were free, not where they meet: points do first, and the next solve tells of edges.
        """
        a, b = self.pairs
        room, edges = len(a), self.edges
        whole, sign, numbers, place = np.empty((2, room), np.int32), np.empty(room), np.empty(room), np.empty((room, 2))
        count = find_edge_crossings(
            a,
            b,
            self.start,
            end,
            edges.ends,
            edges.size,
            self._thickness(a, b),
            whole[0],
            whole[1],
            place,
            sign,
            numbers,
        )
        found = _TrackedEdges(
            whole[0, :count], whole[1, :count], np.zeros(count, np.int32), place[:count], sign[:count], np.zeros(count)
        )
        order = np.lexsort((found.b, found.a, numbers[:count]))
        found = found.select(order)
        is_there = self._planes(found, end)[2] > -MAX_NEW_DEPTH * edges.size[found.b]
        # what slides onto a surface a little too deep would be caught by the ends of its upright edges
        for edge, along in ((found.a, found.place[:, 0]), (found.b, found.place[:, 1])):
            first, last = (self.start[edges.ends[edge, k]] for k in (0, 1))
            near = CORNER_RADIUS * edges.size[found.b] / np.maximum(np.linalg.norm(last - first, axis=1), 1e-300)
            is_there &= ~(edges.is_chain_end[edge, 0] & (along < near)) & ~(
                edges.is_chain_end[edge, 1] & (along > 1.0 - near)
            )
        return found.select(is_there)

    def _add_new(self, found: _TrackedEdges, end: Floats, pushes: Bools) -> bool:
        """Adds what goes in and is not held yet, and gives what is held without a push its place; says whether any."""
        changed = False
        for row in range(len(found)):
            held, one = self.tracked, found.select(np.array([row], np.int64))
            same = np.flatnonzero(self._is_same_pair(held, one.a[0], one.b[0]))
            if len(same):
                there = same[0]
                if not pushes[there]:
                    values = {name: getattr(held, name).copy() for name in ("a", "b", "place", "sign")}
                    for name, array in values.items():
                        array[there] = getattr(one, name)[0]
                    self.tracked, changed = replace(held, **values), True
                    pushes = pushes.copy()
                    pushes[there] = True
                continue
            taken = held.slot[self._key(held.a, held.b) == self._key(one.a, one.b)[0]]
            free = np.setdiff1d(np.arange(MAX_CONTACTS_PER_SURFACE, dtype=np.int64), taken)
            if len(free) and not self._is_kept_away(one, held.select(pushes), end):
                self.tracked, changed = held.extend(replace(one, slot=free[:1].astype(np.int32))), True
                pushes = np.append(pushes, True)
        return changed

    def _is_kept_away(self, one: _TrackedEdges, held: _TrackedEdges, end: Floats) -> bool:
        """Whether edges would not have met, had those that met before been kept: no farther away than they go."""
        skin = self.edges.skin
        alike = held.select((skin[held.a] == skin[one.a]) & (skin[held.b] == skin[one.b]))
        if not len(alike):
            return False
        (p, q), (p_end, q_end) = self._positions(one, self.start), self._positions(one, end)
        way = np.linalg.norm((p_end - p) - (q_end - q), axis=1)
        apart = [
            np.linalg.norm(of - own, axis=1) for of, own in zip(self._positions(alike, self.start), (p, q), strict=True)
        ]
        return bool((np.minimum(*apart) < way).any())

    def _positions(self, held: _TrackedEdges, at: Floats) -> tuple[Floats, Floats]:
        """Returns where p and q are [m], (k, 3) each."""
        ends, along = self.edges.ends, held.place
        a, b = ((at[ends[edge, 0]], at[ends[edge, 1]]) for edge in (held.a, held.b))
        return a[0] + along[:, :1] * (a[1] - a[0]), b[0] + along[:, 1:] * (b[1] - b[0])

    def _gather(self, end: Floats) -> None:
        """Gathers pairs of edges that may meet when vertices end near `end` [m], (v + w, 3)."""
        skins, edges, trees = self.skins, self.edges, self.edges.trees
        size, count = float(edges.size.max()), len(end)
        ways, bounds = np.empty((count, 6)), np.empty((len(skins), 6))
        more = skins.thickness[np.concatenate([skins.skin_of, edges.skin_of_rest])] + BORDER_TOLERANCE * size
        self.gathered_end = end
        sweep_boxes(self.start, end, np.full(count, MIN_SEARCH_MARGIN * size, np.float64), more, self.margin, ways)
        low, high = (ways[edges.ends[:, :2], of] for of in (slice(0, 3), slice(3, 6)))
        swept = np.concatenate([low.min(axis=1), high.max(axis=1)], axis=1)
        group_bounds(edges.start, swept, bounds)
        touch = (bounds[:, None, :3] <= bounds[None, :, 3:]).all(axis=2)
        may = self.may_touch & touch & touch.T
        self.pairs = NO_INDICES, NO_INDICES
        if not may.any():
            return
        boxes, slot_boxes = np.empty((int(trees.start[-1]), 6)), np.empty((len(trees.slot_triangle), 6))
        for skin in np.flatnonzero(may.any(axis=0)):
            fit_boxes(skin, ways, edges.degenerate_triangles, trees.start, trees.slot_triangle, boxes, slot_boxes)
        room = INITIAL_PAIRS_PER_POINT * len(edges)
        while True:
            a, b = np.empty(room, np.int32), np.empty(room, np.int32)
            found = find_candidate_pairs(
                0,
                len(edges),
                swept,
                edges.skin,
                skins.nodes,
                may,
                bounds,
                edges.degenerate_triangles,
                trees.start,
                trees.slot_triangle,
                boxes,
                slot_boxes,
                a,
                b,
            )
            if found <= room:
                self.pairs = a[:found], b[:found]
                return
            room = found
