# SPDX-License-Identifier: GPL-3.0-or-later
"""The samples at which the faces of cracks, or the copies of the vertices of a sheet, part."""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Indices

NEVER_OPEN = -1


class TearOpening:
    """The vertices of a torn sheet, and the first sample at which one of the copies of each has parted from the others.

    Attributes:
        sample: That sample, (k,); NEVER_OPEN for vertices without copies.
    """

    def __init__(self, source_vertex: Indices, tet: Indices, corner: Indices) -> None:
        """Takes the vertex of the render mesh that each is, and the tet and corner that it follows, (k,) each."""
        self.sample = np.full(len(tet), NEVER_OPEN, np.int64)
        self._tet, self._corner = tet, corner
        _, first, self._source = np.unique(source_vertex, return_index=True, return_inverse=True)
        self._first = first[self._source]

    def record(self, sample: int, tets: Indices) -> None:
        """Records the vertices that the topology from `sample` on parts. Call it in rising order."""
        node = tets[self._tet, self._corner]
        has_parted = np.zeros(int(self._source.max(initial=-1)) + 1, bool)
        has_parted[self._source[node != node[self._first]]] = True
        self.sample[has_parted[self._source] & (self.sample == NEVER_OPEN)] = sample


class CrackOpening:
    """Pairs of tets, and the first sample at which they have parted.

    Attributes:
        sample: That sample, (p,); NEVER_OPEN for closed pairs.
    """

    def __init__(self, tets: Indices, pairs: Indices) -> None:
        """Takes pairs of tets that share a face, (p, 2), of intact tets with the nodes `tets`, (m, 4)."""
        self.pairs = pairs
        self.sample = np.full(len(pairs), NEVER_OPEN, np.int64)
        one, other = tets[pairs[:, 0]], tets[pairs[:, 1]]
        is_same = one[:, :, None] == other[:, None, :]
        self._slot, self._has = is_same.argmax(axis=2), is_same.any(axis=2)

    def record(self, sample: int, tets: Indices) -> None:
        """Records the pairs that the topology from `sample` on parts. Call it in rising order."""
        closed = np.flatnonzero(self.sample == NEVER_OPEN)
        one, other = self.pairs[closed].T
        is_parted = tets[one] != tets[other[:, None], self._slot[closed]]
        self.sample[closed[(is_parted & self._has[closed]).any(axis=1)]] = sample
