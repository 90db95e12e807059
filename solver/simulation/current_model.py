# SPDX-License-Identifier: GPL-3.0-or-later
"""What features have made of the bodies by now: the model with which the next step is taken."""

from __future__ import annotations

from ..mechanics.model import Model
from ..mechanics.state import State
from .assembled_scene import AssembledScene
from .features.rest_shapes import RestShapes


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
