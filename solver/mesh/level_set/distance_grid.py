# SPDX-License-Identifier: GPL-3.0-or-later
"""Signed distances on a regular grid, exact near the surface."""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Floats
from ..geometry.signed_distance_interface import SignedDistance
from .voxel_grid import VoxelGrid

BLOCK = 4  # nodes along the side of a block, of which one distance may tell that the surface is far from all
BAND = 3.0  # [voxels] around the surface, in which distances are exact


def grid_of_blocks(lower: Floats, upper: Floats, voxel: float, margin: int = 4) -> VoxelGrid:
    """Returns the grid that reaches so many voxels beyond a box [m], its sides whole numbers of blocks."""
    counts = [int(np.ceil(length / voxel)) + 2 * margin + 1 for length in upper - lower]
    counts = [-(-count // BLOCK) * BLOCK for count in counts]
    return VoxelGrid(lower - margin * voxel, voxel, (counts[0], counts[1], counts[2]))


def sample_distance(grid: VoxelGrid, distance: SignedDistance) -> Floats:
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
