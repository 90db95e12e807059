# SPDX-License-Identifier: GPL-3.0-or-later
"""A goal of a body: how strongly it is pulled towards its animated mesh."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from ..runtime.arrays import Floats
from .serialisation.schema_constraints import shape
from .serialisation.sequence_coercion import convert_sequences
from .settings.goal_settings import GOAL_DAMPING, GOAL_STIFFNESS, GOAL_STRENGTH


@dataclass(frozen=True)
class Goal:
    """A goal.

    Tracks: "body.KEY.goal.targets" (n, 3), where the animation wants the render vertices [m], world; without one they
    stay where they are at rest. "body.KEY.goal_strength" (): instead of `strength`.

    Attributes:
        strength: g in [0, 1]: 1 follows the animation exactly, 0 leaves the body free.
        paint: Factors on it at the render vertices, (n,), or (0,) for 1 everywhere.
        stiffness: Of the springs over the mass at g = ½ [1/s²]; they have g / (1 − g) times as much.
        damping: Ratio to the critical one.
    """

    strength: Annotated[float, GOAL_STRENGTH.limits] = GOAL_STRENGTH.default
    paint: Annotated[Floats, shape("n")] = field(default_factory=lambda: np.zeros(0))
    stiffness: Annotated[float, GOAL_STIFFNESS.limits] = GOAL_STIFFNESS.default
    damping: Annotated[float, GOAL_DAMPING.limits] = GOAL_DAMPING.default

    def __post_init__(self) -> None:
        """Takes lists for arrays."""
        convert_sequences(self)

    @property
    def bears(self) -> bool:
        """Whether it bears the weight of the body at first."""
        return self.strength > 0.0
