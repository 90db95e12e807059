# SPDX-License-Identifier: GPL-3.0-or-later
"""How far a body stretches before its material stiffens, as part of a scene."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from ..runtime.arrays import Floats
from .serialisation.schema_constraints import shape_or_empty
from .serialisation.sequence_coercion import convert_sequences
from .settings.stretch_limit_settings import STRETCH_LIMIT


@dataclass(frozen=True)
class StretchLimit:
    """A principal stretch beyond which tets stiffen (`solver/mechanics/stretch_limit/limit_kernels.py`).

    Track: "body.KEY.stretch_limit" (), instead of the value here.

    Attributes:
        stretch: L where the paint is 1, ≥ 1. It is relative to where a tet is without stress.
        paint: w ≥ 0 at the render vertices, (n,), or (0,) for 1 everywhere: there the limit is 1 + (L − 1) / w, and
            none where w is 0. Inside, the factor of the nearest point of the surface holds.
    """

    stretch: Annotated[float, STRETCH_LIMIT.limits] = STRETCH_LIMIT.default
    paint: Annotated[Floats, shape_or_empty("n")] = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        """Takes lists for arrays."""
        convert_sequences(self)
