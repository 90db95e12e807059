# SPDX-License-Identifier: GPL-3.0-or-later
"""All tets that an adaptive body can have: those of its largest lattice, their children, and so on to the smallest.

Which of them it has at a moment is said by those that are split: a tet is a leaf, and simulated, where it is not split
and all that it came out of are. Refinement is red and not graded (`tetrahedralize/adaptive_lattice.py`).
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..runtime.arrays import Bools, Floats, Indices, floats

Keys = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class TetLevels:
    """The c tets of all levels, the largest first, those of one level together.

    Attributes:
        origin: Where the point with number 0 is [m], (3,).
        spacing: Between points [m].
        counts: Points along x, y and z.
        corners: Numbers of the points at the corners of each tet, positively oriented, (c, 4).
        level_start: The first tet of each level, and c, (levels + 2,).
        parent: The tet that each came out of, −1 for the largest, (c,). Children that have nothing of the body are
            left out.
        fill: Filled share of each, of all but the smallest the mean of eight children, (c,).
        is_split_at_start: Which are split when the simulation begins, and stay so, (c,).
    """

    origin: Floats
    spacing: float
    counts: tuple[int, int, int]
    corners: Keys
    level_start: tuple[int, ...]
    parent: Indices
    fill: Floats
    is_split_at_start: Bools

    @property
    def level_count(self) -> int:
        """How often a tet may be split."""
        return len(self.level_start) - 2

    @functools.cached_property
    def size(self) -> Floats:
        """The long edge of each tet [m], (c,)."""
        level = np.repeat(np.arange(self.level_count + 1, dtype=np.int64), np.diff(self.level_start))
        return 2.0 * self.spacing * 2.0 ** (self.level_count - level)

    @functools.cached_property
    def is_finest(self) -> Bools:
        """Which tets are of the last level, (c,)."""
        return np.arange(len(self.corners), dtype=np.int64) >= self.level_start[-2]

    @functools.cached_property
    def child_count(self) -> npt.NDArray[np.int64]:
        """How many children of each are kept, (c,)."""
        return np.bincount(self.parent[self.level_start[1] :], minlength=len(self.parent))

    def positions(self, points: Keys) -> Floats:
        """Returns where points are at rest [m], (…, 3)."""
        places = np.stack(np.unravel_index(points, self.counts), axis=-1)
        return self.origin + self.spacing * places

    def is_reached(self, is_split: Bools) -> Bools:
        """Returns which tets have only split ones above them, (c,)."""
        out = np.zeros(len(self.parent), np.bool_)
        out[: self.level_start[1]] = True
        for first, end in zip(self.level_start[1:-1], self.level_start[2:], strict=True):
            parent = self.parent[first:end]
            out[first:end] = out[parent] & is_split[parent]
        return out

    def is_leaf(self, is_split: Bools) -> Bools:
        """Returns which tets the body has, (c,)."""
        return self.is_reached(is_split) & ~is_split

    def leaf_above(self, is_split: Bools) -> npt.NDArray[np.int64]:
        """Returns the leaf that each tet is, or is in; −1 for those that are larger than leaves, (c,)."""
        is_leaf = self.is_leaf(is_split)
        out = np.where(is_leaf, np.arange(len(self.parent), dtype=np.int64), -1)
        for first, end in zip(self.level_start[1:-1], self.level_start[2:], strict=True):
            inside = np.flatnonzero(~is_leaf[first:end]) + first
            out[inside] = out[self.parent[inside]]
        return out

    def weights_in(self, cell: npt.NDArray[np.int64], points: Keys) -> Floats:
        """Returns the barycentric weights of points, (k,), in tets, (k,): (k, 4)."""
        from .geometry.point_tet import barycentric_rows  # loads Numba, which readers of files do without

        places = np.stack(np.unravel_index(self.corners[cell], self.counts), axis=-1).astype(np.float64)
        point = np.stack(np.unravel_index(points, self.counts), axis=-1)
        numbers = np.arange(4 * len(cell), dtype=np.int32).reshape(-1, 4)
        rows, _ = barycentric_rows(floats(places.reshape(-1, 3)), numbers)
        inner = np.einsum("kij,kj->ki", rows, point - places[:, 0])
        return floats(np.concatenate([1.0 - inner.sum(axis=1, keepdims=True), inner], axis=1))
