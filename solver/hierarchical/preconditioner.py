# SPDX-License-Identifier: GPL-3.0-or-later
"""The preconditioner of a hierarchical body: in the hierarchical basis, the blocks of the diagonal.

In nodal values that is S D⁻¹ Sᵀ with D the 3×3 blocks of the diagonal of Sᵀ A S. Blocks of details are those of A_l on
the level that adds them (`galerkin.py`); on the coarse level there are blocks of the diagonal too, or factors of all.

Source: Hauth and Strasser 2004, section 4; Yserentant 1986, section 4.
"""

from __future__ import annotations

import time as clock

import numpy as np

from ..arrays import Floats
from ..jit import kernel
from ..levels import Levels
from ..linear.block_jacobi import invert_diagonal
from ..linear.threes import add_products, load, nothing, store, three, total
from ..method import LU
from .coarse_solve import lu_factors
from .galerkin import LevelMaps
from .transforms import gather_forces, to_nodal


class LevelBlocks:
    """The blocks of one body's matrix on all levels.

    Attributes:
        inverse: Those of the diagonal of the hierarchical basis, inverted, (n, 9); none of the coarse level.
        coarse: A on the coarse level, (b0, 9).
    """

    def __init__(self, levels: Levels, maps: LevelMaps, values: Floats) -> None:
        """Takes A of the finest level, (b, 9)."""
        self.levels, self.maps, starts = levels, maps, levels.starts
        self.inverse = np.empty((starts[-1], 9))
        for k, (down, details) in enumerate(zip(maps.down, maps.details, strict=True)):
            own = self.inverse[starts[-2 - k] : starts[-1 - k]]
            invert_diagonal(details.astype(np.uint32), np.ones(len(own), bool), values, own)
            values = np.asarray(down @ values)
        self.coarse = values


class LevelPreconditioner:
    """Of one body and one matrix.

    Attributes:
        coarse_seconds: Time spent on the coarse level so far.
    """

    def __init__(self, blocks: LevelBlocks, beyond: Floats, solver: str) -> None:
        """Takes the blocks of A, and what A is beyond them on the coarse level, (b0, 9)."""
        self.levels, self.inverse, maps = blocks.levels, blocks.inverse, blocks.maps
        coarse, is_free = blocks.coarse + beyond, np.ones(blocks.levels.starts[1], bool)
        begun = clock.perf_counter()
        self.solve = lu_factors(maps.coarse, coarse, is_free) if solver == LU else None
        self.coarse_seconds = clock.perf_counter() - begun
        invert_diagonal(maps.coarse.diagonal, is_free, coarse, self.inverse[: len(is_free)])

    def apply(self, r: Floats) -> Floats:
        """Returns S D⁻¹ Sᵀ r, (n, 3)."""
        first, parents = self.levels.starts[1], self.levels.parents
        h = r.copy()
        gather_forces(first, parents, h)
        z = np.empty_like(h)
        multiply_blocks(0 if self.solve is None else first, self.inverse, h, z)
        if self.solve is not None:
            begun = clock.perf_counter()
            z[:first] = self.solve(h[:first])
            self.coarse_seconds += clock.perf_counter() - begun
        to_nodal(first, parents, z)
        return z


@kernel()
def multiply_blocks(first, blocks, v, out):
    """Writes the products of 3×3 blocks, (n, 9), with rows of v, (n, 3), from a row on."""
    for i in range(first, len(blocks)):
        x = load(v, 3 * i)
        store(
            out,
            3 * i,
            three(
                total(add_products(nothing(), load(blocks, 9 * i), x)),
                total(add_products(nothing(), load(blocks, 9 * i + 3), x)),
                total(add_products(nothing(), load(blocks, 9 * i + 6), x)),
            ),
        )
