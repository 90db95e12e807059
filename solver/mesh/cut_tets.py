# SPDX-License-Identifier: GPL-3.0-or-later
"""Tets after a cut: where it parts the material in a tet, each part gets a copy of the tet, with nodes of its own.

Copies of two neighbours have the same copies of the nodes between them where they share material there, so the copies
hang together as the material does. Nodes of a copy that lie beyond the cut are virtual: they move the material of the
copy, and there is nothing at them.

Source: S07, sections 2.6 and 7.3.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..runtime.arrays import Floats, Indices


@dataclass(frozen=True, eq=False)
class CutTets:
    """The tets of a body after a cut.

    Attributes:
        tets: Nodes of the copies, (k, 4); copies of one tet lie one after another, tets that are not cut have one.
        parent: The tet before the cut that each is a copy of, rising, (k,).
        origin: The node before the cut that each node is a copy of, (n',); the first copy of each node keeps its
            number, so where nothing is cut this is 0 … n − 1.
        filled: Share of the volume of its tet that is each copy's, in (0, 1], (k,); those of one tet add up to 1.
    """

    tets: Indices
    parent: Indices
    origin: Indices
    filled: Floats


def uncut_tets(tets: Indices, node_count: int) -> CutTets:
    """Returns tets, (m, 4), of so many nodes with one copy each."""
    count = len(tets)
    return CutTets(tets, np.arange(count, dtype=np.int32), np.arange(node_count, dtype=np.int32), np.ones(count))


def cut_again(before: CutTets, cut: CutTets) -> CutTets:
    """Returns what two cuts, one after the other, make of the tets before both; the second is a cut of the copies."""
    return CutTets(
        cut.tets, before.parent[cut.parent], before.origin[cut.origin], before.filled[cut.parent] * cut.filled
    )
