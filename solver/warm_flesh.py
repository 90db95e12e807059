# SPDX-License-Identifier: GPL-3.0-or-later
"""Compiles the kernels of flesh, on a few tets: a second process does it while the first builds."""

from __future__ import annotations

import numpy as np

from .hyperelastic.element import forces_and_tangent, hyperelastic, tet_work, whole_tangent
from .hyperelastic.node_averages import HIGHEST_PLAIN
from .linear.multigrid.preconditioner import EmbeddedLattices
from .model import Model, Part, make_model
from .quasistatic.held import Held
from .quasistatic.newton import solve
from .scene import Material
from .warm_scene import grid_of_tets

CELLS = 5  # along each side of the cube: as few as make lattices on two levels


def compile_flesh(is_averaged: bool) -> None:
    """Solves for a cube of flesh at rest, by block Jacobi and by multigrid.

    Args:
        is_averaged: Whether it is nearly incompressible, and averages at nodes.
    """
    model = _cube(0.49 if is_averaged else 0.5 * HIGHEST_PLAIN)
    law = hyperelastic(model, "neo-hookean", average=True)
    held = np.flatnonzero(model.X[:, 0] < 0.1).astype(np.int32)
    load = np.outer(model.mass, [0.0, 0.0, -1.0])
    solve(model, law, Held(held, model.X[held]), model.X, max_iterations=2, load=load)

    values, force = np.empty((model.pattern.block_count, 9)), np.empty((model.node_count, 3))
    work = tet_work(model.pattern)
    forces_and_tangent(model, law, model.X, values, force, work)
    pattern, values = whole_tangent(model, law, values, work)
    is_free, x = model.X[:, 0] > 0.1, np.zeros_like(force)
    b = np.where(is_free[:, None], load, 0.0)
    EmbeddedLattices(model.X).search(pattern, values, b, is_free, x, 1.0e-2, 4, None, None)


def _cube(poisson_ratio: float) -> Model:
    nodes, tets = grid_of_tets((CELLS, CELLS, CELLS))
    return make_model([Part("warm", nodes, tets, np.ones(len(tets)), Material(poisson_ratio=poisson_ratio))])
