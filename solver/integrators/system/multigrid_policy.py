# SPDX-License-Identifier: GPL-3.0-or-later
"""When multigrid takes over the solve of a step. The matrix decides, never a clock."""

from __future__ import annotations

from ...constraints.rigid_core import LinearSystem
from ...linalg.multigrid.hierarchy_reuse import MultigridWorkspace, ReusedHierarchy
from ...linalg.multigrid.lattice_multigrid import (
    IMMEDIATE_TOLERANCE,
    JACOBI_ITERATIONS,
    MIN_ISLAND_NODES,
    LatticeMultigrid,
)
from ...linalg.multigrid.preconditioner_rates import MeasuredRates
from ...mechanics.model import Model
from ...runtime.jit import kernel
from ...scene.scene import JACOBI, MULTIGRID, Settings

# Relative residuals up to this are tight: multigrid pays after fewer iterations of block Jacobi
TIGHT_RESIDUAL = 1.0e-5

# A body is stiff for its Δt if the diagonal blocks of M + Δt² K are so many times the mass at its median node: waves
# then cross many tets in a step. A clamped beam of 0.25 m and 1e6 Pa takes block Jacobi 120 iterations to a
# residual of `TIGHT_RESIDUAL` at 10,000 tets, as long as multigrid with its matrices, and 270 at 100,000, three times
# as long.
MIN_STIFFNESS_RATIO = 100.0

# The same for a tolerance above `TIGHT_RESIDUAL`: 110 iterations of block Jacobi in each of a frame's four steps take
# as long as 10, the set-up of multigrid and four solves of 15 iterations. Less stiff systems get so many iterations of
# block Jacobi first.
MIN_STIFFNESS_RATIO_IF_LOOSE = 300.0
JACOBI_ITERATIONS_IF_LOOSE = 100

# Block Jacobi goes on where with its rate so many more will do: to set up multigrid costs as much. Beside a pressure by
# volume multigrid took 120 cycles instead of 15 (the soft-body benchmark), so it is hardly worth a try
JACOBI_ITERATIONS_LEFT = 25
JACOBI_ITERATIONS_LEFT_WITH_PRESSURE = 100

# The same where bodies touch others or themselves, with the fewest nodes at which levels then pay: they are set up for
# every matrix, since contacts come and go. Three stacked blocks with a ratio of 2,800 take 204 instead of 214 ms at
# 17,500 nodes, and 313 instead of 417 at 27,800; with a ratio of 300 they take 168 instead of 136. At 10,000 nodes
# there is nothing to gain
MIN_STIFFNESS_RATIO_IN_CONTACT, MIN_NODES_IN_CONTACT = 2000.0, 15000
# Of more bodies that touch, the coarsest lattices make a matrix of some 400 unknowns, which takes long to factor
MAX_COUPLED_ISLANDS = 15

# Nodes whose blocks are compared; looking at all of them would take a hundredth of a step
MAX_SAMPLED_NODES = 2000


def choose_multigrid(
    model: Model, system: LinearSystem, settings: Settings, multigrid_levels: ReusedHierarchy | None
) -> LatticeMultigrid | None:
    """Returns the multigrid that takes over when block Jacobi takes long to solve a system; None: none does.

    Args:
        model: The bodies.
        system: The system, of all their nodes or of some.
        settings: Its `tolerance` and `linear_solver` are read.
        multigrid_levels: What earlier steps of the frame have set up; None: nothing.
    """
    pattern, is_tight = system.pattern, settings.tolerance <= TIGHT_RESIDUAL
    if settings.linear_solver == JACOBI or system.has_cores:
        return None
    is_whole, mesh = pattern is model.pattern, model.pattern if system.X is model.X else None
    if pattern.coupling is not None or not (is_whole or is_tight or settings.linear_solver == MULTIGRID):
        return _choose_in_contact(model, system, settings, multigrid_levels)
    if settings.linear_solver == MULTIGRID:
        return LatticeMultigrid(system.X, mesh=mesh, kept=multigrid_levels)
    # with levels at hand stiffness does not matter; and block Jacobi soon reaches the loose tolerance of the first
    # iterations of Newton's method
    may_start_soon = is_whole and (is_tight or system.tolerance <= IMMEDIATE_TOLERANCE)
    may_start_soon = may_start_soon and not (
        multigrid_levels and multigrid_levels.is_available(pattern, system.is_free)
    )
    is_stiff = may_start_soon and _is_stiff(
        model, system, MIN_STIFFNESS_RATIO if is_tight else MIN_STIFFNESS_RATIO_IF_LOOSE
    )
    return LatticeMultigrid(
        system.X,
        starts_immediately=is_tight and is_stiff,
        mesh=mesh,
        is_hard=not is_tight and is_stiff,
        kept=multigrid_levels,
        max_jacobi_iterations=JACOBI_ITERATIONS if is_tight else JACOBI_ITERATIONS_IF_LOOSE,
        rates=multigrid_levels.rates if multigrid_levels else MeasuredRates(),
        max_jacobi_iterations_left=(
            JACOBI_ITERATIONS_LEFT_WITH_PRESSURE if len(model.pressure_modulus) else JACOBI_ITERATIONS_LEFT
        ),
    )


def _choose_in_contact(
    model: Model, system: LinearSystem, settings: Settings, multigrid_levels: ReusedHierarchy | None
) -> LatticeMultigrid | None:
    """Returns the multigrid that solves a system of bodies that touch others or themselves, from the start, or None."""
    pattern = system.pattern
    if system.X is not model.X or pattern.island_count > MAX_COUPLED_ISLANDS:
        return None
    is_asked_for = settings.linear_solver == MULTIGRID
    is_large = pattern.node_count >= MIN_NODES_IN_CONTACT and pattern.largest_island >= MIN_ISLAND_NODES
    if not is_asked_for and not (is_large and _is_stiff(model, system, MIN_STIFFNESS_RATIO_IN_CONTACT)):
        return None
    return LatticeMultigrid(
        system.X,
        mesh=model.pattern,
        has_couplings=pattern.coupling is not None,
        rates=multigrid_levels.rates if multigrid_levels else MeasuredRates(),
        immediate_tolerance=1.0,
        workspace=multigrid_levels.workspace if multigrid_levels else MultigridWorkspace(),
    )


def _is_stiff(model: Model, system: LinearSystem, limit: float) -> bool:
    """Whether most free nodes resist by stiffness, more than `limit` times the mass."""
    # an odd stride over all bodies: with an even one the samples might all lie on one side of a lattice
    stride, on_diagonal = model.node_count // MAX_SAMPLED_NODES | 1, system.pattern.on_diagonal
    return bool(_are_most_stiff(system.values.reshape(-1), on_diagonal, model.mass, system.is_free, stride, limit))


@kernel(no_refcount=True)
def _are_most_stiff(values, on_diagonal, mass, is_free, stride, limit):
    """Returns whether most of the free nodes, every `stride`-th of all, have a block of more than `limit` times m."""
    free_count, stiff_count = 0, 0
    for i in range(0, len(mass), stride):
        if is_free[i]:
            trace = values[on_diagonal[0, i]] + values[on_diagonal[1, i]] + values[on_diagonal[2, i]]
            free_count += 1
            stiff_count += trace > 3.0 * limit * mass[i]
    return 2 * stiff_count > free_count
