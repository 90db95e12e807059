# SPDX-License-Identifier: GPL-3.0-or-later
"""A regular grid of points, at which a level set has its values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...runtime.arrays import Bools, Floats, Indices


@dataclass(frozen=True)
class VoxelGrid:
    """Points origin + voxel · (i, j, k).

    Attributes:
        origin: The first one [m], (3,).
        voxel: Distance of neighbours [m].
        shape: How many there are along x, y and z.
    """

    origin: Floats
    voxel: float
    shape: tuple[int, int, int]

    @staticmethod
    def around(low: Floats, high: Floats, margin: float, voxel: float) -> VoxelGrid:
        """Returns the grid around a box from `low` to `high` [m], (3,) each, with a margin [m]."""
        cells = np.ceil((high - low + 2.0 * margin) / voxel).astype(np.int64)
        origin = 0.5 * (low + high) - 0.5 * cells * voxel
        x, y, z = (cells + 1).tolist()
        return VoxelGrid(origin, voxel, (x, y, z))

    @property
    def point_count(self) -> int:
        """Number of all points."""
        x, y, z = self.shape
        return x * y * z

    def positions(self, index: Indices | Floats) -> Floats:
        """Returns where points with indices (i, j, k), (n, 3), are [m], (n, 3); fractions lie between points."""
        return self.origin + self.voxel * index

    def chosen(self, is_chosen: Bools) -> Indices:
        """Returns the indices of chosen points, (x, y, z), as rows (n, 3)."""
        return np.argwhere(is_chosen).astype(np.int32)

    def part(self, low: Floats, high: Floats) -> tuple[slice, slice, slice]:
        """Returns the points in a box from `low` to `high` [m], (3,) each, and around it up to the next ones."""
        first = np.clip(np.floor((low - self.origin) / self.voxel), 0, np.array(self.shape) - 1).astype(np.int64)
        last = np.clip(np.ceil((high - self.origin) / self.voxel), 0, np.array(self.shape) - 1).astype(np.int64)
        x, y, z = (slice(int(a), int(b) + 1) for a, b in zip(first, last, strict=True))
        return x, y, z
