# SPDX-License-Identifier: GPL-3.0-or-later
"""How far the rotations of nodes turn from one step to the next."""

from __future__ import annotations

import numpy as np

from sinew.solver.mechanics.vertex_warp.rest_stiffness import rest_stiffness
from sinew.solver.mechanics.vertex_warp.warped_bodies import warped_bodies, write_rotations
from sinew.solver.runtime.arrays import Floats, floats
from sinew.solver.simulation.simulation import Simulation


def node_rotations(simulated: Simulation) -> Floats:
    """Returns the rotation of every node of warped bodies where they are now, (n, 3, 3)."""
    model, found = simulated.built.model, np.zeros((simulated.built.model.node_count, 9))
    bodies = warped_bodies(model)
    for body, method in bodies:
        write_rotations(
            model.pattern, method, rest_stiffness(model, bodies), floats(simulated.state.x), body.nodes, found
        )
    return found.reshape(-1, 3, 3)


def max_rotation_angle(before: Floats, after: Floats) -> float:
    """Returns the largest angle between rotations, (n, 3, 3) each [°]."""
    cosine = 0.5 * (np.einsum("nij,nij->n", before, after) - 1.0)
    return float(np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0))).max())
