# SPDX-License-Identifier: GPL-3.0-or-later
"""Turns of hinges as a feature: sheets that are folded flat against themselves bend on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...mechanics.model import Model
from ...mechanics.sheets.hinge_turns import keep_hinge_turns, with_hinge_turns
from ...mechanics.state import State
from ...mechanics.state_fields import HINGE_BEND
from .feature import BuildInputs, Feature, FeatureStep


@dataclass(frozen=True, eq=False)
class HingeTurns(Feature):
    """Hinges of all sheets."""

    state_fields: ClassVar[tuple[str, ...]] = (HINGE_BEND,)

    @classmethod
    def build(cls, inputs: BuildInputs) -> HingeTurns | None:
        """Returns the feature where a scene has sheets."""
        return cls() if any(body.is_sheet for body in inputs.scene.bodies) else None

    def current_model(self, model: Model, state: State) -> Model:
        """Returns the model whose hinges bend on from where they are."""
        return with_hinge_turns(model, state)

    def after_step(self, step: FeatureStep) -> None:
        """Keeps how far hinges are bent at the end of the step."""
        keep_hinge_turns(step.model, step.state)
