# SPDX-License-Identifier: GPL-3.0-or-later
"""Heat: temperatures of nodes, where they come from, and what they make of the material."""

from .heat_step import advance_heat, air_temperature_at, temperature_extremes
from .heat_warnings import heat_warnings
from .heated_bodies import TEMPERATURE, HeatBodies, HeatedBody, make_heat
from .softened_moduli import softened_moduli
from .temperature_dependent_material import ThermalFactors, plasticity_of, thermal_factors

__all__ = [
    "TEMPERATURE",
    "ThermalFactors",
    "HeatBodies",
    "HeatedBody",
    "advance_heat",
    "air_temperature_at",
    "temperature_extremes",
    "thermal_factors",
    "heat_warnings",
    "make_heat",
    "plasticity_of",
    "softened_moduli",
]
