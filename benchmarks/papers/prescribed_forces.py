# SPDX-License-Identifier: GPL-3.0-or-later
"""Forces on nodes that an experiment prescribes over time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from sinew.solver.constraints.force import Force, ForceStep
from sinew.solver.constraints.point_forces import PointForces
from sinew.solver.runtime.arrays import Bools, Floats, Indices
from sinew.solver.simulation.simulation import Simulation


@dataclass(frozen=True, eq=False)
class NodalForces(Force):
    """Forces on nodes.

    Attributes:
        nodes: Their numbers, (k,).
        at: Returns the forces at a time [s → N], (k, 3).
    """

    nodes: Indices
    at: Callable[[float], Floats]
    kind: ClassVar[str] = "load"

    def point_forces(self, step: ForceStep) -> PointForces:
        """Returns the forces, each on a corner of a tet."""
        _, corner = np.unique(step.model.tets, return_index=True)
        corner = corner[self.nodes]
        nothing = np.zeros((len(self.nodes), 3, 3))
        return PointForces((corner // 4).astype(np.int32), np.eye(4)[corner % 4], self.at(step.end), nothing, nothing)


def with_forces(simulated: Simulation, *forces: Force) -> Simulation:
    """Returns a simulation in which these forces act, too."""
    simulated.built = replace(simulated.built, forces=(*simulated.built.forces, *forces))
    return simulated


def nodal_area_shares(X: Floats, tets: np.ndarray, which: Bools) -> Floats:
    """Returns the share of a pressure's force on a flat side, that of the nodes `which`, per node of it, (k,)."""
    sides = np.concatenate([tets[:, list(c)] for c in ((1, 2, 3), (0, 3, 2), (0, 1, 3), (0, 2, 1))])
    sides = sides[which[sides].all(axis=1)]
    area = 0.5 * np.linalg.norm(np.cross(X[sides[:, 1]] - X[sides[:, 0]], X[sides[:, 2]] - X[sides[:, 0]]), axis=1)
    share = np.bincount(sides.ravel(), np.repeat(area / 3.0, 3), minlength=len(X))
    return (share / area.sum())[which]
