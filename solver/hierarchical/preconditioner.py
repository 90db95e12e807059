# SPDX-License-Identifier: GPL-3.0-or-later
"""The preconditioner of a hierarchical body: the blocks of the diagonal on every level.

With P_l the interpolation from level l to the finest, and D_l the 3×3 blocks of the diagonal of A_l = P_lᵀ A P_l, it is

    Σ_l P_l D_l⁻¹ P_lᵀ,

on the coarse level with factors of all of A_0 where that is asked for. In the hierarchical basis a level would have
blocks of the nodes alone that it adds: so little mass is coupled badly then, and twice as many iterations are needed
(10 and 5 in a soft bar refined once, 22 and 8 refined twice; 76 and 62, 110 and 74 in stiff ones).

Source: Hauth and Strasser 2004, section 4; Bramble, Pasciak and Xu 1990, Parallel multilevel preconditioners.
"""

from __future__ import annotations

import time as clock

import numpy as np

from ..arrays import Floats, Indices
from ..jit import kernel
from ..levels import Levels
from ..linear.block_jacobi import invert_diagonal
from ..linear.pattern import Unsigned
from ..linear.threes import add_products, load, nothing, store, three, total
from ..method import LU
from .coarse_solve import lu_factors
from .galerkin import LevelMaps
from .transforms import gather_forces, to_nodal


class LevelBlocks:
    """The blocks of one body's matrix on all levels.

    Attributes:
        inverses: Those of the diagonal, inverted, of the levels from the finest to the first, (n_l, 9) each.
        coarse: A on the coarse level, (b0, 9).
    """

    def __init__(self, levels: Levels, maps: LevelMaps, values: Floats) -> None:
        """Takes A of the finest level, (b, 9)."""
        self.levels, self.maps, self.inverses = levels, maps, []
        for down, diagonal in zip(maps.down, maps.diagonals, strict=True):
            self.inverses.append(_inverted(diagonal.astype(np.uint32), values))
            values = np.asarray(down @ values)
        self.coarse = values


class LevelPreconditioner:
    """Of one body and one matrix.

    Attributes:
        coarse_seconds: Time spent on the coarse level so far.
    """

    def __init__(self, blocks: LevelBlocks, beyond: Floats, solver: str) -> None:
        """Takes the blocks of A, and what A is beyond them on the coarse level, (b0, 9)."""
        self.levels, self.inverses, pattern = blocks.levels, blocks.inverses, blocks.maps.coarse
        coarse, begun = blocks.coarse + beyond, clock.perf_counter()
        self.inverse = _inverted(pattern.diagonal, coarse)
        self.solve = lu_factors(pattern, coarse, np.ones(len(self.inverse), bool)) if solver == LU else None
        self.coarse_seconds = clock.perf_counter() - begun

    def apply(self, r: Floats) -> Floats:
        """Returns Σ P_l D_l⁻¹ P_lᵀ r, (n, 3)."""
        gathered, found = r.copy(), []
        for level, inverse in zip(range(self.levels.count, 0, -1), self.inverses, strict=True):
            found.append(multiplied(inverse, gathered[: len(inverse)]))
            gather_forces(*between(self.levels, level), gathered)
        begun = clock.perf_counter()
        b = gathered[: len(self.inverse)]
        whole = np.zeros_like(gathered)
        whole[: len(b)] = multiplied(self.inverse, b) if self.solve is None else self.solve(b)
        self.coarse_seconds += clock.perf_counter() - begun
        for level, own in zip(range(1, self.levels.count + 1), reversed(found), strict=True):
            to_nodal(*between(self.levels, level), whole)
            whole[: len(own)] += own
        return whole


def between(levels: Levels, level: int) -> tuple[int, Indices]:
    """Returns the first node that a level adds, and the parents of all of them."""
    first, end = levels.starts[level], levels.starts[level + 1]
    return first, levels.parents[first - levels.starts[1] : end - levels.starts[1]]


def multiplied(blocks: Floats, v: Floats) -> Floats:
    """Returns the products of 3×3 blocks, (n, 9), with rows of v, (n, 3)."""
    out = np.empty_like(v)
    multiply_blocks(blocks, v, out)
    return out


def _inverted(diagonal: Unsigned, values: Floats) -> Floats:
    inverse = np.empty((len(diagonal), 9))
    invert_diagonal(diagonal, np.ones(len(diagonal), bool), values, inverse)
    return inverse


@kernel()
def multiply_blocks(blocks, v, out):
    """Writes the products of 3×3 blocks, (n, 9), with rows of v, (n, 3)."""
    for i in range(len(blocks)):
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
