# SPDX-License-Identifier: GPL-3.0-or-later
"""How deep heat gets into a material in a time, without solving for it."""

from __future__ import annotations

import math

from .material import Heat, Material


def thermal_diffusivity(material: Material, heat: Heat) -> float:
    """Returns α = s k / (ρ c) [m²/s] with the time scale s of heat flow."""
    return heat.speed * heat.conductivity / (material.density * heat.heat_capacity)


def diffusion_length(diffusivity: float, time: float) -> float:
    """Returns √(4 α t) [m]: a time t [s] after a surface turns hot, 16 % of its warming has got this deep.

    Source: CJ59, section 2.4: the share is erfc(1) = 0.157.
    """
    return math.sqrt(4.0 * diffusivity * time)


def speed_to_diffuse(length: float, diffusivity: float, time: float) -> float:
    """Returns the factor on α [m²/s] that makes the diffusion length [m] in a time [s] this long; > 0 of each."""
    return length**2 / (4.0 * diffusivity * time)
