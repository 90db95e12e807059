# SPDX-License-Identifier: GPL-3.0-or-later
"""Where multigrid stands by for the systems of steps, and how soon it takes over: told by the matrix, by no clock."""

from __future__ import annotations

import numpy as np

from ...constraints.rigid_core import LinearSystem
from ...linalg.multigrid.hierarchy_reuse import ReusedHierarchy
from ...linalg.multigrid.switching_policy import IMMEDIATE_TOLERANCE, LatticeMultigrid
from ...mechanics.model import Model
from ...runtime.arrays import Bools, Floats
from ...scene.scene import JACOBI, MULTIGRID, Settings

# Relative residuals that are tight: fewer iterations are too many for block Jacobi then than where more may be left
TIGHT_RESIDUAL = 1.0e-5

# Blocks of the diagonal of M + Δt² K are so many times the mass in the middle node of a body that is stiff for its Δt:
# waves then cross many tets in a step. A clamped beam of 0.25 m and 1e6 Pa takes block Jacobi 120 iterations to a
# residual of `TIGHT_RESIDUAL` at 10,000 tets, as long as multigrid with its matrices, and 270 at 100,000, three times
# as long.
MIN_STIFFNESS_RATIO = 100.0

# The same where a residual may be larger than `TIGHT_RESIDUAL`: 110 iterations of block Jacobi in each of a frame's
# four steps take as long as 10, multigrid's set-up and four searches of 15 iterations. What is less stiff is left to
# block Jacobi alone for so many.
MIN_STIFFNESS_RATIO_IF_LOOSE = 300.0
JACOBI_ITERATIONS_IF_LOOSE = 100

# As many nodes are looked at as tell whether a body is stiff: a hundredth of a step less than all
MAX_SAMPLED_NODES = 2000


def choose_multigrid(
    model: Model, asked: LinearSystem, settings: Settings, kept: ReusedHierarchy | None
) -> LatticeMultigrid | None:
    """Returns what takes over a system of a step where block Jacobi takes long; None: nothing does.

    Args:
        model: The bodies.
        asked: The system, of all their nodes or of some.
        settings: Its `tolerance` and `linear_solver` are read.
        kept: What earlier steps of the frame have set up; None: nothing.
    """
    pattern, is_tight = asked.pattern, settings.tolerance <= TIGHT_RESIDUAL
    if settings.linear_solver == JACOBI or pattern.coupling is not None or asked.has_cores:
        return None
    is_whole, mesh = pattern is model.pattern, model.pattern if asked.X is model.X else None
    if settings.linear_solver == MULTIGRID:
        return LatticeMultigrid(asked.X, mesh=mesh, kept=kept)
    # with a pattern that contacts make anew and anew, levels have to be worth more than a loose tolerance
    if not (is_whole or is_tight):
        return None
    # where levels stand by already, it does not matter; and where as little is asked for as by the first steps of
    # Newton's method, block Jacobi comes to it soon
    is_asked = is_whole and (is_tight or asked.tolerance <= IMMEDIATE_TOLERANCE)
    is_asked = is_asked and not (kept and kept.is_available(pattern, asked.is_free))
    is_stiff = is_asked and _is_stiff(
        model, asked.values, asked.is_free, MIN_STIFFNESS_RATIO if is_tight else MIN_STIFFNESS_RATIO_IF_LOOSE
    )
    if is_tight:
        return LatticeMultigrid(asked.X, starts_immediately=is_stiff, mesh=mesh, kept=kept)
    return LatticeMultigrid(
        asked.X,
        starts_immediately=False,
        mesh=mesh,
        is_hard=is_stiff,
        kept=kept,
        max_jacobi_iterations=JACOBI_ITERATIONS_IF_LOOSE,
    )


def _is_stiff(model: Model, values: Floats, is_free: Bools, limit: float) -> bool:
    """Whether most free nodes resist by stiffness, more than `limit` times the mass, in a matrix (b, 9) of a model."""
    # spread over all bodies; an odd number, since nodes on a lattice come back to one side of it in even ones
    some = slice(None, None, model.node_count // MAX_SAMPLED_NODES | 1)
    trace = values.reshape(-1).take(model.pattern.on_diagonal[:, some]).sum(axis=0)
    is_stiff = (trace > 3.0 * limit * model.mass[some]) & is_free[some]
    return 2 * np.count_nonzero(is_stiff) > np.count_nonzero(is_free[some])
