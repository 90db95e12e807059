# SPDX-License-Identifier: GPL-3.0-or-later
"""Heat sources of a scene."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from ..runtime.arrays import Floats, Indices
from .serialisation.field_constraints import RowsOf, at_least, finite_number, greater_than, points, shape


@dataclass(frozen=True)
class HeatSource:
    """Something hot or cold that gives heat to the material near it.

    Tracks: "heat.KEY.matrix" (4, 4): world [m] ← the space of `vertices`; "heat.KEY.temperature" () [°C].

    Attributes:
        temperature: Where the scene has no track of it [°C].
        radius: How far from the source, a point or the surface of a mesh, it gives heat [m].
        exchange: With the material within the radius [W/(m² K)], as if it were a layer as thick as the radius: a
            volume V at the distance d < radius gets exchange · V / radius · (1 − (d / radius)²)² watts per kelvin.
        vertices, triangles: The mesh in its own space [m], (n, 3) and (t, 3); none: the point (0, 0, 0).
    """

    key: str
    name: str
    temperature: Annotated[float, finite_number("Temperature")] = 200.0
    radius: Annotated[float, greater_than(0.0, "Radius", "m")] = 0.1
    exchange: Annotated[float, at_least(0.0, "Heat Transfer", "W/(m² K)")] = 5.0e4
    vertices: Annotated[Floats, points("n", 3)] = field(default_factory=lambda: np.zeros((0, 3)))
    triangles: Annotated[Indices, shape("t", 3), RowsOf("vertices")] = field(
        default_factory=lambda: np.zeros((0, 3), np.int32)
    )
