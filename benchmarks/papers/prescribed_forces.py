# SPDX-License-Identifier: GPL-3.0-or-later
"""Forces on nodes that an experiment prescribes over time, in the place of a body's pins."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from papers.simulation_setup import HeldNodes
from sinew.solver.constraints.external_forces import PointForces
from sinew.solver.mechanics.model import Model
from sinew.solver.mechanics.state import State
from sinew.solver.runtime.arrays import Bools, Floats
from sinew.solver.simulation.simulation import Simulation


@dataclass(frozen=True, eq=False)
class NodalForces(HeldNodes):
    """Forces on nodes: `at` returns them at a time [s → N], (k, 3)."""

    key: str = "load"

    def prescribe(self, targets: Floats, is_fixed: Bools, fixed_target: Floats) -> None:
        """Holds nothing."""

    def spring_forces(self, state: State, model: Model, targets: Floats, stiffness: float, dt: float) -> PointForces:
        """Returns the forces, each on a corner of a tet."""
        _, corner = np.unique(model.tets, return_index=True)
        corner = corner[self.nodes]
        nothing = np.zeros((len(self.nodes), 3, 3))
        return PointForces((corner // 4).astype(np.int32), np.eye(4)[corner % 4], targets, nothing, nothing)


def with_extra_pins(simulated: Simulation, *pins: HeldNodes) -> Simulation:
    """Returns a simulation in which these hold and pull, too."""
    simulated.built = replace(simulated.built, pins=(*simulated.built.pins, *pins))  # type: ignore[arg-type]
    return simulated


def nodal_area_shares(X: Floats, tets: np.ndarray, which: Bools) -> Floats:
    """Returns the share of a pressure's force on a flat side, that of the nodes `which`, per node of it, (k,)."""
    sides = np.concatenate([tets[:, list(c)] for c in ((1, 2, 3), (0, 3, 2), (0, 1, 3), (0, 2, 1))])
    sides = sides[which[sides].all(axis=1)]
    area = 0.5 * np.linalg.norm(np.cross(X[sides[:, 1]] - X[sides[:, 0]], X[sides[:, 2]] - X[sides[:, 0]]), axis=1)
    share = np.bincount(sides.ravel(), np.repeat(area / 3.0, 3), minlength=len(X))
    return (share / area.sum())[which]
