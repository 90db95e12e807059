# SPDX-License-Identifier: GPL-3.0-or-later
"""The matrix of a hierarchical body on every level, out of its blocks on the finest one.

On the nodes of level l − 1 the matrix is A_(l−1) = Pᵀ A_l P, with P the interpolation to level l. Its blocks are sums
of blocks of A_l with weights 1, ½ and ¼ that depend on the mesh alone: one sparse matrix times the table of blocks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...linalg.block_pattern import BlockPattern, block_pattern
from ...mesh.red_refinement import RefinementLevels
from ...runtime.arrays import Floats
from ...runtime.frozen_memo import derived_from
from .mean_gradients import coarse_blocks

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Int64s = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class LevelMaps:
    """How blocks of the finest level sum up to those of the others.

    Attributes:
        down: For every level from the finest to the first: blocks there → blocks on the level below, (b', b).
        diagonals: For the same levels: the blocks on the diagonal.
        coarse: Pattern of the coarse level.
        corners: Blocks of coarse tets, 16 each → blocks there, (b0, 16 M).
        keys: row · n + column of the blocks of the finest level, rising, (b,).
    """

    down: tuple[csr_matrix, ...]
    diagonals: tuple[Int64s, ...]
    coarse: BlockPattern
    corners: csr_matrix
    keys: Int64s


def level_maps(levels: RefinementLevels, pattern: BlockPattern, nodes: slice) -> LevelMaps:
    """Returns the maps of a body whose rows in a pattern are `nodes`, kept with its levels."""
    return derived_from(levels, "level_maps", lambda: _make_level_maps(levels, *blocks_between(pattern, nodes)))


def blocks_between(pattern: BlockPattern, nodes: slice) -> tuple[Int64s, Int64s, Int64s]:
    """Returns rows and columns of the blocks among some nodes, in numbers of their own, and which blocks these are."""
    start = pattern.row_start.astype(np.int64)
    begin, end = start[nodes.start], start[nodes.stop]
    rows = np.repeat(np.arange(nodes.stop - nodes.start, dtype=np.int64), np.diff(start[nodes.start : nodes.stop + 1]))
    columns = pattern.column[begin:end].astype(np.int64) - nodes.start
    inside = (columns >= 0) & (columns < nodes.stop - nodes.start)
    return rows[inside], columns[inside], begin + np.flatnonzero(inside)


def _make_level_maps(levels: RefinementLevels, rows: Int64s, columns: Int64s, blocks: Int64s) -> LevelMaps:
    from scipy.sparse import csr_matrix

    keys = rows * levels.starts[-1] + columns
    down, diagonals = [], []
    for level in range(levels.count, 0, -1):
        first, end = levels.starts[level], levels.starts[level + 1]
        diagonals.append(np.flatnonzero(rows == columns))
        parents = np.repeat(np.arange(end, dtype=np.int64)[:, None], 2, axis=1)
        parents[first:] = levels.parents[first - levels.starts[1] : end - levels.starts[1]]
        above = np.arange(len(rows), dtype=np.int64)
        found = parents[rows][:, :, None] * first + parents[columns][:, None, :]
        below, number = np.unique(found, return_inverse=True)
        # a coarse node is both of its own parents, so its weights are two halves
        entries = np.full(found.size, 0.25), (number.ravel(), np.repeat(above, 4))
        down.append(csr_matrix(entries, (len(below), len(rows))))
        rows, columns = np.divmod(below, first)
    coarse = block_pattern(levels.coarse_tets, levels.starts[1])
    places = coarse.corner_block.reshape(-1).astype(np.int64)
    corners = csr_matrix(
        (np.ones(len(places)), (places, np.arange(len(places), dtype=np.int64))), (coarse.block_count, len(places))
    )
    return LevelMaps(tuple(down), tuple(diagonals), coarse, corners, keys)


def assemble_coarse_tets(maps: LevelMaps, gradients: Floats, moduli: Floats) -> Floats:
    """Returns Σ g_aᵀ H g_b of coarse tets in the blocks of the coarse level, (b0, 9).

    Args:
        maps: Of the body.
        gradients: Of the coarse functions [1/m], (M, 4, 3).
        moduli: H [J], (M, 9, 9), see `green.moduli`.
    """
    blocks = np.empty((16 * len(moduli), 9))
    coarse_blocks(moduli, gradients, blocks)
    return np.asarray(maps.corners @ blocks)
