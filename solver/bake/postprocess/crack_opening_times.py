# SPDX-License-Identifier: GPL-3.0-or-later
"""The samples at which the faces of cracks part."""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Indices

NEVER_OPEN = -1


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
