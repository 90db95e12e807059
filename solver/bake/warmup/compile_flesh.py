# SPDX-License-Identifier: GPL-3.0-or-later
"""Compiles the kernels of flesh, on a few tets."""

from __future__ import annotations

import numpy as np

from ...mechanics.hyperelastic.hyperelastic_bodies import hyperelastic
from ...mechanics.hyperelastic.nodal_averaging import MAX_UNAVERAGED_POISSON_RATIO
from ...quasistatic.equilibrium import solve
from ...quasistatic.equilibrium_problem import EquilibriumProblem
from ...quasistatic.fixed_nodes import FixedNodes
from .compile_multigrid import cube


def compile_flesh(is_averaged: bool) -> None:
    """Solves for a cube of flesh at rest.

    Args:
        is_averaged: Whether it is nearly incompressible, and averages at nodes.
    """
    model = cube(0.49 if is_averaged else 0.5 * MAX_UNAVERAGED_POISSON_RATIO)
    law = hyperelastic(model, "neo-hookean", average=True)
    held = np.flatnonzero(model.X[:, 0] < 0.1).astype(np.int32)
    load = np.outer(model.mass, [0.0, 0.0, -1.0])
    solve(EquilibriumProblem(model, law, FixedNodes(held, model.X[held]), load), model.X, max_iterations=2)
