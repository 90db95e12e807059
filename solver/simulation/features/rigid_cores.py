# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigid cores as a feature: their axes move with the animation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...constraints.rigid_core import check_cores
from ...constraints.rigid_core.core_drivers import model_with_core_axes
from ...mechanics.model import Model
from ...runtime.arrays import Indices
from ...scene.scene import Scene
from ...scene.tracks import TrackReader
from ..step_interval import StepPart
from .feature import BuildInputs, Feature


@dataclass(frozen=True, eq=False)
class RigidCores(Feature):
    """Bodies with a core that moves as one rigid body; the cores themselves are in the model.

    Attributes:
        tets: Those of the core of each body with one, in the body's own numbers, by number of the body.
    """

    tets: dict[int, Indices]

    @classmethod
    def check(cls, scene: Scene, tracks: TrackReader) -> None:
        """Raises BadInput where a core cannot be rigid, or cannot turn about its axis."""
        check_cores(scene, tracks)

    @classmethod
    def build(cls, inputs: BuildInputs) -> RigidCores | None:
        """Returns the feature where some body has a core."""
        tets: dict[int, Indices] = {}
        for core in inputs.model.cores:
            for number, body in enumerate(inputs.model.bodies):
                if body.tets.start <= core.tets[0] < body.tets.stop:
                    tets[number] = core.tets - np.int32(body.tets.start)
        return cls(tets) if tets else None

    def to_arrays(self, number: int) -> dict[str, npt.NDArray]:
        """Returns the tets of a body's core as `core_tets`, where it has one."""
        return {"core_tets": self.tets[number]} if number in self.tets else {}

    def model_in_step(self, model: Model, scene: Scene, tracks: TrackReader, part: StepPart) -> Model:
        """Returns the model with the axes of cores where a part of a step has them."""
        return model_with_core_axes(scene, model, tracks, (part.begin, part.end), part.dt)
