# SPDX-License-Identifier: GPL-3.0-or-later
"""Groups of bodies that are hyperelastic in the incremental potential: sheets and rigid bodies, and flesh.

What nearly incompressible flesh leaves to averages at its nodes couples nodes two edges apart, so that the Hessian has
more blocks than the pattern of the model then.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...linalg.block_pattern import BlockPattern
from ...mechanics.model import Model
from ...runtime.arrays import Floats, floats
from ..dynamic_flesh_forces import FleshEvaluator, FleshGroup
from ..newton.two_ring_tangent import WideTangent, body_slices
from ..solver_context import StepWorkspace


class EnergyGroups:
    """Bodies with energies of their own, in a step.

    Attributes:
        bodies: Their numbers in the model.
        tets: Of all of them, (m',).
    """

    def __init__(self, groups: Sequence[FleshGroup], model: Model, workspace: StepWorkspace) -> None:
        """Takes the work arrays of groups, at most one of which may have averages at nodes."""
        self._groups, self._model = groups, model
        self._evaluators = [FleshEvaluator(group, model, workspace) for group in groups]
        self.bodies = frozenset(number for group in groups for number in group.part.bodies)
        self.tets = np.concatenate([np.zeros(0, np.int32), *(group.part.tets for group in groups)])
        self._wide = [
            (evaluator, WideTangent(group, model, workspace))
            for group, evaluator in zip(groups, self._evaluators, strict=True)
            if group.law.left is not None
        ]
        assert len(self._wide) <= 1

    def __len__(self) -> int:
        """The number of groups."""
        return len(self._groups)

    def energy(self, x: Floats) -> float:
        """Returns the energy of all of them at nodes of the model [m], (n, 3), in joules."""
        return sum(
            float(evaluator.energies(floats(x[group.part.nodes])).sum())
            for group, evaluator in zip(self._groups, self._evaluators, strict=True)
        )

    def add_derivatives(self, x: Floats, dt: float, gradient: Floats, values: Floats) -> None:
        """Adds Δt² times what they do at nodes x [m] to a gradient, (n, 3) each, and to blocks, (b, 9).

        The blocks are those of the model's pattern, without what averages add (`widened`).
        """
        for group, evaluator in zip(self._groups, self._evaluators, strict=True):
            evaluator.evaluate(floats(x[group.part.nodes]))
            for whole, own in body_slices(group, self._model):
                values[whole[1]] += dt * dt * evaluator.tangent[own[1]]
                gradient[whole[0]] -= dt * dt * evaluator.force[own[0]]

    def add_forces(self, x: Floats, force: Floats) -> None:
        """Adds their forces [N] at nodes x [m] to those of nodes, (n, 3) each."""
        for group, evaluator in zip(self._groups, self._evaluators, strict=True):
            evaluator.evaluate(floats(x[group.part.nodes]))
            for whole, own in body_slices(group, self._model):
                force[whole[0]] += evaluator.force[own[0]]

    def widened(self, dt: float, values: Floats) -> tuple[BlockPattern, Floats]:
        """Returns a matrix, (b, 9), with Δt² times the terms of averages where derivatives were added last."""
        for evaluator, wide in self._wide:
            wide.update(evaluator, values, dt)
            return wide.merged(values)
        return self._model.pattern, values

    def add_damping(self, x: Floats, dt: float, values: Floats) -> None:
        """Adds Δt times their damping matrix at nodes x [m], (n, 3), to blocks, (b, 9)."""
        for group, evaluator in zip(self._groups, self._evaluators, strict=True):
            damping = np.zeros_like(evaluator.tangent)
            evaluator.damping(floats(x[group.part.nodes]), damping)
            for whole, own in body_slices(group, self._model):
                values[whole[1]] += dt * damping[own[1]]
