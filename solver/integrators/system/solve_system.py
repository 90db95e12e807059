# SPDX-License-Identifier: GPL-3.0-or-later
"""Solves the assembled system of a step, by the method that the formulations of its bodies need."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ...constraints.rigid_core import LinearSystem, nodes_with_hinges, solve_with_cores
from ...linalg.bicgstab import solve_unsymmetric
from ...linalg.block_system import BlockSystem, StoppingCriteria
from ...linalg.bound_nodes import BoundNodes
from ...linalg.drop_zero_blocks import drop_zero_blocks
from ...linalg.element_by_element import ElementProducts
from ...linalg.island_cholesky import worthwhile_factors
from ...linalg.multigrid.hierarchy_reuse import ReusedHierarchy
from ...linalg.pcg import Preconditioner, SolveResult, solve
from ...linalg.rigid_modes import RigidModes, rigid_modes
from ...linalg.schwarz_preconditioner import SchwarzPreconditioner
from ...mechanics.model import Model
from ...mechanics.vertex_warp import is_any_warped, is_unsymmetric, momentum_balance
from ...runtime.arrays import Bools
from ...runtime.row_dot_products import row_dot_products
from ...scene.scene import AUTO_SOLVER, Settings
from ..solver_context import StepWorkspace
from .multigrid_policy import choose_multigrid


def solve_system(
    model: Model,
    system: LinearSystem,
    settings: Settings,
    workspace: StepWorkspace,
    *,
    multigrid_levels: ReusedHierarchy | None = None,
    conserves_momentum: bool = False,
    element_terms: ElementProducts | None = None,
) -> SolveResult:
    """Solves A v = b for the free nodes, from the first guess in `system.v`, which becomes the solution.

    Args:
        model: The bodies.
        system: A, b and v, of all nodes of the model, or of some; X of the latter is not that of the model.
        settings: Its `tolerance` and `max_iterations` count.
        workspace: Arrays and patterns of the steps of the model.
        multigrid_levels: Levels that earlier solves have set up; None: they are set up wherever they are needed.
        conserves_momentum: Whether to keep the momentum where warped stiffness would not; b then has all impulses of
            the step.
        element_terms: Stiffness of A that is not in its blocks (`matrix_free.py`); None: there is none.
    """
    if model.bound is not None and system.X is model.X:
        unbound = replace(model, bound=None)
        return _solve_for_parents(
            model.bound,
            system,
            workspace,
            lambda reduced: solve_system(
                unbound,
                reduced,
                settings,
                workspace,
                multigrid_levels=multigrid_levels,
                conserves_momentum=conserves_momentum,
            ),
        )
    if element_terms is not None:
        return _solve_matrix_free(system, settings, element_terms, workspace)
    if system.X is not model.X or not (model.cores or is_any_warped(model)):
        return _solve_symmetric(model, system, settings, multigrid_levels, workspace)
    balance = None
    if is_any_warped(model):
        system = replace(system, is_unsymmetric=is_unsymmetric(model, system.pattern))
        if conserves_momentum:
            # a hinge takes momentum from its body
            may_move = system.is_free & ~nodes_with_hinges(model) if model.cores else system.is_free
            balance = momentum_balance(
                model, system.pattern, system.values, system.b, system.x, may_move, workspace.warped
            )
    if balance:
        balance.apply(system.v)
    if model.cores:

        def solve_reduced(reduced: LinearSystem) -> SolveResult:
            return _solve_by_symmetry(model, reduced, settings, multigrid_levels, workspace)

        solved = solve_with_cores(model, system, solve_reduced, workspace.reduced_patterns)
    else:
        solved = _solve_by_symmetry(model, system, settings, multigrid_levels, workspace)
    if balance:
        balance.apply(system.v)
    return solved


def _solve_for_parents(
    bound: BoundNodes, system: LinearSystem, workspace: StepWorkspace, solve_reduced: Callable[..., SolveResult]
) -> SolveResult:
    """Solves WᵀAW v = Wᵀb, whose unknowns are those of the parents, and gives bound nodes what these say."""
    eliminated = workspace.eliminated_patterns.of(system.pattern, bound)
    b = system.b.copy()
    bound.hand_down(b)
    system.v[bound.nodes] = 0.0
    norms = np.sqrt(np.add.reduceat(row_dot_products(b, b), system.pattern.island_start[:-1].astype(np.int64)))
    reduced = replace(
        system,
        pattern=eliminated.pattern,
        values=eliminated.reduce(system.values),
        b=b,
        norm_floor=eliminated.joint_norms(np.maximum(norms, system.norm_floor)),
    )
    solved = solve_reduced(reduced)
    bound.interpolate(system.v)
    return solved


def _solve_matrix_free(
    system: LinearSystem, settings: Settings, element_terms: ElementProducts, workspace: StepWorkspace
) -> SolveResult:
    """Solves a system part of whose stiffness is multiplied tet by tet."""
    pattern, values = drop_zero_blocks(system.pattern, system.values)
    modes = rigid_modes(pattern, values, system.x, system.is_free, element_terms)
    return solve(
        BlockSystem(pattern, values, system.b, system.is_free),
        system.v,
        StoppingCriteria(system.tolerance, settings.max_iterations, system.norm_floor),
        initial_direction=system.initial_direction,
        modes=modes,
        element_terms=element_terms,
        workspace=workspace.pcg,
    )


def _solve_symmetric(
    model: Model,
    system: LinearSystem,
    settings: Settings,
    multigrid_levels: ReusedHierarchy | None,
    workspace: StepWorkspace,
) -> SolveResult:
    """Solves a system by conjugate gradients."""
    pattern = system.pattern
    modes = rigid_modes(pattern, system.values, system.x, system.is_free)
    factored = _choose_factors(model, system, settings, modes)
    return solve(
        BlockSystem(pattern, system.values, system.b, system.is_free, factored),
        system.v,
        StoppingCriteria(system.tolerance, settings.max_iterations, system.norm_floor),
        initial_direction=system.initial_direction,
        modes=modes,
        preconditioner=None
        if factored is not None
        else _choose_preconditioner(model, system, settings, multigrid_levels),
        workspace=workspace.pcg,
    )


def _choose_factors(model: Model, system: LinearSystem, settings: Settings, modes: RigidModes | None) -> Bools | None:
    """Returns the islands that are factored where bodies touch, (k,); None: none."""
    is_of_bodies = system.X is model.X and settings.linear_solver == AUTO_SOLVER
    if modes is None or modes.coupled is None or not is_of_bodies or system.tied_nodes is not None:
        return None
    return worthwhile_factors(system.pattern, system.values, model.mass, system.is_free)


def _choose_preconditioner(
    model: Model, system: LinearSystem, settings: Settings, multigrid_levels: ReusedHierarchy | None
) -> Preconditioner | None:
    """Returns what is used instead of block Jacobi, at once or after some iterations; None: nothing."""
    if system.tied_nodes is not None and settings.linear_solver == AUTO_SOLVER:
        return SchwarzPreconditioner(system.tied_nodes)
    return choose_multigrid(model, system, settings, multigrid_levels)


def _solve_by_symmetry(
    model: Model,
    system: LinearSystem,
    settings: Settings,
    multigrid_levels: ReusedHierarchy | None,
    workspace: StepWorkspace,
) -> SolveResult:
    """Solves symmetric islands of a system by conjugate gradients, and the others by BiCGStab."""
    if system.is_unsymmetric is None:
        return _solve_symmetric(model, system, settings, multigrid_levels, workspace)
    results = []
    symmetric, unsymmetric = system.is_free & ~system.is_unsymmetric, system.is_free & system.is_unsymmetric
    if symmetric.any():
        results.append(
            _solve_symmetric(model, replace(system, is_free=symmetric), settings, multigrid_levels, workspace)
        )
    if unsymmetric.any():
        found = solve_unsymmetric(
            BlockSystem(system.pattern, system.values, system.b, unsymmetric),
            system.v,
            StoppingCriteria(system.tolerance, settings.max_iterations, system.norm_floor),
            initial_direction=system.initial_direction,
        )
        results.append(found)
    return SolveResult.merge(*results)
