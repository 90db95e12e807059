# SPDX-License-Identifier: GPL-3.0-or-later
"""Plasticity as a feature: elastic strain flows after a step, and changes the rest shape of the next."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ...mechanics.heat import thermal_factors
from ...mechanics.model import Model
from ...mechanics.plasticity import PlasticBody, flow, largest_plastic_strain, make_plastic, rest_shapes
from ...mechanics.plasticity.plastic_rest_shape import FLOWED, FP_INVERSE, PLASTIC_STRAIN
from ...mechanics.state import State
from .feature import BodyNumbers, BuildInputs, Feature, FeatureStep
from .heat import Heat
from .rest_scales import RestScales
from .rest_shapes import RestShapes


@dataclass(frozen=True, eq=False)
class PlasticFlow(Feature):
    """Bodies that take a new shape for good.

    Attributes:
        bodies: One by one.
        heat: Changes their yield strain and flow rate; None: nothing is heated.
        rest_shapes: What makes the shapes from which they flow of those that were built.
    """

    bodies: tuple[PlasticBody, ...]
    heat: Heat | None
    rest_shapes: tuple[Feature, ...]
    state_fields: ClassVar[tuple[str, ...]] = (FP_INVERSE, FLOWED, PLASTIC_STRAIN)

    @classmethod
    def build(cls, inputs: BuildInputs) -> PlasticFlow:
        """Returns the plastic bodies of a scene, if any: a resumed bake may hold plastic strain of earlier ones."""
        made = make_plastic(inputs.scene, inputs.meshes, inputs.model, inputs.tracks)
        shapes = (inputs.feature(RestScales), inputs.feature(RestShapes))
        return cls(made, inputs.feature(Heat), tuple(each for each in shapes if each))

    def current_model(self, model: Model, state: State) -> Model:
        """Returns the model with the rest shapes that plastic strain makes."""
        changed: dict[str, Any] = rest_shapes(model, state)
        own = [body.tets for body in self.bodies if body.is_additive and len(model.pressure_modulus)]
        if any(model.pressure_modulus[tets].any() for tets in own):
            changed["pressure_modulus"] = np.array(model.pressure_modulus)
            for tets in own:  # the additive law does not keep volume
                changed["pressure_modulus"][tets] = 0.0
        return replace(model, **changed) if changed else model

    def after_step(self, step: FeatureStep) -> None:
        """Lets elastic strain at the end of the step flow."""
        if not self.bodies:
            return
        state, model = step.state, step.built_model
        by_heat = thermal_factors(self.heat.bodies, model, state) if self.heat else None
        for each in self.rest_shapes:
            model = each.current_model(model, state)
        flow(self.bodies, model, step.model, state, step.tracks, step.dt, by_heat)

    def report(self, model: Model, unbroken_model: Model, state: State) -> BodyNumbers:
        """Returns the largest plastic strain of every plastic body."""
        return largest_plastic_strain(self.bodies, model, state)
