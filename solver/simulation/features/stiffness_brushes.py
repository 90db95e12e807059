# SPDX-License-Identifier: GPL-3.0-or-later
"""Brushes that soften or harden material while a simulation runs live: a factor on the stiffness of each tet.

In the middle of a brush of the strength s the factor is halved, or doubled, s times a second; for tets with their
middle at the distance d < r it is (1 − (d/r)²)² s times. Poisson's ratio stays, as where stiffness is painted. Flesh
keeps its stiffness.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ...mechanics.model import Model
from ...mechanics.state import State
from ...runtime.arrays import Bools, Floats
from .feature import Feature, FeatureStep

BRUSHED_STIFFNESS = "tet.brushed_stiffness"  # the factor on μ and λ of each tet, (m,)
MIN_FACTOR, MAX_FACTOR = 0.05, 20.0


@dataclass(frozen=True, eq=False)
class StiffnessBrush:
    """A ball in which material becomes softer or harder.

    Attributes:
        place: Its middle [m], (3,).
        radius: [m].
        doublings: How often the stiffness doubles in a second, below zero where it is halved [1/s].
    """

    place: Floats
    radius: float
    doublings: float


class StiffnessBrushes(Feature):
    """All such brushes that a hand holds.

    Attributes:
        may_change: Which tets become softer or harder, (m,).
        held: The brushes, by the number that the hand gave each. Whoever runs the simulation changes them in between.
    """

    state_fields: ClassVar[tuple[str, ...]] = (BRUSHED_STIFFNESS,)

    def __init__(self, may_change: Bools) -> None:
        self.may_change = may_change
        self.held: dict[int, StiffnessBrush] = {}

    def before_step(self, step: FeatureStep) -> None:
        """Moves the factors on to the end of the step; tets are where it begins."""
        if not self.held:
            return
        model, state = step.built_model, step.state
        middle, doublings = state.x[model.tets].mean(axis=1), np.zeros(model.tet_count)
        for number in sorted(self.held):
            brush = self.held[number]
            squares = np.sum((middle - brush.place) ** 2, axis=1) / brush.radius**2
            doublings += brush.doublings * np.square(np.maximum(1.0 - squares, 0.0))
        before = state.fields.get(BRUSHED_STIFFNESS, np.ones(model.tet_count))
        after = np.clip(before * 2.0 ** (doublings * (step.end - step.begin)), MIN_FACTOR, MAX_FACTOR)
        state.fields[BRUSHED_STIFFNESS] = np.where(self.may_change, after, 1.0)

    def current_model(self, model: Model, state: State) -> Model:
        """Returns the model as stiff as the brushes have left it."""
        factor = state.fields.get(BRUSHED_STIFFNESS)
        if factor is None:
            return model
        pressure = model.pressure_modulus
        return replace(
            model,
            mu=factor * model.mu,
            lam=factor * model.lam,
            pressure_modulus=factor * pressure if len(pressure) else pressure,
        )
