# SPDX-License-Identifier: GPL-3.0-or-later
"""Which islands of a matrix hang together by blocks between them, as bodies do that touch."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ..runtime.union_find import union_pairs
from .envelope_cholesky import EnvelopeLayout, Int64s


@dataclass(frozen=True, eq=False)
class Coupling:
    """Clusters of islands: none is joined to an island of another.

    Attributes:
        start: Where the members of each cluster begin, (c + 1,).
        members: Islands, cluster after cluster, rising in each, (k,).
        first, second: Islands that touch each other, each two once, (t,).
        arrangements: Of some of the islands, by which these are (`envelope_cholesky.py`).
    """

    start: Int64s
    members: Int64s
    first: Int64s
    second: Int64s
    arrangements: dict[bytes, EnvelopeLayout] = field(default_factory=dict)

    def is_coupled(self) -> npt.NDArray[np.bool_]:
        """Returns whether an island is joined to others, (k,)."""
        coupled = np.zeros(len(self.members), bool)
        coupled[self.first] = coupled[self.second] = True
        return coupled

    def is_same(self, other: Coupling | None) -> bool:
        """Returns whether the same islands touch."""
        return (
            other is not None and np.array_equal(self.first, other.first) and np.array_equal(self.second, other.second)
        )


def island_coupling(one: npt.NDArray, two: npt.NDArray, count: int) -> Coupling | None:
    """Returns how blocks between the islands `one` and `two`, (e,), couple `count` of them; None where they do not."""
    low, high = np.minimum(one, two).astype(np.int64), np.maximum(one, two)
    keys = np.unique((low * count + high)[low != high])
    if not len(keys):
        return None
    first, second = np.divmod(keys, count)
    root = np.arange(count, dtype=np.int64)
    union_pairs(first, second, root)
    members = np.argsort(root, kind="stable")
    start = np.append(np.flatnonzero(np.diff(root[members], prepend=-1)), count)
    return Coupling(start, members, first, second)
