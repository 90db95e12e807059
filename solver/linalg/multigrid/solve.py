# SPDX-License-Identifier: GPL-3.0-or-later
"""Solves by conjugate gradients around multigrid, with levels that are set up already or set up here."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ...runtime.arrays import Floats
from ..block_system import BlockSystem, PcgWorkspace, StoppingCriteria
from ..convergence_rate import RateCheck
from ..pcg import PreconditionedSolve
from ..rigid_modes import RigidModes, coarse_correction
from .hierarchy import hierarchy_of
from .mg_pcg import solve_mg_pcg
from .numeric_setup import Multigrid, last_multigrid, numeric_setup
from .preconditioner_rates import CYCLE_COST

if TYPE_CHECKING:  # it loads this file, when it is needed
    from .lattice_multigrid import LatticeMultigrid

# Costs in iterations of block Jacobi, roughly: of a set-up, and of the begin and end of a solve
SETUP_COST, SOLVE_OVERHEAD_COST = 20, 4


def solve_with_multigrid(
    lattices: LatticeMultigrid,
    system: BlockSystem,
    x: Floats,
    stopping: StoppingCriteria,
    modes: RigidModes | None,
    workspace: PcgWorkspace,
) -> PreconditionedSolve:
    """Solves A x = b for the free nodes from what `x` holds; see `linalg.pcg.solve`."""
    pattern, is_free = system.pattern, system.is_free
    tolerance, max_iterations = stopping.tolerance, stopping.max_iterations
    hierarchy = hierarchy_of(pattern, lattices.X, lattices.mesh, lattices.has_couplings, lattices.keeps_zero_blocks)
    kept = lattices.kept
    arrays = kept.workspace if kept else lattices.workspace

    def iterate(multigrid: Multigrid, limit: int, rate_check: RateCheck) -> tuple[int, float]:
        within = replace(stopping, max_iterations=limit)
        found = solve_mg_pcg(system, x, within, modes, multigrid, workspace, rate_check)
        if modes is not None and modes.coupled is not None:
            coarse_correction(modes, pattern, system.b, x)  # bodies that touch keep their momentum exactly
        return found

    def told(rate_check: RateCheck, iterations: int, residual: float, is_slow: bool) -> None:
        if lattices.rates is not None and np.isfinite(residual):
            lattices.rates.note_multigrid(rate_check.mean_rate(residual, iterations), is_slow)

    if lattices.is_same:
        rate_check = RateCheck.of_multigrid()
        iterations, residual = iterate(last_multigrid(hierarchy, arrays), max_iterations, rate_check)
        told(rate_check, iterations, residual, False)
        return PreconditionedSolve(iterations, residual, SOLVE_OVERHEAD_COST + CYCLE_COST * iterations)
    before = 0
    if kept and kept.is_current(hierarchy, is_free):
        previous, rate_check = x.copy(), lattices.multigrid_rate_check()
        before, residual = iterate(last_multigrid(hierarchy, arrays), kept.iteration_limit(max_iterations), rate_check)
        if residual <= tolerance or before == max_iterations:
            kept.count(before)
            told(rate_check, before, residual, False)
            return PreconditionedSolve(before, residual, SOLVE_OVERHEAD_COST + CYCLE_COST * before)
        if not residual < 1.0:  # diverged
            x[:] = previous
    is_alone = before == 0 and lattices.iteration_limit(pattern, is_free, tolerance) == (0, 0)
    levels = numeric_setup(hierarchy, pattern, system.values, is_free, arrays)
    rate_check = lattices.multigrid_rate_check()
    iterations, residual = iterate(levels, max_iterations - before, rate_check)
    left = max_iterations - before - iterations
    is_slow = residual > tolerance and rate_check.rate is not None and rate_check.is_too_slow
    if is_slow and lattices.rates is not None and not lattices.rates.is_in_reach(residual, tolerance, left):
        more, residual = iterate(levels, left, RateCheck.of_multigrid())
        iterations, is_slow = iterations + more, False
    told(rate_check, iterations, residual, is_slow)
    if kept:
        kept.keep(levels, pattern, is_free, iterations if is_alone else None)
    work = SETUP_COST + SOLVE_OVERHEAD_COST + CYCLE_COST * (before + iterations)
    successor = replace(lattices, is_same=True) if is_slow else None
    return PreconditionedSolve(before + iterations, residual, work, successor)
