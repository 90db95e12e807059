# SPDX-License-Identifier: GPL-3.0-or-later
"""What multigrid does once it has taken over: with levels that are there, or with some that it sets up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...arrays import Bools, Floats
from ..pattern import BlockPattern
from ..rigid_modes import RigidModes
from .hierarchy import hierarchy_of
from .refresh import Multigrid, last_of, refresh
from .search import search

if TYPE_CHECKING:  # it loads this file, when it is needed
    from .preconditioner import EmbeddedLattices

# What takes as long as so many iterations of block Jacobi, roughly: to set it up, to begin and end a search, a cycle
SET_UP, BOTH_ENDS, CYCLE = 20, 4, 5


def take_over(
    lattices: EmbeddedLattices,
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
        return search(pattern, values, b, is_free, x, tolerance, most, least, modes, multigrid)

    if lattices.is_same:
        iterations, residual = go_on(last_of(hierarchy), max_iterations)
        return iterations, residual, BOTH_ENDS + CYCLE * iterations
    before = 0
    if kept and kept.serve(hierarchy, is_free):
        so_far = x.copy()
        before, residual = go_on(last_of(hierarchy), kept.patience(max_iterations))
        if residual <= tolerance or before == max_iterations:
            kept.count(before)
            return before, residual, BOTH_ENDS + CYCLE * before
        if not residual < 1.0:  # lost
            x[:] = so_far
    is_alone = before == 0 and lattices.patience(pattern, is_free, tolerance) == (0, 0)
    levels = refresh(hierarchy, pattern, values, is_free)
    iterations, residual = go_on(levels, max_iterations - before)
    if kept:
        kept.keep(levels, pattern, is_free, iterations if is_alone else None)
    return before + iterations, residual, SET_UP + BOTH_ENDS + CYCLE * (before + iterations)
