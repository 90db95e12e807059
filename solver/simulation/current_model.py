# SPDX-License-Identifier: GPL-3.0-or-later
"""What new rest shapes, plastic flow and heat have made of the bodies by now: the model the next step is taken with."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..constraints.rest_shape_animation import rest_shapes
from ..mechanics.heat import ThermalFactors, softened_moduli, thermal_factors
from ..mechanics.model import Model
from ..mechanics.plasticity import FLOWED
from ..mechanics.plasticity import rest_shapes as plastic_shapes
from ..mechanics.state import State
from .build import AssembledScene


def model_with_rest_shapes(built: AssembledScene, state: State) -> Model:
    """Returns the model with the rest shapes that hold at `state`, before anything has flowed."""
    changed: dict[str, Any] = dict(rest_shapes(built.animated_rest_shapes, built.model, state))
    return replace(built.model, **changed) if changed else built.model


def current_model(built: AssembledScene, state: State, by_heat: ThermalFactors | None = None) -> Model:
    """Returns the model with the rest shapes and moduli that hold at `state`; topology and pattern are the same.

    Args:
        built: What was built.
        state: Rest shapes, plastic strain and temperatures.
        by_heat: What the temperatures make of the material, where it is known already.
    """
    model = model_with_rest_shapes(built, state)
    changed = plastic_shapes(model, state)
    by_heat = by_heat or thermal_factors(built.heat, model, state)
    if by_heat is not None:
        mu, lam, by_volume = softened_moduli(model, by_heat, state.fields.get(FLOWED, np.zeros(0)))
        for body in built.plastic:
            if body.is_additive and len(by_volume):  # which does not keep volume
                by_volume[body.tets] = 0.0
        changed.update(mu=mu, lam=lam, pressure_modulus=by_volume)
    return replace(model, **changed) if changed else model
