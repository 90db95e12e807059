# SPDX-License-Identifier: GPL-3.0-or-later
"""Longest-edge bisection of tets: each is halved at its longest edge again and again, and all that came of it is kept.

Which edge that is follows from the tet alone, so the tets of a coarse mesh are roots of one fixed forest. What is left
of it where some of its tets are halved and others are not is a mesh of leaves. Where a tet has a halved edge, it has to
be halved as well; with that, leaves meet face to face, and every face of a leaf is made of whole faces of the smallest
tets. So what is known of the faces of one mesh of leaves is known of those of the smallest.

Edges of the same length are told apart by their nodes, so that all tets around an edge agree.

Source: Rivara (1984); Rivara and Levin (1992).
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..runtime.arrays import Bools, Floats, Indices, floats, indices
from .local_tet_numbering import EDGE_ENDS, EDGE_STARTS

BISECTIONS_PER_LEVEL = 3  # an eighth of the volume, as of red refinement
Keys = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class TetForest:
    """All c tets that bisection makes of coarse ones, these first, and of the smallest their order.

    Attributes:
        nodes: Positions [m], those of the coarse tets first, (n, 3).
        tets: Corners, positively oriented, (c, 4).
        parent: The tet that each is a half of, −1 of coarse ones, (c,).
        children: Its halves, −1 of the smallest, (c, 2).
        generation: How often it was halved, (c,).
        edge_middle: The node in the middle of each of its edges, −1 where no tet has it, (c, 6).
        fine: The smallest tets, those of a coarse one, and of each half of it, one after the other, (m,).
        fine_range: Of each tet the first of `fine` in it, and the one after the last, (c, 2).
        root_count: How many tets are coarse.
        levels: How often all of them were refined, by three bisections each.
    """

    nodes: Floats
    tets: Indices
    parent: Indices
    children: Indices
    generation: Indices
    edge_middle: Indices
    fine: Indices
    fine_range: Indices
    root_count: int
    levels: int

    @property
    def fine_tets(self) -> Indices:
        """Corners of the smallest tets, (m, 4)."""
        return self.tets[self.fine]

    @functools.cached_property
    def root_of_fine(self) -> Indices:
        """The coarse tet of each of the smallest, (m,)."""
        return self.leaf_of_fine(np.arange(self.root_count, dtype=np.int32))

    @functools.cached_property
    def root(self) -> Indices:
        """The coarse tet of each tet, (c,)."""
        return self.root_of_fine[self.fine_range[:, 0]]

    @functools.cached_property
    def volume(self) -> Floats:
        """Of each tet [m³], (c,)."""
        corners = self.nodes[self.tets]
        return floats(np.linalg.det(corners[:, 1:] - corners[:, :1]) / 6.0)

    def leaf_of_fine(self, leaves: Indices) -> Indices:
        """Returns which of some leaves, (l,), each of the smallest tets is in, (m,); −1: in none."""
        found = np.full(len(self.fine), -1, np.int32)
        first, count = self.fine_range[leaves, 0], np.diff(self.fine_range[leaves], axis=1)[:, 0]
        offset = np.arange(count.sum(), dtype=np.int64) - np.repeat(np.cumsum(count, dtype=np.int64) - count, count)
        found[np.repeat(first, count) + offset] = np.repeat(np.arange(len(leaves), dtype=np.int32), count)
        return found

    def count_in(self, is_chosen: Bools) -> Keys:
        """Returns how many of some of the smallest tets, (m,), each tet has, (c,)."""
        before = np.concatenate([np.zeros(1, np.int64), np.cumsum(is_chosen, dtype=np.int64)])
        return before[self.fine_range[:, 1]] - before[self.fine_range[:, 0]]

    def leaves(self, is_halved: Bools) -> Indices:
        """Returns the leaves, (l,), in the order of the smallest tets, where at least some tets are halved, (c,).

        So are the tets that these are of, and what has to be for leaves to meet face to face.
        """
        halved = is_halved & (self.children[:, 0] >= 0)
        above = np.flatnonzero(halved)
        while len(above):
            above = np.unique(self.parent[above][self.parent[above] >= 0])
            above = above[~halved[above]]
            halved[above] = True
        is_active = np.zeros(len(self.nodes), bool)
        while True:
            edge = self._halved_edge
            is_active[self.edge_middle[halved, edge[halved]]] = True
            is_leaf = self._is_leaf(halved)
            hanging = is_leaf & (is_active[self.edge_middle] & (self.edge_middle >= 0)).any(axis=1)
            if not hanging.any():
                leaves = np.flatnonzero(is_leaf)
                return indices(leaves[np.argsort(self.fine_range[leaves, 0], kind="stable")])
            halved |= hanging

    @functools.cached_property
    def _halved_edge(self) -> Keys:
        """At which of its edges each tet is halved, or would be, (c,)."""
        return _longest_edges(self.nodes, self.tets.astype(np.int64))[0]

    def _is_leaf(self, halved: Bools) -> Bools:
        """Returns which tets are not halved, while all that they are parts of are, (c,)."""
        return ~halved & np.where(self.parent >= 0, halved[np.maximum(self.parent, 0)], True)


def bisected_tets(nodes: Floats, roots: Indices, levels: int) -> TetForest:
    """Returns the forest of coarse tets, (M, 4), with nodes [m], (n0, 3), that are refined so many times everywhere."""
    tets = np.asarray(roots, np.int64).reshape(-1, 4)
    generation, parent = np.zeros(len(tets), np.int64), np.full(len(tets), -1, np.int64)
    first_child = np.full(len(tets), -1, np.int64)
    keys, middles = np.zeros(0, np.int64), np.zeros(0, np.int64)
    while True:
        leaf = np.flatnonzero(first_child < 0)
        is_hanging = np.isin(_edge_keys(tets[leaf]), keys).any(axis=1)
        halved = leaf[is_hanging | (generation[leaf] < BISECTIONS_PER_LEVEL * levels)]
        if not len(halved):
            break
        edge, key = _longest_edges(nodes, tets[halved])
        new = np.setdiff1d(key, keys)
        ends = np.stack([new >> 32, new & 0xFFFFFFFF], axis=1)
        keys, middles = (
            np.concatenate([keys, new]),
            np.concatenate([middles, len(nodes) + np.arange(len(new), dtype=np.int64)]),
        )
        nodes = floats(np.concatenate([nodes, nodes[ends].mean(axis=1)]))
        order = np.argsort(keys)
        keys, middles = keys[order], middles[order]
        middle = middles[np.searchsorted(keys, key)]
        rows = np.arange(len(halved), dtype=np.int64)
        one, other = tets[halved].copy(), tets[halved].copy()
        one[rows, EDGE_ENDS[edge]] = middle
        other[rows, EDGE_STARTS[edge]] = middle
        first_child[halved] = len(tets) + 2 * rows
        tets = np.concatenate([tets, np.stack([one, other], axis=1).reshape(-1, 4)])
        generation = np.concatenate([generation, np.repeat(generation[halved] + 1, 2)])
        parent = np.concatenate([parent, np.repeat(halved, 2)])
        first_child = np.concatenate([first_child, np.full(2 * len(halved), -1, np.int64)])
    of_edges = np.searchsorted(keys, _edge_keys(tets))
    is_known = np.isin(_edge_keys(tets), keys)
    edge_middle = np.where(is_known, np.concatenate([middles, [-1]])[np.where(is_known, of_edges, -1)], -1)
    children = np.where(first_child[:, None] >= 0, first_child[:, None] + np.arange(2, dtype=np.int64), -1)
    ranges = _fine_ranges(children, generation)
    fine = np.flatnonzero(first_child < 0)
    return TetForest(
        nodes=nodes,
        tets=indices(tets, -1, 4),
        parent=indices(parent),
        children=indices(children, -1, 2),
        generation=indices(generation),
        edge_middle=indices(edge_middle, -1, 6),
        fine=indices(fine[np.argsort(ranges[fine, 0], kind="stable")]),
        fine_range=indices(ranges, -1, 2),
        root_count=len(roots),
        levels=levels,
    )


def _edge_keys(tets: Keys) -> Keys:
    """Returns a number for each edge of tets, (m, 6)."""
    ends = np.sort(np.stack([tets[:, EDGE_STARTS], tets[:, EDGE_ENDS]], axis=2), axis=2)
    return ends[..., 0] << 32 | ends[..., 1]


def _longest_edges(nodes: Floats, tets: Keys) -> tuple[Keys, Keys]:
    """Returns which edge of each tet is the longest, and its number, (m,) each; of several the one with the largest."""
    keys = _edge_keys(tets)
    along = nodes[keys >> 32] - nodes[keys & 0xFFFFFFFF]
    length = along[..., 0] ** 2 + along[..., 1] ** 2 + along[..., 2] ** 2
    edge = np.where(length == length.max(axis=1, keepdims=True), keys, -1).argmax(axis=1)
    return edge, np.take_along_axis(keys, edge[:, None], axis=1)[:, 0]


def _fine_ranges(children: Keys, generation: Keys) -> Keys:
    """Returns of each tet the first of the smallest ones in it, and the one after the last, (c, 2)."""
    count = np.ones(len(children), np.int64)
    for g in range(int(generation.max(initial=0)) - 1, -1, -1):
        halved = np.flatnonzero((generation == g) & (children[:, 0] >= 0))
        count[halved] = count[children[halved]].sum(axis=1)
    first = np.zeros(len(children), np.int64)
    roots = np.flatnonzero(generation == 0)
    first[roots] = np.cumsum(count[roots], dtype=np.int64) - count[roots]
    for g in range(int(generation.max(initial=0))):
        halved = np.flatnonzero((generation == g) & (children[:, 0] >= 0))
        first[children[halved, 0]] = first[halved]
        first[children[halved, 1]] = first[halved] + count[children[halved, 0]]
    return np.stack([first, first + count], axis=1)
