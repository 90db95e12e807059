# SPDX-License-Identifier: GPL-3.0-or-later
"""A hook: a place that moves, such as an empty, on which points of a body hang by springs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from ..runtime.arrays import Floats
from .serialisation.schema_constraints import shape
from .serialisation.sequence_coercion import convert_sequences
from .settings.surface_attachment_settings import ATTACHMENT_STRENGTH


@dataclass(frozen=True)
class Hook:
    """A hook of a body (`constraints/hooks.py`). It takes its points where they are when its strength rises from 0.

    Tracks, with the number in `Body.hooks`: "body.KEY.hook.NUMBER.matrix" (4, 4): world [m] ← the space of the hook;
    "body.KEY.hook.NUMBER.strength" (), instead of `strength`.

    Attributes:
        paint: The share of the pull that each render vertex has beside the others, (n,); some above 0.
        strength: Factor on the stiffness, which is that of a hand that grabs the body (`constraints/grabs.py`).
    """

    paint: Annotated[Floats, shape("n")] = field(default_factory=lambda: np.zeros(0))
    strength: Annotated[float, ATTACHMENT_STRENGTH.limits] = ATTACHMENT_STRENGTH.default

    def __post_init__(self) -> None:
        """Takes lists for arrays."""
        convert_sequences(self)
