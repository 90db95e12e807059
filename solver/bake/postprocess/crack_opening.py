# SPDX-License-Identifier: GPL-3.0-or-later
"""When the faces of a crack part."""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Indices

NEVER_OPEN = -1


class CrackOpening:
    """Pairs of tets that part one day, and the first sample at which they have.

    Attributes:
        sample: The first sample, (p,); NEVER as long as a pair is closed.
    """

    def __init__(self, tets: Indices, pairs: Indices) -> None:
        """Takes pairs of tets, (p, 2), that share a face, of tets with the nodes `tets`, (m, 4), while all is whole."""
        self.pairs = pairs
        self.sample = np.full(len(pairs), NEVER_OPEN, np.int64)
        one, other = tets[pairs[:, 0]], tets[pairs[:, 1]]
        is_same = one[:, :, None] == other[:, None, :]
        self._slot, self._has = is_same.argmax(axis=2), is_same.any(axis=2)

    def record(self, sample: int, tets: Indices) -> None:
        """Notes the pairs that a topology parts which holds from `sample` on; to be called in rising order."""
        closed = np.flatnonzero(self.sample == NEVER_OPEN)
        one, other = self.pairs[closed].T
        parted = tets[one] != tets[other[:, None], self._slot[closed]]
        self.sample[closed[(parted & self._has[closed]).any(axis=1)]] = sample
