# SPDX-License-Identifier: GPL-3.0-or-later
"""Energies between iterates of flesh and hierarchical bodies together, in the order of the model."""

from __future__ import annotations

import numpy as np

from ...mechanics.model import Model
from ...mechanics.submodel import make_submodel
from ...runtime.arrays import Floats
from ..dynamic_flesh_forces import FleshEvaluator, FleshGroup
from ..solver_context import StepWorkspace
from .hierarchical_solver import HierarchicalSolver


class EnergyEvaluator:
    """Flesh, where there is any, and hierarchical bodies, in the order of the model.

    Attributes:
        part: All of them.
    """

    def __init__(
        self,
        model: Model,
        group: FleshGroup | None,
        flesh: FleshEvaluator | None,
        levels: HierarchicalSolver,
        workspace: StepWorkspace,
    ) -> None:
        self.model, self.group, self.flesh, self.levels = model, group, flesh, levels
        own = np.array([*(group.part.bodies if group else ()), *levels.numbers], np.int64)
        numbers = tuple(sorted(own.tolist()))
        if numbers not in workspace.submodels:
            workspace.submodels[numbers] = make_submodel(model, numbers)
        self.order, self.part = np.argsort(own), workspace.submodels[numbers]

    def last_energies(self) -> Floats:
        """Returns the energies of the bodies at the last evaluation [J], (k,)."""
        return self.ordered(self.flesh.last_energies() if self.flesh else np.zeros(0), self.levels.energy)

    def energies(self, x: Floats) -> Floats:
        """Returns the energies where the nodes of these bodies are at x [m], (n, 3), in joules, (k,)."""
        every = np.zeros((self.model.node_count, 3))
        every[self.part.nodes] = x
        of_flesh = self.flesh.energies(every[self.group.part.nodes]) if self.flesh and self.group else np.zeros(0)
        return self.ordered(of_flesh, self.levels.energies(every))

    def ordered(self, of_flesh: Floats, of_levels: Floats) -> Floats:
        """Returns what belongs to bodies of flesh and to hierarchical ones in the order of the model, (k,)."""
        return np.asarray(np.concatenate([of_flesh, of_levels])[self.order])
