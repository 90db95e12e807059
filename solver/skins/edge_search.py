# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds where sharp edges of skins meet during one step."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ..arrays import Bools, Floats, Indices
from ..late_dataclass import dataclass
from .candidates import find_bounds, find_pairs, has_left, sweep
from .edge_crossings import find_edge_crossings, find_nearest_edges
from .edges import SharpEdges, Whole
from .search import FORGET, ROOM, SPARE
from .skin import SLOTS, Skins
from .time_of_impact import ASIDE
from .tree import fit_boxes

FAR = 1.0  # depth at the end of a look from which edges are not taken, in sizes of tets
END = 0.1  # distance from a corner up to which that alone meets faces, in sizes of tets
LOST = 2.0  # depth from which edges that met are forgotten, in sizes of tets
PARALLEL, TURNED = (
    0.02,
    0.35,
)  # for those that met: `SKEW` and `SLANT` from which they are forgotten; soft edges give way
NAMES = ("a", "b", "slot", "place", "sign", "shift")
NOTHING = np.zeros(0, np.int32)


@dataclass(frozen=True, eq=False)
class EdgesMet:
    """Pairs of edges that are in contact, k of them: see `Met`, which they are as, with points p of the first.

    Attributes:
        id: (chain a · chains + chain b) · `SLOTS` + slot, rising, (k,).
        a, b: The edges, (k,) each.
        place: Where p and q are on them, from 0 at the beginning to 1, (k, 2).
        normal: Of length one, towards the side on which a is kept, at the end of the step, (k, 3).
        gap: n · (p − q) less both thicknesses, at the start [m], (k,).
    """

    id: Whole
    a: Indices
    b: Indices
    place: Floats
    normal: Floats
    gap: Floats


@dataclass(frozen=True, eq=False)
class EdgesKnown:
    """Pairs of edges that a step begins with, k of them.

    Attributes:
        id: See `EdgesMet`.
        triangle: Beside the second edge, (k,).
        shift: Gap at which they begin to push [m], (k,).
        normal: Which way the first was kept, at the start of the step, (k, 3).
    """

    id: Whole
    triangle: Indices
    shift: Floats
    normal: Floats

    @staticmethod
    def none() -> EdgesKnown:
        """Returns no contacts."""
        return EdgesKnown(np.zeros(0, np.int64), NOTHING, np.zeros(0), np.zeros((0, 3)))


@dataclass(frozen=True, eq=False)
class _Held:
    """Pairs in contact: see `EdgesMet`; n is `sign` times the cross product of the edges by length."""

    a: Indices
    b: Indices
    slot: Indices
    place: Floats
    sign: Floats
    shift: Floats

    def __len__(self) -> int:
        return len(self.a)

    def only(self, which: npt.NDArray | slice) -> _Held:
        return _Held(*(getattr(self, name)[which] for name in NAMES))

    def and_also(self, other: _Held) -> _Held:
        return _Held(*(np.concatenate([getattr(self, name), getattr(other, name)]) for name in NAMES))


class EdgeSearch:
    """Where sharp edges meet in one step that begins with vertices at `start`.

    Guaranteed: as `SkinSearch` says of points and triangles. Of edges on the same two chains that meet beside each
    other one pair is a contact, at up to `SLOTS` places.
    """

    def __init__(self, skins: Skins, edges: SharpEdges, start: Floats, known: EdgesKnown) -> None:
        """Makes ready for a step.

        Args:
            skins: All of them.
            edges: Theirs.
            start: Their vertices and `SharpEdges.rest` at its start [m], (v + w, 3).
            known: Contacts that it begins with.
        """
        self.skins, self.edges, self.start = skins, edges, start
        self.may = skins.edges_meet
        self.pairs = NOTHING, NOTHING
        self.looked_at: Floats | None = None
        self.spare = np.empty(len(start))
        self.held = self._held(known)

    def find(self, end: Floats) -> EdgesMet:
        """Returns what meets when vertices go to `end` [m], (v + w, 3)."""
        if self.looked_at is None or has_left(self.looked_at, end, self.spare):
            self._gather(end)
        normal, gap, ahead = self._planes(self.held, end)
        if len(self.pairs[0]) and self._take(self._crossing(end), end, ahead < self.held.shift):
            normal, gap, ahead = self._planes(self.held, end)
        edges, held = self.edges, self.held
        is_near = np.flatnonzero(ahead < held.shift + FORGET * edges.size[held.b])
        held, normal, gap = held.only(is_near), normal[is_near], gap[is_near]
        id = self._key(held.a, held.b) * SLOTS + held.slot
        order = np.argsort(id, kind="stable")
        held = held.only(order)
        return EdgesMet(id[order], held.a, held.b, held.place, normal[order], gap[order])

    def _key(self, a: npt.NDArray | np.int32, b: npt.NDArray | np.int32) -> Whole:
        """Returns chain a · chains + chain b, (k,)."""
        chain = self.edges.chain.astype(np.int64)
        return chain[a] * self.edges.chains + chain[b]

    def _keeps(self, a: Indices, b: Indices) -> Floats:
        """Returns the distance that edges keep [m], (k,)."""
        return self.skins.thickness[self.edges.skin[a]] + self.skins.thickness[self.edges.skin[b]]

    def _held(self, known: EdgesKnown) -> _Held:
        """Returns the contacts that the step begins with, each where its chains are nearest to each other."""
        edges, count = self.edges, len(known.id)
        key, slot = np.divmod(known.id, SLOTS)
        chain_a, chain_b = (of.astype(np.int32) for of in np.divmod(key, edges.chains))
        nothing = _Held(NOTHING, NOTHING, NOTHING, np.zeros((0, 2)), np.zeros(0), np.zeros(0))
        if not count:
            return nothing
        there = (np.diff(edges.chain_start)[chain_a] > 0) & (np.diff(edges.chain_start)[chain_b] > 0)
        if not there.all():
            which = np.flatnonzero(there)
            return self._held(EdgesKnown(*(getattr(known, name)[which] for name in vars(known))))
        a, b, place = np.empty(count, np.int32), np.empty(count, np.int32), np.empty((count, 2))
        sign, kept = np.empty(count), np.empty(count, bool)
        find_nearest_edges(
            chain_a, chain_b, known.triangle, known.normal, PARALLEL, TURNED, self.start, edges.ends,
            edges.chain_start, edges.triangle, a, b, place, sign, kept,
        )  # fmt: skip
        # beyond the last edge of a chain there is nothing to meet
        for edge, along in ((a, place[:, 0]), (b, place[:, 1])):
            kept &= ~((along <= 0.0) & edges.is_end[edge, 0]) & ~((along >= 1.0) & edges.is_end[edge, 1])
        kept &= self.may[edges.skin[a], edges.skin[b]]
        held = _Held(a, b, slot.astype(np.int32), place, sign, known.shift).only(kept)
        alone = np.ones(len(held), bool)
        for later in range(1, len(held)):
            same = alone[:later] & self._is_same(held.only(slice(later)), held.a[later], held.b[later])
            alone[later] = not same.any()
        held = held.only(alone)
        return held.only(self._planes(held, self.start)[1] > -LOST * edges.size[held.b])

    def _is_same(self, held: _Held, a: np.int32, b: np.int32) -> Bools:
        """Returns which contacts are those of a pair of edges: of the same, or of ones beside them on the chains."""
        ends, one, other = self.edges.ends, self.edges.ends[a, :2], self.edges.ends[b, :2]
        beside = np.isin(ends[held.a, :2], one).any(axis=1) & np.isin(ends[held.b, :2], other).any(axis=1)
        return beside & (self._key(held.a, held.b) == self._key(a, b))

    def _planes(self, held: _Held, end: Floats) -> tuple[Floats, Floats, Floats]:
        """Returns normals, gaps and the gaps at the end of contacts [m], (k, 3), (k,) and (k,)."""
        if not len(held):
            return np.zeros((0, 3)), np.zeros(0), np.zeros(0)
        ends = self.edges.ends
        a0, a1, b0, b1 = (end[ends[edge, k]] for edge in (held.a, held.b) for k in (0, 1))
        normal = held.sign[:, None] * np.cross(a1 - a0, b1 - b0)
        length = np.linalg.norm(normal, axis=1)
        normal /= np.maximum(length, 1e-300)[:, None]
        keeps = self._keeps(held.a, held.b)
        places = (self._places(held, at) for at in (self.start, end))
        gap, ahead = (np.einsum("ki,ki->k", normal, p - q) - keeps for p, q in places)
        return normal, gap, np.where(length > 0.0, ahead, np.inf)

    def _crossing(self, end: Floats) -> _Held:
        """Returns what goes into each other, by rising time.

        A solve that lets edges through each other as far as nothing that is kept would go says by them only that they
        were free, not where they meet: points do first, and the next solve tells of edges.
        """
        a, b = self.pairs
        room, edges = len(a), self.edges
        whole, sign, numbers, place = np.empty((2, room), np.int32), np.empty(room), np.empty(room), np.empty((room, 2))
        count = find_edge_crossings(
            a, b, self.start, end, edges.ends, edges.size, self._keeps(a, b), whole[0], whole[1], place, sign, numbers
        )
        found = _Held(
            whole[0, :count], whole[1, :count], np.zeros(count, np.int32), place[:count], sign[:count], np.zeros(count)
        )
        order = np.lexsort((found.b, found.a, numbers[:count]))
        found = found.only(order)
        is_there = self._planes(found, end)[2] > -FAR * edges.size[found.b]
        # what slides onto a surface a little too deep would be caught by the ends of its upright edges
        for edge, along in ((found.a, found.place[:, 0]), (found.b, found.place[:, 1])):
            first, last = (self.start[edges.ends[edge, k]] for k in (0, 1))
            near = END * edges.size[found.b] / np.maximum(np.linalg.norm(last - first, axis=1), 1e-300)
            is_there &= ~(edges.is_end[edge, 0] & (along < near)) & ~(edges.is_end[edge, 1] & (along > 1.0 - near))
        return found.only(is_there)

    def _take(self, found: _Held, end: Floats, pushes: Bools) -> bool:
        """Adds what goes in and is not held yet, and gives what is held without a push its place; says whether any."""
        changed = False
        for row in range(len(found)):
            held, one = self.held, found.only(np.array([row], np.int64))
            same = np.flatnonzero(self._is_same(held, one.a[0], one.b[0]))
            if len(same):
                there = same[0]
                if not pushes[there]:
                    values = {name: getattr(held, name).copy() for name in ("a", "b", "place", "sign")}
                    for name, array in values.items():
                        array[there] = getattr(one, name)[0]
                    self.held, changed = replace(held, **values), True
                    pushes = pushes.copy()
                    pushes[there] = True
                continue
            taken = held.slot[self._key(held.a, held.b) == self._key(one.a, one.b)[0]]
            free = np.setdiff1d(np.arange(SLOTS, dtype=np.int64), taken)
            if len(free) and not self._comes_later(one, held.only(pushes), end):
                self.held, changed = held.and_also(replace(one, slot=free[:1].astype(np.int32))), True
                pushes = np.append(pushes, True)
        return changed

    def _comes_later(self, one: _Held, held: _Held, end: Floats) -> bool:
        """Whether edges would not have met, had those that met before been kept: no farther away than they go."""
        skin = self.edges.skin
        alike = held.only((skin[held.a] == skin[one.a]) & (skin[held.b] == skin[one.b]))
        if not len(alike):
            return False
        (p, q), (p_end, q_end) = self._places(one, self.start), self._places(one, end)
        way = np.linalg.norm((p_end - p) - (q_end - q), axis=1)
        apart = [
            np.linalg.norm(of - own, axis=1) for of, own in zip(self._places(alike, self.start), (p, q), strict=True)
        ]
        return bool((np.minimum(*apart) < way).any())

    def _places(self, held: _Held, at: Floats) -> tuple[Floats, Floats]:
        """Returns where p and q are [m], (k, 3) each."""
        ends, along = self.edges.ends, held.place
        a, b = ((at[ends[edge, 0]], at[ends[edge, 1]]) for edge in (held.a, held.b))
        return a[0] + along[:, :1] * (a[1] - a[0]), b[0] + along[:, 1:] * (b[1] - b[0])

    def _gather(self, end: Floats) -> None:
        """Gathers pairs of edges that may meet when vertices end near `end` [m], (v + w, 3)."""
        skins, edges, trees = self.skins, self.edges, self.edges.trees
        size, count = float(edges.size.max()), len(end)
        ways, bounds = np.empty((count, 6)), np.empty((len(skins), 6))
        more = skins.thickness[np.concatenate([skins.skin_of, edges.skin_of_rest])] + ASIDE * size
        self.looked_at = end
        sweep(self.start, end, np.full(count, SPARE * size, np.float64), more, self.spare, ways)
        low, high = (ways[edges.ends[:, :2], of] for of in (slice(0, 3), slice(3, 6)))
        swept = np.concatenate([low.min(axis=1), high.max(axis=1)], axis=1)
        find_bounds(edges.start, swept, bounds)
        touch = (bounds[:, None, :3] <= bounds[None, :, 3:]).all(axis=2)
        may = self.may & touch & touch.T
        self.pairs = NOTHING, NOTHING
        if not may.any():
            return
        boxes, slot_boxes = np.empty((int(trees.start[-1]), 6)), np.empty((len(trees.order), 6))
        for skin in np.flatnonzero(may.any(axis=0)):
            fit_boxes(skin, ways, edges.lines, trees.start, trees.order, boxes, slot_boxes)
        room = ROOM * len(edges)
        while True:
            a, b = np.empty(room, np.int32), np.empty(room, np.int32)
            found = find_pairs(
                0, len(edges), swept, edges.skin, skins.nodes, may, bounds, edges.lines, trees.start, trees.order,
                boxes, slot_boxes, a, b,
            )  # fmt: skip
            if found <= room:
                self.pairs = a[:found], b[:found]
                return
            room = found
