# SPDX-License-Identifier: GPL-3.0-or-later
"""Solves by conjugate gradients around multigrid, with levels that are set up already or set up here."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ...runtime.arrays import Floats
from ..block_system import BlockSystem, PcgWorkspace, StoppingCriteria
from ..rigid_modes import RigidModes
from .hierarchy import hierarchy_of
from .mg_pcg import solve_mg_pcg
from .numeric_setup import Multigrid, last_multigrid, numeric_setup

if TYPE_CHECKING:  # it loads this file, when it is needed
    from .lattice_multigrid import LatticeMultigrid

# Costs in iterations of block Jacobi, roughly: of a set-up, of the begin and end of a solve, of a cycle
SETUP_COST, SOLVE_OVERHEAD_COST, CYCLE_COST = 20, 4, 5


def solve_with_multigrid(
    lattices: LatticeMultigrid,
    system: BlockSystem,
    x: Floats,
    stopping: StoppingCriteria,
    modes: RigidModes | None,
    workspace: PcgWorkspace,
) -> tuple[int, float, float]:
    """Solves A x = b for the free nodes from what `x` holds; see `linalg.pcg.solve`.

    Returns:
        The iterations, the largest relative residual of an island, and the cost in iterations of block Jacobi.
    """
    pattern, is_free = system.pattern, system.is_free
    tolerance, max_iterations = stopping.tolerance, stopping.max_iterations
    hierarchy, kept = hierarchy_of(pattern, lattices.X, lattices.mesh), lattices.kept
    arrays = kept.workspace if kept else lattices.workspace

    def iterate(multigrid: Multigrid, limit: int) -> tuple[int, float]:
        return solve_mg_pcg(system, x, replace(stopping, max_iterations=limit), modes, multigrid, workspace)

    if lattices.is_same:
        iterations, residual = iterate(last_multigrid(hierarchy, arrays), max_iterations)
        return iterations, residual, SOLVE_OVERHEAD_COST + CYCLE_COST * iterations
    before = 0
    if kept and kept.is_current(hierarchy, is_free):
        previous = x.copy()
        before, residual = iterate(last_multigrid(hierarchy, arrays), kept.iteration_limit(max_iterations))
        if residual <= tolerance or before == max_iterations:
            kept.count(before)
            return before, residual, SOLVE_OVERHEAD_COST + CYCLE_COST * before
        if not residual < 1.0:  # diverged
            x[:] = previous
    is_alone = before == 0 and lattices.iteration_limit(pattern, is_free, tolerance) == (0, 0)
    levels = numeric_setup(hierarchy, pattern, system.values, is_free, arrays)
    iterations, residual = iterate(levels, max_iterations - before)
    if kept:
        kept.keep(levels, pattern, is_free, iterations if is_alone else None)
    return before + iterations, residual, SETUP_COST + SOLVE_OVERHEAD_COST + CYCLE_COST * (before + iterations)
