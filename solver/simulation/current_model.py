# SPDX-License-Identifier: GPL-3.0-or-later
"""What features have made of the bodies by now: the model with which the next step is taken."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..mechanics.model import Model
from ..mechanics.state import State
from .assembled_scene import AssembledScene
from .features.flesh import FleshFeature
from .features.rest_shapes import RestShapes

if TYPE_CHECKING:  # takes long to load, and few scenes have it
    from .flesh import FleshBodies


def model_with_rest_shapes(built: AssembledScene, state: State) -> Model:
    """Returns the model with the animated rest shapes that hold at `state`, before anything has flowed."""
    shapes = built.feature(RestShapes)
    return shapes.current_model(built.model, state) if shapes else built.model


def current_model(built: AssembledScene, state: State) -> Model:
    """Returns the model with the rest shapes and moduli that hold at `state`; topology and pattern are the same."""
    model = built.model
    for feature in built.features:
        model = feature.current_model(model, state)
    return model


def present_flesh(built: AssembledScene, state: State) -> FleshBodies | None:
    """Returns the flesh of a scene with the materials that hold at `state`; None where there is none."""
    feature = built.feature(FleshFeature)
    return feature.bodies_at(built.model, state) if feature else None
