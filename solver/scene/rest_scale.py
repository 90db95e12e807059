# SPDX-License-Identifier: GPL-3.0-or-later
"""How much larger or smaller a body is without stress than it was modeled, as part of a scene."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from ..runtime.arrays import Floats
from .serialisation.schema_constraints import shape_or_empty
from .settings.rest_scale_settings import REST_SCALE


@dataclass(frozen=True)
class RestScale:
    """The stretch from the modeled shape of a body to the one in which it is free of stress; its mass stays.

    Track: "body.KEY.rest_scale" (), instead of the value here.

    Attributes:
        scale: s where the paint is 1.
        paint: w at the render vertices, (n,), or (0,) for 1 everywhere: there the stretch is 1 + w (s − 1).
        direction: At the same vertices, of any length and sign, (n, 3): the stretch is along it alone, and none where
            it is zero; or (0, 3): in all directions. World space in the rest pose.
    """

    scale: Annotated[float, REST_SCALE.limits] = REST_SCALE.default
    paint: Annotated[Floats, shape_or_empty("n")] = field(default_factory=lambda: np.zeros(0))
    direction: Annotated[Floats, shape_or_empty("n", 3)] = field(default_factory=lambda: np.zeros((0, 3)))
