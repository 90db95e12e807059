# SPDX-License-Identifier: GPL-3.0-or-later
"""Signed distances on a regular grid, exact near the surface."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...runtime.arrays import Bools, Floats, Indices
from ..geometry.signed_distance import SignedDistance

BLOCK = 4  # nodes along the side of a block, of which one distance may tell that the surface is far from all
BAND = 3.0  # [voxels] around the surface, in which distances are exact


@dataclass(frozen=True, eq=False)
class Grid:
    """Nodes at equal distances.

    Attributes:
        origin: The node with the least coordinates [m], (3,).
        voxel: Distance of neighbouring nodes [m].
        shape: Nodes along x, y and z.
    """

    origin: Floats
    voxel: float
    shape: tuple[int, int, int]

    def positions(self, nodes: Indices | Floats) -> Floats:
        """Returns the places of nodes given by their three numbers, (k, 3), [m]."""
        return self.origin + self.voxel * nodes

    def nodes(self, is_chosen: Bools) -> Indices:
        """Returns the numbers of chosen nodes, (x, y, z), as rows (k, 3)."""
        return np.argwhere(is_chosen).astype(np.int32)


def grid_around(lower: Floats, upper: Floats, voxel: float, margin: int = 4) -> Grid:
    """Returns the grid that reaches so many voxels beyond a box [m], its sides whole numbers of blocks."""
    counts = [int(np.ceil(length / voxel)) + 2 * margin + 1 for length in upper - lower]
    counts = [-(-count // BLOCK) * BLOCK for count in counts]
    return Grid(lower - margin * voxel, voxel, (counts[0], counts[1], counts[2]))


def sample_distance(grid: Grid, distance: SignedDistance) -> Floats:
    """Returns the signed distance at all nodes, (x, y, z) [m]: exact up to BAND voxels, farther with the right sign.

    A distance function changes no faster than places do, so that of the middle of a block bounds that of its nodes.
    """
    blocks = np.indices([count // BLOCK for count in grid.shape], dtype=np.int32).reshape(3, -1).T
    middles, _ = distance(grid.positions(BLOCK * blocks + 0.5 * (BLOCK - 1)))
    radius = 0.5 * (BLOCK - 1) * np.sqrt(3.0) * grid.voxel
    is_near = np.abs(middles) <= radius + BAND * grid.voxel
    within = np.indices((BLOCK,) * 3, dtype=np.int32).reshape(3, -1).T
    values = np.empty(grid.shape)
    nodes = (BLOCK * blocks[:, None] + within).reshape(-1, 3)
    filled = np.repeat(middles, BLOCK**3)
    of_near = np.repeat(is_near, BLOCK**3)
    filled[of_near], _ = distance(grid.positions(nodes[of_near]))
    values[tuple(nodes.T)] = filled
    return values
