# SPDX-License-Identifier: GPL-3.0-or-later
"""A tree of parts of the tets of a body, each halved where its halves share few nodes: nested dissection.

Source: George (1973).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..runtime.arrays import Floats, Indices

LEAF_TETS = 48  # at most of the smallest parts, on average
MIN_HALF = 0.4  # of a part, at least in each of its halves


@dataclass(frozen=True, eq=False)
class TetTree:
    """Parts of the tets of a body: part p has halves 2 p and 2 p + 1, and part 1 is the whole.

    Attributes:
        leaf: The smallest part with each tet, (m,), all in the same generation.
    """

    leaf: Indices

    def smallest_parts(self, node_of_corner: Indices, tets: Indices, count: int) -> Indices:
        """Returns the smallest part with all tets at each node, (count,).

        Args:
            node_of_corner: Nodes of some tets, (k, 4).
            tets: These tets, (k,).
            count: How many nodes there are; each has tets.
        """
        low, high = np.full(count, np.iinfo(np.int32).max, np.int32), np.zeros(count, np.int32)
        leaf = np.repeat(self.leaf[tets], 4)
        np.minimum.at(low, node_of_corner.ravel(), leaf)
        np.maximum.at(high, node_of_corner.ravel(), leaf)
        while (differs := low != high).any():
            low[differs] >>= 1
            high[differs] >>= 1
        return low


def tet_tree(nodes: Floats, tets: Indices) -> TetTree:
    """Returns halves of tets, (m, 4), with nodes (n, 3) [m], that share as few nodes as planes leave to them."""
    middles = nodes[tets].mean(axis=1)
    parts = {1: np.arange(len(tets), dtype=np.int32)}
    while len(tets) > LEAF_TETS * len(parts):
        halves = {}
        for part, own in parts.items():
            halves[2 * part], halves[2 * part + 1] = _halves(own, tets, middles)
        parts = halves
    leaf = np.empty(len(tets), np.int32)
    for part, own in parts.items():
        leaf[own] = part
    return TetTree(leaf)


def _halves(own: Indices, tets: Indices, middles: Floats) -> tuple[Indices, Indices]:
    """Returns halves of some tets, (k,): of planes across the axes, about half way, that through the fewest nodes."""
    count = len(own)
    least, most = int(MIN_HALF * count), count - int(MIN_HALF * count)
    found, fewest = (own, own[:0]), np.inf
    node, local = np.unique(tets[own], return_inverse=True)
    for axis in range(3):
        order = np.argsort(middles[own, axis], kind="stable")
        rank = np.empty(count, np.int64)
        rank[order] = np.arange(count, dtype=np.int64)
        low, high = np.full(len(node), count, np.int64), np.zeros(len(node), np.int64)
        np.minimum.at(low, local.ravel(), np.repeat(rank, 4))
        np.maximum.at(high, local.ravel(), np.repeat(rank, 4))
        # nodes whose tets are on both sides, where the first so many tets are one half
        shared = np.bincount(low + 1, minlength=count + 2) - np.bincount(high + 1, minlength=count + 2)
        at = least + int(np.argmin(np.cumsum(shared, dtype=np.int64)[least : most + 1])) if count else 0
        through = int(np.cumsum(shared, dtype=np.int64)[at]) if count else 0
        if through < fewest:
            found, fewest = (own[order[:at]], own[order[at:]]), through
    return found
