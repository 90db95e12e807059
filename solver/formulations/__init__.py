# SPDX-License-Identifier: GPL-3.0-or-later
"""Every formulation by the same three kernels, for tests and tables: energy, forces, stiffness.

They are the kernels that steps use, asked without a step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from ..arrays import Floats
from ..method import GREEN, HIERARCHICAL, HYBRID, LINEAR, POLAR, QR, VERTEX_WARP, Method
from ..model import Model
from .by_laws import ByLaws
from .by_levels import ByLevels
from .by_records import ByRecords
from .by_vertices import ByVertices

__all__ = ["Formulation", "formulation"]


class Formulation(Protocol):
    """How tets resist, as functions of where their nodes are [m], (n, 3)."""

    def energy(self, x: Floats) -> float | None:
        """Returns the elastic energy [J]; None where no energy belongs to the forces."""

    def forces(self, x: Floats) -> Floats:
        """Returns the elastic forces on the nodes [N], (n, 3)."""

    def stiffness(self, x: Floats) -> Floats:
        """Returns K as a step takes it, −∂f/∂x with rotations held, in the blocks of the model's pattern, (b, 9)."""


MAKERS: dict[str, Callable[[Model], Formulation]] = {
    LINEAR: ByRecords,
    POLAR: ByRecords,
    QR: ByRecords,
    VERTEX_WARP: ByVertices,
    GREEN: ByLaws,
    HYBRID: ByLaws,
    HIERARCHICAL: ByLevels,
}


def formulation(model: Model, method: Method) -> Formulation:
    """Returns a formulation of all bodies of a model.

    Raises:
        KeyError: There is no method of that name.
    """
    return MAKERS[method.name](replace(model, methods=(method,) * len(model.bodies)))
