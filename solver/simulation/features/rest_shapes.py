# SPDX-License-Identifier: GPL-3.0-or-later
"""Rest shapes that the animation changes, as a feature."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from ...constraints.rest_shape_animation import ReshapedBody, make_reshaped, rest_shapes, update_rest_nodes
from ...constraints.rest_shape_animation.reshaped_bodies import REST_FIELD
from ...mechanics.model import Model
from ...mechanics.state import State
from .feature import BuildInputs, Feature, FeatureStep


@dataclass(frozen=True, eq=False)
class RestShapes(Feature):
    """Bodies whose rest shape follows a track."""

    bodies: tuple[ReshapedBody, ...]
    state_fields: ClassVar[tuple[str, ...]] = (REST_FIELD,)

    @classmethod
    def build(cls, inputs: BuildInputs) -> RestShapes | None:
        """Returns the bodies of a scene that have a track of their rest shape; None where none has."""
        made = make_reshaped(inputs.scene, inputs.meshes, inputs.bindings, inputs.model, inputs.tracks)
        return cls(made) if made else None

    def before_step(self, step: FeatureStep) -> None:
        """Brings nodes at rest to the end of the step; bodies in poses follow theirs by themselves."""
        settings, resting = step.scene.settings, step.resting_bodies
        update_rest_nodes(self.bodies, step.state, step.tracks, step.begin, step.end, settings, but=resting)

    @property
    def changing_bodies(self) -> tuple[int, ...]:
        """Numbers of the bodies."""
        return tuple(body.number for body in self.bodies)

    def before_pose(self, step: FeatureStep) -> None:
        """Brings nodes at rest of bodies in poses to the time of the sample."""
        own = [body for body in self.bodies if body.number in step.resting_bodies]
        update_rest_nodes(own, step.state, step.tracks, step.begin, step.end, step.scene.settings)

    def current_model(self, model: Model, state: State) -> Model:
        """Returns the model with the rest shapes that hold at `state`."""
        changed: dict[str, Any] = dict(rest_shapes(self.bodies, model, state))
        return replace(model, **changed) if changed else model
