# SPDX-License-Identifier: GPL-3.0-or-later
"""Every formulation by the same three kernels, for tests and tables: energy, forces, stiffness.

They are the kernels that steps use, asked without a step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from sinew.solver.mechanics.model import Model
from sinew.solver.runtime.arrays import Floats
from sinew.solver.scene.formulation import (
    GREEN,
    HIERARCHICAL,
    HYBRID,
    LINEAR,
    POLAR,
    QR,
    VERTEX_WARP,
    FormulationSettings,
)

from .corotational import CorotationalFormulation
from .hierarchical import HierarchicalFormulation
from .hyperelastic import HyperelasticFormulation
from .vertex_warp import VertexWarpFormulation

__all__ = ["Formulation", "formulation"]


class Formulation(Protocol):
    """How tets resist, as functions of where their nodes are [m], (n, 3)."""

    def energy(self, x: Floats) -> float | None:
        """Returns the elastic energy [J]; None where no energy belongs to the forces."""

    def forces(self, x: Floats) -> Floats:
        """Returns the elastic forces on the nodes [N], (n, 3)."""

    def stiffness(self, x: Floats) -> Floats:
        """Returns K as a step takes it, −∂f/∂x with rotations held, in the blocks of the model's pattern, (b, 9)."""


FORMULATION_CLASSES: dict[str, Callable[[Model], Formulation]] = {
    LINEAR: CorotationalFormulation,
    POLAR: CorotationalFormulation,
    QR: CorotationalFormulation,
    VERTEX_WARP: VertexWarpFormulation,
    GREEN: HyperelasticFormulation,
    HYBRID: HyperelasticFormulation,
    HIERARCHICAL: HierarchicalFormulation,
}


def formulation(model: Model, method: FormulationSettings) -> Formulation:
    """Returns a formulation of all bodies of a model.

    Raises:
        KeyError: There is no method of that name.
    """
    return FORMULATION_CLASSES[method.name](replace(model, methods=(method,) * len(model.bodies)))
