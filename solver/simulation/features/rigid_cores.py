# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigid cores as a feature: their axes move with the animation."""

from __future__ import annotations

from dataclasses import dataclass

from ...constraints.rigid_core import check_cores
from ...constraints.rigid_core.core_drivers import model_with_core_axes
from ...mechanics.model import Model
from ...scene.scene import Scene
from ...scene.tracks import TrackReader
from ..step_interval import StepPart
from .feature import BuildInputs, Feature


@dataclass(frozen=True, eq=False)
class RigidCores(Feature):
    """Bodies with a core that moves as one rigid body; the cores themselves are in the model."""

    @classmethod
    def check(cls, scene: Scene, tracks: TrackReader) -> None:
        """Raises BadInput where a core cannot be rigid, or cannot turn about its axis."""
        check_cores(scene, tracks)

    @classmethod
    def build(cls, inputs: BuildInputs) -> RigidCores | None:
        """Returns the feature where some body has a core."""
        return cls() if inputs.model.cores else None

    def model_in_step(self, model: Model, scene: Scene, tracks: TrackReader, part: StepPart) -> Model:
        """Returns the model with the axes of cores where a part of a step has them."""
        return model_with_core_axes(scene, model, tracks, (part.begin, part.end), part.dt)
