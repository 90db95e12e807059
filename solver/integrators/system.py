# SPDX-License-Identifier: GPL-3.0-or-later
"""Solves the assembled system of a step, by whatever the formulations of its bodies ask for."""

from __future__ import annotations

import numpy as np

from ..arrays import Bools, Floats
from ..linear.bicgstab import solve_unsymmetric
from ..linear.multigrid.preconditioner import EmbeddedLattices
from ..linear.pattern import BlockPattern
from ..linear.pcg import Solved, solve
from ..linear.rigid_modes import rigid_modes
from ..linear.slim_pattern import without_zeros
from ..linear.tet_products import TetProducts
from ..model import Model
from ..rigid_core import SmallSystem, of_hinged, solve_with_cores
from ..scene import Settings
from ..vertex_warp import balance_of, is_any_warped, is_unsymmetric
from .conventions import TIGHT


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
    so_far: Floats | None = None,
    besides: TetProducts | None = None,
) -> Solved:
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
        so_far: Velocities at which b is a residual [m/s], (n, 3); None: zero.
        besides: What of A is not in its blocks (`matrix_free.py`); None: nothing.
    """
    if X is None and model.cores:
        return solve_beside_cores(
            model, pattern, values, b, is_free, v, x, settings,
            tolerance=tolerance, least=least, likely=likely, so_far=so_far,
        )  # fmt: skip
    if besides is not None:
        slim = without_zeros(pattern, values)
        modes = rigid_modes(*slim, x, is_free, besides)
        return solve(
            *slim, b, is_free, v, tolerance, settings.max_iterations, least, likely, modes, besides=besides
        )  # fmt: skip
    if X is None and is_any_warped(model):
        return solve_warped(
            model, pattern, values, b, is_free, v, x, settings,
            tolerance=tolerance, least=least, likely=likely, so_far=so_far,
        )  # fmt: skip
    return solve_symmetric(
        model, pattern, values, b, is_free, v, x, settings, tolerance=tolerance, least=least, likely=likely, X=X
    )


def solve_symmetric(
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
) -> Solved:
    """Does what `solve_system` does where A is symmetric, or as far as it is for the free nodes."""
    modes = rigid_modes(pattern, values, x, is_free)
    lattices = None
    if settings.tolerance <= TIGHT and pattern.coupling is None:
        mesh = model.pattern if pattern is model.pattern else None
        lattices = EmbeddedLattices(model.X if X is None else X, at_once=False, mesh=mesh)
    return solve(
        pattern, values, b, is_free, v, tolerance, settings.max_iterations, least, likely, modes, lattices
    )  # fmt: skip


def solve_warped(
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
    so_far: Floats | None,
) -> Solved:
    """Does it where bodies are warped vertex by vertex: these, and what touches them, without symmetry."""
    is_odd = is_unsymmetric(model, pattern)
    parts = []
    if (is_free & ~is_odd).any():
        parts.append(
            solve_symmetric(
                model,
                pattern,
                values,
                b,
                is_free & ~is_odd,
                v,
                x,
                settings,
                tolerance=tolerance,
                least=least,
                likely=likely,
            )  # fmt: skip
        )
    if (is_free & is_odd).any():
        balance = balance_of(model, pattern, values, b, x, is_free, so_far)
        if balance:
            balance.apply(v)
        parts.append(
            solve_unsymmetric(
                pattern, values, b, is_free & is_odd, v, tolerance, settings.max_iterations, least, likely
            )  # fmt: skip
        )
        if balance:
            balance.apply(v)
    return _worst(parts)


def solve_beside_cores(
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
    so_far: Floats | None,
) -> Solved:
    """Does it where bodies have rigid cores: by a smaller system, without their nodes."""
    is_odd, balance = np.zeros(len(x), bool), None
    if is_any_warped(model):
        is_odd = is_unsymmetric(model, pattern)
        # what hangs on an axis does not move as a whole
        balance = balance_of(model, pattern, values, b, x, is_free & ~of_hinged(model), so_far)

    def solve_small(system: SmallSystem) -> Solved:
        parts, even, odd = [], system.is_free & ~system.is_odd, system.is_free & system.is_odd
        if even.any():
            parts.append(
                solve_symmetric(
                    model,
                    system.pattern,
                    system.values,
                    system.b,
                    even,
                    system.y,
                    system.x,
                    settings,
                    tolerance=system.tolerance,
                    least=system.least,
                    likely=system.likely,
                    X=system.X,
                )  # fmt: skip
            )
        if odd.any():
            parts.append(
                solve_unsymmetric(
                    system.pattern,
                    system.values,
                    system.b,
                    odd,
                    system.y,
                    system.tolerance,
                    settings.max_iterations,
                    system.least,
                    system.likely,
                )  # fmt: skip
            )
        return _worst(parts)

    if balance:
        balance.apply(v)
    solved = solve_with_cores(
        model, pattern, values, b, is_free, v, x, tolerance, least, likely, is_odd, solve_small
    )  # fmt: skip
    if balance:
        balance.apply(v)
    return solved


def _worst(parts: list[Solved]) -> Solved:
    """Returns how solves went that make one."""
    return Solved(
        max((part.iterations for part in parts), default=0),
        max((part.residual for part in parts), default=0.0),
        all(part.converged for part in parts),
    )
