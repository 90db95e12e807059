# SPDX-License-Identifier: GPL-3.0-or-later
"""Rest Scale as a feature: bodies that are larger or smaller without stress, which tracks may change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...constraints.rest_shape_animation.rest_scale import RestStretch, make_rest_stretch, with_rest_scales
from ...mechanics.model import Model
from ...mechanics.state import State
from ...mechanics.state_fields import REST_SCALE_FIELD
from ...runtime.frozen_memo import derived_from
from ...scene.animated_material import value_at
from ...scene.scene import Body
from ...scene.settings.rest_scale_settings import REST_SCALE
from ...scene.tracks import TrackReader
from .feature import BuildInputs, Feature, FeatureStep


@dataclass(frozen=True, eq=False)
class RestScales(Feature):
    """Bodies with a Rest Scale other than 1, or with a track of it.

    Attributes:
        bodies: By their numbers: what is asked for, and where it is scaled.
        keyed: Numbers of those with a track. Of the others a resumed bake may hold a scale of earlier keys.
    """

    bodies: Mapping[int, tuple[Body, RestStretch]]
    keyed: frozenset[int]
    state_fields: ClassVar[tuple[str, ...]] = (REST_SCALE_FIELD,)

    @classmethod
    def build(cls, inputs: BuildInputs) -> RestScales | None:
        """Returns the scaled bodies of a scene; None where there are none."""
        bodies, keyed = {}, set()
        for number, (body, mesh) in enumerate(zip(inputs.scene.bodies, inputs.meshes, strict=True)):
            has_track = inputs.tracks.has(f"body.{body.key}.{REST_SCALE.name}")
            if has_track:
                keyed.add(number)
                _store(body, inputs.tracks, inputs.scene.settings.start_time, inputs.state)
            if has_track or body.rest_scale.scale != 1.0:
                bodies[number] = body, make_rest_stretch(body, mesh)
        return cls(bodies, frozenset(keyed)) if bodies else None

    @property
    def changing_bodies(self) -> tuple[int, ...]:
        """Numbers of the bodies."""
        return tuple(self.bodies)

    def before_step(self, step: FeatureStep) -> None:
        """Takes the scales of the end of the step for bodies that take steps."""
        self._follow(step, are_resting=False)

    def before_pose(self, step: FeatureStep) -> None:
        """Takes the scales of the sample for bodies that come to rest in poses."""
        self._follow(step, are_resting=True)

    def _follow(self, step: FeatureStep, *, are_resting: bool) -> None:
        for number, (body, _) in self.bodies.items():
            if number in self.keyed and (number in step.resting_bodies) == are_resting:
                _store(body, step.tracks, step.end, step.state)

    def current_model(self, model: Model, state: State) -> Model:
        """Returns the model with the tets that are larger or smaller at rest."""
        scaled = {}
        for number, (body, stretch) in self.bodies.items():
            stored = state.fields.get(REST_SCALE_FIELD.format(key=body.key)) if number in self.keyed else None
            scale = body.rest_scale.scale if stored is None else float(stored[0])
            if scale != 1.0:
                scaled[number] = stretch, scale
        if not scaled:
            return model
        numbers = np.array([[number, scale] for number, (_, scale) in scaled.items()])

        def make() -> Model:
            return with_rest_scales(model, scaled)

        return derived_from(self, "current_model", make, inputs=(model,), values=(numbers,))


def _store(body: Body, tracks: TrackReader, time: float, state: State) -> None:
    scale = value_at(body, REST_SCALE, tracks, time)
    state.fields[REST_SCALE_FIELD.format(key=body.key)] = np.array([scale])
