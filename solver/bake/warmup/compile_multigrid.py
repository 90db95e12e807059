# SPDX-License-Identifier: GPL-3.0-or-later
"""Compiles multigrid, on a few tets: steps of stiff bodies need it soon, flesh at rest does, and many bakes never."""

from __future__ import annotations

import numpy as np

from ...linalg.block_system import BlockSystem, PcgWorkspace, StoppingCriteria
from ...linalg.multigrid.lattice_multigrid import LatticeMultigrid
from ...mechanics.model import Model, Part, make_model
from ...scene.scene import Material
from .small_scenes import grid_of_tets

CELLS_PER_SIDE = 5  # along each side of the cube: as few as make lattices on two levels


def compile_multigrid() -> None:
    """Solves for a cube with blocks of ones on the diagonal, all of it free."""
    model = cube()
    values, b = np.zeros((model.pattern.block_count, 9)), np.outer(model.mass, [0.0, 0.0, -1.0])
    values[model.pattern.diagonal] = np.eye(3).ravel()
    is_free = np.ones(model.node_count, bool)
    system, stopping = BlockSystem(model.pattern, values, b, is_free), StoppingCriteria(1.0e-2, 4)
    LatticeMultigrid(model.X).solve(system, np.zeros_like(b), stopping, None, PcgWorkspace(), None)


def cube(poisson_ratio: float = 0.3) -> Model:
    """Returns a cube of so many cells."""
    nodes, tets = grid_of_tets((CELLS_PER_SIDE, CELLS_PER_SIDE, CELLS_PER_SIDE))
    return make_model([Part("warm", nodes, tets, np.ones(len(tets)), Material(poisson_ratio=poisson_ratio))])
