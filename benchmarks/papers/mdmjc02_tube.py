# SPDX-License-Identifier: GPL-3.0-or-later
"""The tube of MDMJC02 4.2: a thousand tets, 50 × 13 cm, dropped on the ground at a tilt."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from papers.simulation_setup import body, make_simulation
from sinew.solver.mesh.shapes import box_tets
from sinew.solver.runtime.arrays import Floats, Indices
from sinew.solver.scene.formulation import FormulationSettings
from sinew.solver.scene.scene import Collider, Material
from sinew.solver.simulation.simulation import Simulation

LENGTH, OUTER, INNER = 0.5, 0.065, 0.0325  # [m]
CELLS = (10, 20, 1)  # around, along, through the wall: of five tets each
SLOPE = np.pi / 4.0
HEIGHT = 0.5
DAMPING = Material().stiffness_damping  # β [s]
DESCRIPTION = (
    "A tube of 1000 tets, 50 × 13 cm, density 1000 kg/m³, ν = 0.33, tilted by 45°, falls from 50 cm above the ground. "
    f"The paper does not give its wall ({100 * (OUTER - INNER):.2f} cm here), its damping (Sinew's default here, "
    f"{DAMPING:g} s) or the ground's contact (as in a bake here, friction 0.5)."
)


def tube_mesh() -> tuple[Floats, Indices]:
    """Returns nodes [m] and tets of the tube along x, its axis through the origin."""
    grid, tets = box_tets(CELLS, (1.0, 1.0, 1.0))
    angle, radius = 2.0 * np.pi * grid[:, 0], INNER + (OUTER - INNER) * grid[:, 2]
    nodes = np.column_stack([LENGTH * (grid[:, 1] - 0.5), radius * np.cos(angle), radius * np.sin(angle)])
    first = np.flatnonzero(grid[:, 0] < 1e-9)  # in the same order as those a whole turn on
    number = np.arange(len(nodes))
    number[np.flatnonzero(grid[:, 0] > 1.0 - 1e-9)] = first
    used, tets = np.unique(number[tets], return_inverse=True)
    tets = tets.reshape(-1, 4).astype(np.int32)
    corners = nodes[used][tets]
    inside_out = np.linalg.det(corners[:, 1:] - corners[:, :1]) < 0.0
    tets[inside_out] = tets[inside_out][:, [0, 1, 3, 2]]
    return nodes[used], tets


def dropped_tube(E: float, method: FormulationSettings, dt: float, speed: float, **settings) -> Simulation:
    """Returns the tilted tube as it touches the ground at a speed [m/s]."""
    nodes, tets = tube_mesh()
    nodes = nodes @ Rotation.from_euler("y", SLOPE).as_matrix().T
    nodes[:, 2] -= nodes[:, 2].min()
    tube = body(nodes, tets, Material(E, 0.33, 1000.0, 0.0, DAMPING), method, initial_velocity=(0.0, 0.0, -speed))
    asked = {"tolerance": 1e-6, "max_iterations": 2000, **settings}
    return make_simulation(tube, dt, colliders=(Collider("ground", "Ground"),), **asked)
