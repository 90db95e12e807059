# SPDX-License-Identifier: GPL-3.0-or-later
"""Heat: temperatures of nodes, where they come from, and what they make of the material."""

from .advance_heat import advance_heat, air_temperature_at, extremes
from .bodies import TEMPERATURE, HeatBodies, HeatedBody, make_heat
from .melting import Factors, factors, plasticity_of
from .softening import softened
from .warnings import heat_warnings

__all__ = [
    "TEMPERATURE",
    "Factors",
    "HeatBodies",
    "HeatedBody",
    "advance_heat",
    "air_temperature_at",
    "extremes",
    "factors",
    "heat_warnings",
    "make_heat",
    "plasticity_of",
    "softened",
]
