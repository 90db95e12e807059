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

from ...linalg.block_jacobi import invert_diagonal
from ...mesh.red_refinement import RefinementLevels
from ...runtime.arrays import Floats
from ...runtime.jit import kernel
from ...runtime.simd.vec3 import vec3, vec3_axpy, vec3_fma, vec3_load, vec3_store, vec3_sum, vec3_zero
from ...scene.formulation import LU
from .basis_transform import gather_forces, to_nodal
from .coarse_linear_solve import lu_solver
from .level_matrices import LevelMaps


class LevelBlocks:
    """The blocks of one body's matrix on all levels.

    Attributes:
        inverse: Those of the diagonal, inverted, of the levels from the finest to the coarse one, (Σ n_l, 9), the last
            ones not known yet.
        coarse: A on the coarse level, (b0, 9).
    """

    def __init__(self, levels: RefinementLevels, maps: LevelMaps, values: Floats) -> None:
        """Takes A of the finest level, (b, 9)."""
        self.levels, self.maps = levels, maps
        self.inverse, begin = np.empty((sum(levels.starts[1:]), 9)), 0
        for down, diagonal in zip(maps.down, maps.diagonals, strict=True):
            own = self.inverse[begin : begin + len(diagonal)]
            invert_diagonal(diagonal.astype(np.uint32), np.ones(len(own), bool), values, own)
            values, begin = np.asarray(down @ values), begin + len(own)
        self.coarse = values


class LevelPreconditioner:
    """Of one body and one matrix.

    Attributes:
        coarse_seconds: Time spent on the coarse level so far.
    """

    def __init__(self, blocks: LevelBlocks, beyond: Floats, solver: str) -> None:
        """Takes the blocks of A, and what A is beyond them on the coarse level, (b0, 9)."""
        self.levels, self.inverse, pattern = blocks.levels, blocks.inverse, blocks.maps.coarse
        self.starts, is_free = np.array(blocks.levels.starts, np.int64), np.ones(pattern.node_count, bool)
        coarse, begun = blocks.coarse + beyond, clock.perf_counter()
        invert_diagonal(pattern.diagonal, is_free, coarse, self.inverse[-len(is_free) :])
        self.solve = lu_solver(pattern, coarse, is_free) if solver == LU else None
        self.coarse_seconds = clock.perf_counter() - begun
        self.gathered, self.shares = np.empty((self.starts[-1], 3)), np.empty((len(self.inverse), 3))

    def apply(self, r: Floats) -> Floats:
        """Returns Σ P_l D_l⁻¹ P_lᵀ r, (n, 3)."""
        z = np.empty_like(r)
        restrict_to_levels(self.starts, self.levels.parents, self.inverse, r, self.gathered, self.shares)
        if self.solve is not None:
            begun, count = clock.perf_counter(), self.starts[1]
            self.shares[-count:] = self.solve(self.gathered[:count])
            self.coarse_seconds += clock.perf_counter() - begun
        prolongate_from_levels(self.starts, self.levels.parents, self.shares, z)
        return z


@kernel()
def restrict_to_levels(starts, parents, inverse, r, gathered, shares):
    """Writes D_l⁻¹ P_lᵀ r of every level, the finest first, (Σ n_l, 3), and P_0ᵀ r into `gathered`, (n, 3)."""
    for i in range(len(r)):
        vec3_store(gathered, 3 * i, vec3_load(r, 3 * i))
    begin = 0
    for level in range(len(starts) - 1, 0, -1):
        multiply_blocks(inverse[begin : begin + starts[level]], gathered, shares[begin : begin + starts[level]])
        begin += starts[level]
        if level > 1:
            first = starts[level - 1]
            gather_forces(first, parents[first - starts[1] : starts[level] - starts[1]], gathered)


@kernel()
def prolongate_from_levels(starts, parents, shares, z):
    """Writes Σ P_l s_l for what every level has, the finest first, (Σ n_l, 3), into z, (n, 3)."""
    end = len(shares)
    for level in range(1, len(starts)):
        begin, first = end - starts[level], starts[level - 1]
        for i in range(first, starts[level]):
            vec3_store(z, 3 * i, vec3_zero())
        if level > 1:
            to_nodal(first, parents[first - starts[1] : starts[level] - starts[1]], z)
        for i in range(starts[level]):
            vec3_store(z, 3 * i, vec3_axpy(vec3_load(z, 3 * i), 1.0, vec3_load(shares, 3 * (begin + i))))
        end = begin


def block_products(blocks: Floats, v: Floats) -> Floats:
    """Returns the products of 3×3 blocks, (n, 9), with rows of v, (n, 3)."""
    out = np.empty_like(v)
    multiply_blocks(blocks, v, out)
    return out


@kernel()
def multiply_blocks(blocks, v, out):
    """Writes the products of 3×3 blocks, (n, 9), with rows of v, (n, 3)."""
    for i in range(len(blocks)):
        x = vec3_load(v, 3 * i)
        vec3_store(
            out,
            3 * i,
            vec3(
                vec3_sum(vec3_fma(vec3_zero(), vec3_load(blocks, 9 * i), x)),
                vec3_sum(vec3_fma(vec3_zero(), vec3_load(blocks, 9 * i + 3), x)),
                vec3_sum(vec3_fma(vec3_zero(), vec3_load(blocks, 9 * i + 6), x)),
            ),
        )
