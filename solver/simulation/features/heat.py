# SPDX-License-Identifier: GPL-3.0-or-later
"""Heat as a feature: temperatures before a step, and the moduli that they soften."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ...mechanics.heat import (
    TEMPERATURE,
    HeatBodies,
    advance_heat,
    air_temperature_at,
    heat_warnings,
    make_heat,
    softened_moduli,
    temperature_extremes,
    thermal_factors,
)
from ...mechanics.model import Model
from ...mechanics.plasticity import FLOWED
from ...mechanics.state import State
from ...runtime.errors import SinewError
from ...scene.scene import Body, Scene
from ...scene.tracks import TrackReader
from .feature import BodyNumbers, BuildInputs, Feature, FeatureStep
from .materials import Materials


@dataclass(frozen=True, eq=False)
class Heat(Feature):
    """Bodies with a temperature, and the sources that heat them.

    Attributes:
        bodies: One by one.
        materials: What changes their masses; None: nothing does.
    """

    bodies: HeatBodies
    materials: Materials | None
    state_fields: ClassVar[tuple[str, ...]] = (TEMPERATURE,)

    @classmethod
    def warnings(cls, body: Body, scene: Scene, tracks: TrackReader, tet_size: float) -> Sequence[SinewError]:
        """Returns warnings about what cannot melt, and about sources that are too small or heat nothing."""
        return heat_warnings(body, scene, tracks, tet_size)

    @classmethod
    def build(cls, inputs: BuildInputs) -> Heat | None:
        """Returns the heated bodies of a scene; None where there are none."""
        scene, model, tracks = inputs.scene, inputs.model, inputs.tracks
        surfaces = [(points.tet, points.weights, points.area) for points in inputs.body_contact_points]
        made = make_heat(scene, model, surfaces, tracks, inputs.gravity)
        if made is None:
            return None
        made.start(model, inputs.state, air_temperature_at(scene, tracks, scene.settings.start_time))
        return cls(made, inputs.feature(Materials))

    def before_step(self, step: FeatureStep) -> None:
        """Moves temperatures on to the end of the step."""
        model = self.materials.current_model(step.built_model, step.state) if self.materials else step.built_model
        advance_heat(self.bodies, model, step.state, step.tracks, step.scene, step.begin, step.end)

    def current_model(self, model: Model, state: State) -> Model:
        """Returns the model with the moduli that temperatures soften."""
        factors = thermal_factors(self.bodies, model, state)
        assert factors is not None
        mu, lam, by_volume = softened_moduli(model, factors, state.fields.get(FLOWED, np.zeros(0)))
        return replace(model, mu=mu, lam=lam, pressure_modulus=by_volume)

    def report(self, model: Model, unbroken_model: Model, state: State) -> BodyNumbers:
        """Returns the lowest and the highest temperature of every heated body [°C]."""
        return temperature_extremes(self.bodies, model, state)
