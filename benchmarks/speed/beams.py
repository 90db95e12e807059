# SPDX-License-Identifier: GPL-3.0-or-later
"""The beams of the step benchmarks: E = 1e6 Pa, ν = 0.33, 1000 kg/m³, clamped at one end, under gravity."""

from __future__ import annotations

import numpy as np

from sinew.solver.constraints.external_forces import ExternalForces
from sinew.solver.mechanics.model import Model, Part, make_model
from sinew.solver.mechanics.state import State
from sinew.solver.mesh.shapes import box_tets
from sinew.solver.scene.scene import JACOBI, Material, Settings

CELLS = {"450": (3, 3, 10), "10K": (9, 9, 25), "100K": (20, 20, 50), "400K": (32, 32, 78)}
# a turn steps small beams several times, so that caches and threads are as warm as in a bake
TETS_PER_TURN = 200_000
ITERATIONS = 20  # of conjugate gradients, per step
# exactly this many, with block Jacobi
FIXED_ITERATIONS = Settings(tolerance=1e-12, max_iterations=ITERATIONS, linear_solver=JACOBI)
GRAVITY = (0.0, -9.81, 0.0)  # across the beam, whose axis is z [m/s²]
DT = 0.01  # [s]
DESCRIPTION = (
    "A beam of cubes of five tets, 1 m thick and high, E = 1e6 Pa, ν = 0.33, 1000 kg/m³, undamped, is clamped at one "
    "end and sags under gravity, Δt = 10 ms"
)


def make_beam(cells: tuple[int, int, int], nu: float = 0.33, damping: float = 0.0) -> Model:
    """Returns the model of a beam of `cells` cubes, 1 m thick; `damping` is β [s]."""
    nodes, tets = box_tets(cells, (1.0, 1.0, cells[2] / cells[0]))
    return make_model([Part("beam", nodes, tets, np.ones(len(tets)), Material(1e6, nu, 1000.0, 0.0, damping))])


def repeats_per_turn(model: Model) -> int:
    """Returns the number of steps of a beam per turn."""
    return max(1, TETS_PER_TURN // model.tet_count)


def rest_state(model: Model) -> State:
    """Returns the state at rest."""
    return State(model.X.copy(), np.zeros_like(model.X))


def external_forces(model: Model) -> ExternalForces:
    """Returns gravity across the beam and the clamp at its end."""
    return ExternalForces(np.array(GRAVITY), model.X[:, 2] == 0.0, model.X)
