# SPDX-License-Identifier: GPL-3.0-or-later
"""Solves the assembled system of a step, by whatever the formulations of its bodies ask for."""

from __future__ import annotations

from dataclasses import replace

from ...constraints.rigid_core import LinearSystem, nodes_with_hinges, solve_with_cores
from ...linalg.bicgstab import solve_unsymmetric
from ...linalg.block_pattern import BlockPattern
from ...linalg.block_system import BlockSystem, StoppingCriteria
from ...linalg.drop_zero_blocks import drop_zero_blocks
from ...linalg.element_by_element import ElementProducts
from ...linalg.multigrid.hierarchy_reuse import ReusedHierarchy
from ...linalg.pcg import SolveResult, solve
from ...linalg.rigid_modes import rigid_modes
from ...mechanics.model import Model
from ...mechanics.vertex_warp import is_any_warped, is_unsymmetric, momentum_balance
from ...runtime.arrays import Bools, Floats
from ...scene.scene import Settings
from .multigrid_policy import choose_multigrid
from .workspace import workspace


def solve_system(
    model: Model,
    pattern: BlockPattern,
    values: Floats,
    b: Floats,
    is_free: Bools,
    v: Floats,
    x: Floats,
    settings: Settings,
    *,
    tolerance: float,
    least: Floats,
    likely: Floats | None,
    X: Floats | None = None,
    balances: bool = False,
    besides: ElementProducts | None = None,
    so_far: Floats | None = None,
    kept: ReusedHierarchy | None = None,
) -> SolveResult:
    """Solves A v = b for the free nodes, from what `v` holds.

    Args:
        model: The bodies.
        pattern, values: A, (b, 9): of the model, widened by pairs, or of some of its nodes.
        b: Right-hand side, (n, 3).
        is_free: Which nodes are solved for, (n,).
        v: First guess and given values of the others, (n, 3), out.
        x: Where the nodes are [m], (n, 3).
        settings: Its `tolerance` and `max_iterations` are read.
        tolerance: Relative residual to reach.
        least, likely: As for `linear.pcg.solve`.
        X: Rest positions of the nodes of `pattern` [m], (n, 3), where these are not all of the model.
        balances: Whether momentum is kept where warped stiffness would not: b then has all impulses of the step.
        besides: What of A is not in its blocks (`matrix_free.py`); None: nothing.
        so_far: Velocities that v comes on top of [m/s], (n, 3), which cores read; None: zero.
        kept: What multigrid keeps from solve to solve; None: it is set up anew wherever it is needed.
    """
    if besides is not None:
        slim = drop_zero_blocks(pattern, values)
        modes = rigid_modes(*slim, x, is_free, besides)
        return solve(
            BlockSystem(*slim, b, is_free),
            v,
            StoppingCriteria(tolerance, settings.max_iterations, least),
            initial_direction=likely,
            modes=modes,
            element_terms=besides,
            workspace=workspace(model.pattern).pcg,
        )
    asked = LinearSystem(pattern, values, b, is_free, v, x, model.X if X is None else X, None, tolerance, least, likely)
    if X is not None or not (model.cores or is_any_warped(model)):
        return _solve_symmetric(model, asked, settings, kept)
    balance = None
    if is_any_warped(model):
        asked = replace(asked, is_unsymmetric=is_unsymmetric(model, pattern))
        if balances:
            # what hangs on an axis does not move as a whole
            is_whole = is_free & ~nodes_with_hinges(model) if model.cores else is_free
            balance = momentum_balance(model, pattern, values, b, x, is_whole, workspace(model.pattern).warped)
    if balance:
        balance.apply(v)
    if model.cores:
        asked = replace(asked, base_velocity=so_far)
        solved = solve_with_cores(model, asked, lambda small: _solve_by_symmetry(model, small, settings, kept))
    else:
        solved = _solve_by_symmetry(model, asked, settings, kept)
    if balance:
        balance.apply(v)
    return solved


def _solve_symmetric(
    model: Model, asked: LinearSystem, settings: Settings, kept: ReusedHierarchy | None
) -> SolveResult:
    """Solves a system by conjugate gradients."""
    pattern = asked.pattern
    modes = rigid_modes(pattern, asked.values, asked.x, asked.is_free)
    return solve(
        BlockSystem(pattern, asked.values, asked.b, asked.is_free),
        asked.v,
        StoppingCriteria(asked.tolerance, settings.max_iterations, asked.norm_floor),
        initial_direction=asked.initial_direction,
        modes=modes,
        preconditioner=choose_multigrid(model, asked, settings, kept),
        workspace=workspace(model.pattern).pcg,
    )


def _solve_by_symmetry(
    model: Model, asked: LinearSystem, settings: Settings, kept: ReusedHierarchy | None
) -> SolveResult:
    """Solves the islands of a system that are symmetric by conjugate gradients, and the others without symmetry."""
    if asked.is_unsymmetric is None:
        return _solve_symmetric(model, asked, settings, kept)
    parts, even, odd = [], asked.is_free & ~asked.is_unsymmetric, asked.is_free & asked.is_unsymmetric
    if even.any():
        parts.append(_solve_symmetric(model, replace(asked, is_free=even), settings, kept))
    if odd.any():
        found = solve_unsymmetric(
            BlockSystem(asked.pattern, asked.values, asked.b, odd),
            asked.v,
            StoppingCriteria(asked.tolerance, settings.max_iterations, asked.norm_floor),
            initial_direction=asked.initial_direction,
        )
        parts.append(found)
    return SolveResult.merge(*parts)
