# SPDX-License-Identifier: GPL-3.0-or-later
"""What multigrid does once it has taken over: with levels that are there, or with some that it sets up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...runtime.arrays import Bools, Floats
from ..block_pattern import BlockPattern
from ..rigid_modes import RigidModes
from .hierarchy import hierarchy_of
from .mg_pcg import solve_mg_pcg
from .numeric_setup import Multigrid, last_multigrid, numeric_setup

if TYPE_CHECKING:  # it loads this file, when it is needed
    from .switching_policy import LatticeMultigrid

# What takes as long as so many iterations of block Jacobi, roughly: to set it up, to begin and end a search, a cycle
SETUP_COST, SEARCH_OVERHEAD_COST, CYCLE_COST = 20, 4, 5


def solve_with_multigrid(
    lattices: LatticeMultigrid,
    pattern: BlockPattern,
    values: Floats,
    b: Floats,
    is_free: Bools,
    x: Floats,
    tolerance: float,
    max_iterations: int,
    least: Floats | None,
    modes: RigidModes | None,
) -> tuple[int, float, float]:
    """Solves A x = b for the free nodes from what `x` holds; see `linear.pcg.solve`.

    Returns:
        The iterations, the largest relative residual of an island, and what it took in iterations of block Jacobi.
    """
    hierarchy, kept = hierarchy_of(pattern, lattices.X, lattices.mesh), lattices.kept

    def go_on(multigrid: Multigrid, most: int) -> tuple[int, float]:
        return solve_mg_pcg(pattern, values, b, is_free, x, tolerance, most, least, modes, multigrid)

    if lattices.is_same:
        iterations, residual = go_on(last_multigrid(hierarchy), max_iterations)
        return iterations, residual, SEARCH_OVERHEAD_COST + CYCLE_COST * iterations
    before = 0
    if kept and kept.is_current(hierarchy, is_free):
        so_far = x.copy()
        before, residual = go_on(last_multigrid(hierarchy), kept.iteration_limit(max_iterations))
        if residual <= tolerance or before == max_iterations:
            kept.count(before)
            return before, residual, SEARCH_OVERHEAD_COST + CYCLE_COST * before
        if not residual < 1.0:  # lost
            x[:] = so_far
    is_alone = before == 0 and lattices.iteration_limit(pattern, is_free, tolerance) == (0, 0)
    levels = numeric_setup(hierarchy, pattern, values, is_free)
    iterations, residual = go_on(levels, max_iterations - before)
    if kept:
        kept.keep(levels, pattern, is_free, iterations if is_alone else None)
    return before + iterations, residual, SETUP_COST + SEARCH_OVERHEAD_COST + CYCLE_COST * (before + iterations)
