# SPDX-License-Identifier: GPL-3.0-or-later
"""Plastic folds as a feature: sheets that are bent beyond their yield strain keep their folds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...mechanics.model import Model
from ...mechanics.plasticity import make_plastic
from ...mechanics.sheets.plastic_folds import FoldingSheet, strains_per_angle, with_folds
from ...mechanics.state import State
from ...mechanics.state_fields import FOLD_ANGLE, FOLD_FLOWED
from .feature import BodyNumbers, BuildInputs, Feature, FeatureStep


@dataclass(frozen=True, eq=False)
class PlasticFolds(Feature):
    """Sheets whose folds stay.

    Attributes:
        sheets: One by one.
    """

    sheets: tuple[FoldingSheet, ...]
    state_fields: ClassVar[tuple[str, ...]] = (FOLD_ANGLE, FOLD_FLOWED)

    @classmethod
    def build(cls, inputs: BuildInputs) -> PlasticFolds | None:
        """Returns the sheets of a scene with Plasticity; a resumed bake may hold folds of earlier ones."""
        scene = inputs.scene
        if not any(body.is_sheet for body in scene.bodies):
            return None
        found, asked = [], {body.key: number for number, body in enumerate(scene.bodies)}
        for plastic in make_plastic(scene, inputs.meshes, inputs.model, inputs.tracks, of_sheets=True):
            body, mesh = scene.bodies[asked[plastic.key]], inputs.meshes[asked[plastic.key]]
            assert mesh.sheet is not None
            shape = mesh.nodes, mesh.sheet.triangles, body.sheet.thickness
            c = strains_per_angle(*shape, body.fracture is not None, body.name)
            c = np.concatenate([c, np.zeros(len(mesh.tets) - len(c))])  # strings follow the faces, and do not fold
            found.append(FoldingSheet(plastic, c))
        return cls(tuple(found))

    def current_model(self, model: Model, state: State) -> Model:
        """Returns the model with the angles at rest that folds have left."""
        return with_folds(model, state)

    def after_step(self, step: FeatureStep) -> None:
        """Lets folds at the end of the step stay."""
        for sheet in self.sheets:
            sheet.flow(step.built_model, step.state, step.tracks, step.dt)

    def report(self, model: Model, unbroken_model: Model, state: State) -> BodyNumbers:
        """Returns the largest strain at the surface that has stayed in every sheet."""
        return {sheet.plastic.key: {"largest_plastic_strain": sheet.largest_strain(state)} for sheet in self.sheets}
