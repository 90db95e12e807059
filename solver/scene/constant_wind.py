# SPDX-License-Identifier: GPL-3.0-or-later
"""A constant wind: air that moves through the whole scene."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from .serialisation.schema_constraints import at_least, closed_range

WindComponent = Annotated[float, closed_range(-1.0e4, 1.0e4, "Wind")]


@dataclass(frozen=True)
class Wind:
    """Air of one velocity everywhere. It presses on faces that it blows against, and slows down what moves through it.

    Attributes:
        velocity: Of the air [m/s], of the real size as all velocities, (3,).
        air_density: ρ [kg/m³].
        drag: Drag coefficient C of a flat plate across the wind; a ball then has half of it.
    """

    velocity: tuple[WindComponent, WindComponent, WindComponent] = (0.0, 0.0, 0.0)
    air_density: Annotated[float, at_least(0.0, "Air Density", "kg/m³")] = 1.2
    drag: Annotated[float, at_least(0.0, "Drag")] = 1.0
